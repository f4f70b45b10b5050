//! Defines what is to be drawn of a formula, and makes it from what the layout gives.

use std::sync::Arc;

use ratex_types::color;
use ratex_types::display_item::{DisplayItem, DisplayList};
use ratex_types::path_command::PathCommand;

use crate::font;

/// A formula, or a part of one, as it is drawn. All lengths are in em, from the upper left corner
/// and downwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// How wide it is.
    pub width: f64,
    /// How far it reaches above the baseline.
    pub ascent: f64,
    /// How far it reaches below the baseline.
    pub depth: f64,
    /// What it consists of, in the order of drawing.
    pub items: Vec<Item>,
}

/// Something that is drawn. Without a color it has that of the text.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A sign, as an outline that is filled.
    Sign {
        /// Its outline, for one em.
        outline: Arc<Outline>,
        /// Where its baseline begins.
        at: (f64, f64),
        /// Its size, as a part of the text's.
        size: f64,
        /// Its color.
        color: Option<Color>,
    },
    /// A letter that the built-in fonts do not have.
    Letter {
        /// The letter.
        letter: char,
        /// Where its baseline begins.
        at: (f64, f64),
        /// Its size, as a part of the text's.
        size: f64,
        /// Its color.
        color: Option<Color>,
    },
    /// A filled rectangle: a line, or the ground of a colored box.
    Rectangle {
        /// Its upper left corner.
        at: (f64, f64),
        /// Width and height.
        size: (f64, f64),
        /// Its color.
        color: Option<Color>,
        /// Whether other things stand on it.
        is_ground: bool,
    },
    /// A horizontal dashed line.
    Dashes {
        /// Where its middle begins.
        at: (f64, f64),
        /// Length and thickness.
        size: (f64, f64),
        /// Its color.
        color: Option<Color>,
    },
    /// Any other shape.
    Path {
        /// What its points are relative to.
        at: (f64, f64),
        /// Its outline.
        outline: Outline,
        /// Whether it is filled; otherwise its outline is drawn.
        is_filled: bool,
        /// Its color.
        color: Option<Color>,
    },
}

/// The outline of a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// Its segments.
    pub segments: Vec<Segment>,
}

/// A piece of an outline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Segment {
    /// Begins a contour.
    Move((f64, f64)),
    /// A straight line.
    Line((f64, f64)),
    /// A curve with one control point.
    Quad((f64, f64), (f64, f64)),
    /// A curve with two control points.
    Cubic((f64, f64), (f64, f64), (f64, f64)),
    /// Closes the contour.
    Close,
}

/// A color that the formula asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Color {
    /// Red, green and blue, from 0 to 1.
    pub rgb: [f32; 3],
    /// From 0, invisible, to 1.
    pub alpha: f32,
}

/// Takes what the layout gave.
pub fn convert(list: DisplayList) -> Drawing {
    let items = list.items.into_iter().filter_map(item).collect();
    Drawing { width: list.width.max(0.0), ascent: list.height, depth: list.depth, items }
}

fn item(item: DisplayItem) -> Option<Item> {
    Some(match item {
        DisplayItem::GlyphPath { x, y, scale, font, char_code, color } => {
            let (at, size, color) = ((x, y), scale, own(color));
            match font::outline(&font, char_code) {
                Some(outline) if outline.segments.is_empty() => return None,
                Some(outline) => Item::Sign { outline, at, size, color },
                None => Item::Letter { letter: char::from_u32(char_code)?, at, size, color },
            }
        }
        DisplayItem::Line { x, y, width, thickness, color, dashed: true } => {
            Item::Dashes { at: (x, y), size: (width, thickness), color: own(color) }
        }
        DisplayItem::Line { x, y, width, thickness, color, dashed: false } => Item::Rectangle {
            at: (x, y - thickness / 2.0),
            size: (width, thickness),
            color: own(color),
            is_ground: false,
        },
        DisplayItem::Rect { x, y, width, height, color } => {
            // A frame consists of thin ones.
            let is_ground = width.min(height) > 0.2;
            Item::Rectangle { at: (x, y), size: (width, height), color: own(color), is_ground }
        }
        DisplayItem::Path { x, y, commands, fill, color } => {
            let outline = Outline { segments: commands.into_iter().map(segment).collect() };
            Item::Path { at: (x, y), outline, is_filled: fill, color: own(color) }
        }
    })
}

fn segment(command: PathCommand) -> Segment {
    match command {
        PathCommand::MoveTo { x, y } => Segment::Move((x, y)),
        PathCommand::LineTo { x, y } => Segment::Line((x, y)),
        PathCommand::QuadTo { x1, y1, x, y } => Segment::Quad((x1, y1), (x, y)),
        PathCommand::CubicTo { x1, y1, x2, y2, x, y } => Segment::Cubic((x1, y1), (x2, y2), (x, y)),
        PathCommand::Close => Segment::Close,
    }
}

/// The color of something, unless it is black, which is what the layout says for the text's.
fn own(color: color::Color) -> Option<Color> {
    let color::Color { r, g, b, a } = color;
    (color != color::Color::BLACK).then_some(Color { rgb: [r, g, b], alpha: a })
}
