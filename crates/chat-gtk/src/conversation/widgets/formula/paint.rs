//! Paints what a formula consists of, in the colors of the text around it.

use gtk::cairo::Context;
use gtk::gdk::RGBA;
use gtk::graphene;
use gtk::pango;
use gtk::prelude::*;

use chat_formula::{Color, Drawing, Item, Outline, Segment};

use crate::conversation::widgets::style_tags::readable;

/// How strongly the ground of a colored box is painted: the text on it keeps its own color.
const GROUND: f64 = 0.3;
/// The least thickness of a line, in pixels.
const THINNEST: f64 = 1.0;

/// The colors of the theme.
#[derive(Clone, Copy)]
pub struct Colors {
    /// That of the text.
    pub text: RGBA,
    /// What it stands on.
    pub ground: Option<RGBA>,
}

impl Colors {
    /// The color of something: what the formula asks for, as far as it can be read.
    fn of(self, color: Option<Color>) -> RGBA {
        let Some(color) = color else { return self.text };
        let [red, green, blue] = color.rgb;
        let color = RGBA::new(red, green, blue, color.alpha);
        match self.ground {
            Some(ground) if color.alpha() > 0.0 => readable(color, ground, self.text),
            _ => color,
        }
    }
}

/// Paints all but the letters that the built-in fonts lack. `em`: in pixels.
pub fn shapes(canvas: &Context, drawing: &Drawing, em: f64, colors: Colors) {
    for item in &drawing.items {
        match item {
            Item::Sign { outline: shape, at: (x, y), size, color } => {
                choose(canvas, colors.of(*color), 1.0);
                outline(canvas, shape, (x * em, y * em), size * em);
                fill(canvas);
            }
            Item::Rectangle { at: (x, y), size: (width, height), color, is_ground } => {
                if *is_ground && color.is_some() {
                    let Some(Color { rgb: [red, green, blue], alpha }) = *color else { continue };
                    choose(canvas, RGBA::new(red, green, blue, alpha), GROUND);
                } else {
                    choose(canvas, colors.of(*color), 1.0);
                }
                let thickness = (height * em).max(THINNEST);
                let top = y * em - (thickness - height * em) / 2.0;
                canvas.rectangle(x * em, top, (width * em).max(THINNEST), thickness);
                fill(canvas);
            }
            Item::Dashes { at: (x, y), size: (length, thickness), color } => {
                choose(canvas, colors.of(*color), 1.0);
                canvas.set_line_width((thickness * em).max(THINNEST));
                canvas.set_dash(&[0.2 * em, 0.2 * em], 0.0);
                canvas.move_to(x * em, y * em);
                canvas.line_to((x + length) * em, y * em);
                stroke(canvas);
                canvas.set_dash(&[], 0.0);
            }
            Item::Path { at: (x, y), outline: shape, is_filled, color } => {
                choose(canvas, colors.of(*color), 1.0);
                outline(canvas, shape, (x * em, y * em), em);
                if *is_filled {
                    fill(canvas);
                } else {
                    canvas.set_line_width((0.04 * em).max(THINNEST));
                    stroke(canvas);
                }
            }
            Item::Letter { .. } => {}
        }
    }
}

/// Paints the letters that the built-in fonts lack, in the font of a widget.
pub fn letters(
    snapshot: &gtk::Snapshot,
    widget: &impl IsA<gtk::Widget>,
    drawing: &Drawing,
    em: f64,
    text: RGBA,
) {
    for item in &drawing.items {
        let Item::Letter { letter, at: (x, y), size, .. } = item else { continue };
        let layout = widget.create_pango_layout(Some(&letter.to_string()));
        let mut font = widget.pango_context().font_description().unwrap_or_default();
        font.set_absolute_size(size * em * f64::from(pango::SCALE));
        layout.set_font_description(Some(&font));
        let baseline = f64::from(layout.baseline()) / f64::from(pango::SCALE);
        snapshot.save();
        snapshot.translate(&graphene::Point::new((x * em) as f32, (y * em - baseline) as f32));
        snapshot.append_layout(&layout, &text);
        snapshot.restore();
    }
}

fn choose(canvas: &Context, color: RGBA, strength: f64) {
    let [red, green, blue, alpha] =
        [color.red(), color.green(), color.blue(), color.alpha()].map(f64::from);
    canvas.set_source_rgba(red, green, blue, alpha * strength);
}

/// Adds an outline whose lengths are multiplied by `scale`.
fn outline(canvas: &Context, outline: &Outline, (left, top): (f64, f64), scale: f64) {
    let place = |(x, y): (f64, f64)| (left + x * scale, top + y * scale);
    let mut last = (left, top);
    for segment in &outline.segments {
        match *segment {
            Segment::Move(to) => {
                last = place(to);
                canvas.move_to(last.0, last.1);
            }
            Segment::Line(to) => {
                last = place(to);
                canvas.line_to(last.0, last.1);
            }
            Segment::Quad(control, to) => {
                let (control, to) = (place(control), place(to));
                let toward = |from: (f64, f64)| {
                    let part = |from: f64, to: f64| from + (to - from) * 2.0 / 3.0;
                    (part(from.0, control.0), part(from.1, control.1))
                };
                let (first, second) = (toward(last), toward(to));
                canvas.curve_to(first.0, first.1, second.0, second.1, to.0, to.1);
                last = to;
            }
            Segment::Cubic(first, second, to) => {
                let (first, second, to) = (place(first), place(second), place(to));
                canvas.curve_to(first.0, first.1, second.0, second.1, to.0, to.1);
                last = to;
            }
            Segment::Close => canvas.close_path(),
        }
    }
}

// A canvas that cannot be painted on shows nothing; there is nothing else to be done about it.

fn fill(canvas: &Context) {
    let _ = canvas.fill();
}

fn stroke(canvas: &Context) {
    let _ = canvas.stroke();
}
