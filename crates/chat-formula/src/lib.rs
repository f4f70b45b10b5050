//! Lays out formulas written in TeX: gives outlines and lines in em, and the words that a screen
//! reader says. Knows no toolkit.
//!
//! What a formula may cost is limited, since models write them: its length before anything is read,
//! its nesting and the macros in it by the parser, and its parts after the layout.

mod cache;
mod delimiters;
mod drawing;
mod error;
mod font;
mod parts;
mod spoken;

use std::sync::Arc;
use std::thread;

use ratex_layout::LayoutOptions;
use ratex_parser::ParseNode;
use ratex_types::math_style::MathStyle;

pub use delimiters::{Delimited, delimited};
pub use drawing::{Color, Drawing, Item, Outline, Segment};
pub use error::FormulaError;
pub use spoken::{Phrase, Spoken};

/// The longest formula that is read, in bytes.
pub const LONGEST: usize = 8_000;
/// The most signs, lines and paths of a drawing.
const MOST_ITEMS: usize = 8_000;
/// The largest drawing, in em.
const LARGEST: f64 = 2_000.0;
/// The stack that reading and arranging get, in bytes. The parser allows 32 levels of nesting.
const STACK: usize = 16 << 20;

/// A formula that was laid out.
#[derive(Debug, PartialEq)]
pub struct Formula {
    /// What is to be drawn, from left to right. A formula on its own has one drawing. One in a line
    /// may have several, between which the line may break.
    pub drawings: Vec<Drawing>,
    /// What it says, for assistive technology.
    pub spoken: Vec<Spoken>,
}

/// Lays out a formula without its delimiters. `display`: whether it stands on its own rather than
/// in a line. Formulas that were asked for lately are remembered.
pub fn layout(tex: &str, display: bool) -> Result<Arc<Formula>, FormulaError> {
    if tex.len() > LONGEST {
        return Err(FormulaError::TooLong);
    }
    cache::get(tex, display, || on_own_stack(tex, display))
}

/// A mistake of the layout must not end the program, and how deep it nests is not ours to say.
fn on_own_stack(tex: &str, display: bool) -> Result<Formula, FormulaError> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("formula".to_owned()).stack_size(STACK);
        let worker = builder.spawn_scoped(scope, || read(tex, display));
        let worker = worker.map_err(|_| FormulaError::Failed)?;
        worker.join().unwrap_or(Err(FormulaError::Failed))
    })
}

fn read(tex: &str, display: bool) -> Result<Formula, FormulaError> {
    let nodes =
        ratex_parser::parse(tex).map_err(|error| FormulaError::of_parser(&error.message))?;
    let style = if display { MathStyle::Display } else { MathStyle::Text };
    let options = LayoutOptions { style, ..LayoutOptions::default() };
    let whole = draw(&nodes, &options)?;
    if whole.items.is_empty() {
        return Err(FormulaError::Empty);
    }
    let drawings = if display { vec![whole] } else { parts::split(&nodes, &options, whole)? };
    Ok(Formula { drawings, spoken: spoken::spoken(&nodes) })
}

fn draw(nodes: &[ParseNode], options: &LayoutOptions) -> Result<Drawing, FormulaError> {
    let root = ratex_layout::layout(nodes, options);
    ratex_layout::validate_layout(&root).map_err(|_| FormulaError::TooLarge)?;
    let list = ratex_layout::to_display_list(&root);
    let sizes = [list.width, list.height, list.depth];
    let is_small = sizes.iter().all(|size| size.is_finite() && size.abs() <= LARGEST);
    if list.items.len() > MOST_ITEMS || !is_small {
        return Err(FormulaError::TooLarge);
    }
    Ok(drawing::convert(list))
}
