//! Makes a block as wide as the lines of its text: a `TextView` wants nothing.

use std::cell::Cell;
use std::rc::Rc;

use gtk::glib;
use gtk::prelude::*;

use super::LONG;
use crate::conversation::widgets::formula::inline;
use crate::conversation::widgets::tags::Tags;
use crate::layout::{self, Layout, height_of, width_of};
use crate::markdown::flow::{Line, Piece};

/// What lists and the ends of lines need besides the letters, in pixels.
const ROOM: i32 = 48;
/// A line with more letters is as wide as the conversation in any case, in bytes.
const WIDEST: usize = 400;

/// A block that wants to be as wide as the lines of its text.
pub struct TextWidth {
    root: gtk::Box,
    /// The width of the lines, in pixels, once it was measured.
    known: Rc<Cell<Option<i32>>>,
}

impl TextWidth {
    /// Has a block be as wide as these pieces are in the letters of `text`.
    pub fn new(
        block: &impl IsA<gtk::Widget>,
        text: &gtk::TextView,
        pieces: &[Piece],
        tags: &Tags,
    ) -> Self {
        let root = gtk::Box::new(gtk::Orientation::Vertical, 0);
        root.append(block);
        let known = Rc::<Cell<_>>::default();
        let layout = AsWide {
            text: text.downgrade(),
            lines: first_lines(pieces),
            text_size: tags.text_size(),
            known: Rc::clone(&known),
        };
        root.set_layout_manager(Some(layout::manager(layout)));
        Self { root, known }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Measures again: the font may have changed.
    pub fn measure_again(&self) {
        self.known.set(None);
        self.root.queue_resize();
    }
}

/// The first lines of a text: enough to know how wide it is.
#[derive(Default)]
struct Lines {
    /// Those that are letters alone, as they are typed.
    typed: String,
    /// The others: their letters, and the formulas among these.
    with_formulas: Vec<(String, Vec<String>)>,
}

fn first_lines(pieces: &[Piece]) -> Lines {
    let mut out = Lines::default();
    for piece in pieces {
        if out.is_full() {
            break;
        }
        match piece {
            Piece::Line(line) => out.add_line(line),
            Piece::Code(code) => {
                for line in code.text.lines() {
                    out.add(line);
                    if out.is_full() {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    out
}

impl Lines {
    fn is_full(&self) -> bool {
        let of_formulas: usize = self.with_formulas.iter().map(|(text, _)| text.len() + 1).sum();
        self.typed.len() + of_formulas > LONG
    }

    fn add(&mut self, line: &str) {
        self.typed.push_str(cut(line));
        self.typed.push('\n');
    }

    fn add_line(&mut self, line: &Line) {
        let (mut text, mut formulas) = (String::new(), Vec::new());
        for run in &line.runs {
            // One that is not drawn is seen as it is typed.
            if run.style.formula && inline::width(&run.text, 1.0).is_some() {
                formulas.push(run.text.clone());
            } else {
                text.push_str(&run.text);
            }
        }
        if formulas.is_empty() {
            self.add(&text);
        } else {
            self.with_formulas.push((cut(&text).to_owned(), formulas));
        }
    }

    /// How wide they are, in pixels, in the letters of a view, with formulas for text of this size.
    fn width(&self, view: &gtk::TextView, text_size: f64) -> i32 {
        let of = |text: &str| view.create_pango_layout(Some(text)).pixel_size().0;
        let with_formulas = self.with_formulas.iter().map(|(text, formulas)| {
            let drawn = formulas.iter().filter_map(|source| inline::width(source, text_size));
            of(text) + drawn.sum::<i32>()
        });
        with_formulas.fold(of(&self.typed), i32::max)
    }
}

/// The beginning of a line, which is wide enough.
fn cut(line: &str) -> &str {
    &line[..line.floor_char_boundary(WIDEST)]
}

struct AsWide {
    text: glib::WeakRef<gtk::TextView>,
    lines: Lines,
    text_size: Rc<Cell<f64>>,
    known: Rc<Cell<Option<i32>>>,
}

impl Layout for AsWide {
    fn measure(
        &self,
        widget: &gtk::Widget,
        orientation: gtk::Orientation,
        for_size: i32,
    ) -> (i32, i32) {
        let Some(child) = widget.first_child() else { return (0, 0) };
        if orientation == gtk::Orientation::Vertical {
            let height = height_of(&child, for_size);
            return (height, height);
        }
        let (least, wanted) = width_of(&child);
        let Some(text) = self.text.upgrade() else { return (least, wanted) };
        let width =
            self.known.get().unwrap_or_else(|| self.lines.width(&text, self.text_size.get()));
        self.known.set(Some(width));
        (least, wanted.max(width + ROOM))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::model::reply::ReplyText;

    fn lines_of(text: &str) -> Lines {
        first_lines(ReplyText::of(text).pieces(0))
    }

    #[test]
    fn only_the_beginning_of_a_long_text_is_measured() {
        assert_eq!(lines_of("```\na\nbc\n```").typed, "a\nbc\n");
        assert_eq!(lines_of("some **words**").typed, "some words\n");
        let lines = lines_of(&format!("```\n{}```", "a line of code\n".repeat(20_000))).typed;
        assert!((LONG..2 * LONG).contains(&lines.len()), "{}", lines.len());
        let line = lines_of(&format!("```\n{}\n```", "word".repeat(20_000))).typed;
        assert_eq!(line.len(), WIDEST + 1);
    }

    #[gtk::test]
    fn a_formula_is_as_wide_as_it_is_drawn() {
        crate::init();
        let view = gtk::TextView::new();
        let source = r"$\frac{\alpha + \beta}{\gamma}$";
        let lines = lines_of(&format!("It is {source}."));
        assert_eq!(lines.with_formulas, [("It is .".to_owned(), vec![source.to_owned()])]);
        let width = lines.width(&view, 16.0);
        let typed = |text: &str| view.create_pango_layout(Some(text)).pixel_size().0;
        assert!(width > typed("It is ."), "{width}");
        assert!(width < typed(source), "{width}");
        // What cannot be drawn is seen as it is typed.
        assert!(lines_of(r"It is $\nosuchcommand{x}$.").with_formulas.is_empty());
    }
}
