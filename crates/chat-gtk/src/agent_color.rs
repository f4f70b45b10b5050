//! Draws the color that the author of an agent chose for it: a small dot next to its name, which says the same to
//! whoever does not see it.

use std::cell::Cell;
use std::f64::consts::TAU;
use std::rc::Rc;

use chat_core::definitions::{Color, ColorName};
use gtk::cairo;
use gtk::gdk::RGBA;
use gtk::prelude::*;

/// Its width and height, in pixels.
const SIZE: i32 = 10;
/// How much of the text's color its edge has: a color of the author's own may be that of the background.
const EDGE: f64 = 0.35;
/// From this brightness on, text is for a dark background.
const BRIGHT: f64 = 0.5;

/// The dot. Without a color there is none.
#[derive(Clone, Debug)]
pub(crate) struct AgentDot {
    area: gtk::DrawingArea,
    color: Rc<Cell<Option<Color>>>,
}

impl AgentDot {
    pub(crate) fn new(color: Option<Color>) -> Self {
        let area = gtk::DrawingArea::builder()
            .accessible_role(gtk::AccessibleRole::Presentation)
            .content_width(SIZE)
            .content_height(SIZE)
            .valign(gtk::Align::Center)
            .css_classes(["agent-dot"])
            .visible(color.is_some())
            .build();
        let color = Rc::new(Cell::new(color));
        let shown = Rc::clone(&color);
        area.set_draw_func(move |area, context, width, height| {
            if let Some(color) = shown.get() {
                // What cannot be drawn is not seen; the name next to it says the same.
                let _ = draw(area, context, f64::from(width.min(height)), color);
            }
        });
        Self { area, color }
    }

    pub(crate) fn widget(&self) -> &gtk::DrawingArea {
        &self.area
    }

    /// Shows this color.
    pub(crate) fn show(&self, color: Option<Color>) {
        if self.color.replace(color) != color {
            self.area.set_visible(color.is_some());
            self.area.queue_draw();
        }
    }
}

fn draw(
    area: &gtk::DrawingArea,
    context: &cairo::Context,
    size: f64,
    color: Color,
) -> Result<(), cairo::Error> {
    // GTK draws again when the theme changes, since the text has another color then.
    let text = area.style_context().color();
    let (red, green, blue) = shade(color, is_bright(&text));
    let part = |part: u8| f64::from(part) / 255.0;
    context.arc(size / 2.0, size / 2.0, (size - 1.0) / 2.0, 0.0, TAU);
    context.set_source_rgb(part(red), part(green), part(blue));
    context.fill_preserve()?;
    let (red, green, blue) = (text.red().into(), text.green().into(), text.blue().into());
    context.set_source_rgba(red, green, blue, EDGE);
    context.set_line_width(1.0);
    context.stroke()
}

fn is_bright(text: &RGBA) -> bool {
    let brightness = 0.299 * text.red() + 0.587 * text.green() + 0.114 * text.blue();
    f64::from(brightness) > BRIGHT
}

/// Red, green and blue of a color on a light or a dark background.
fn shade(color: Color, on_dark: bool) -> (u8, u8, u8) {
    let name = match color {
        Color::Rgb(red, green, blue) => return (red, green, blue),
        Color::Named(name) => name,
    };
    let (on_light_ground, on_dark_ground) = match name {
        ColorName::Red => ((0xe0, 0x1b, 0x24), (0xff, 0x7b, 0x72)),
        ColorName::Orange => ((0xd6, 0x5a, 0x00), (0xff, 0x9a, 0x4d)),
        ColorName::Yellow => ((0xa8, 0x74, 0x00), (0xf5, 0xc2, 0x11)),
        ColorName::Green => ((0x2b, 0x8a, 0x3e), (0x57, 0xc2, 0x6d)),
        ColorName::Cyan => ((0x1a, 0x82, 0x96), (0x4f, 0xc1, 0xd6)),
        ColorName::Blue => ((0x35, 0x84, 0xe4), (0x78, 0xae, 0xed)),
        ColorName::Purple => ((0x91, 0x41, 0xac), (0xc8, 0x8b, 0xe0)),
        ColorName::Pink => ((0xd0, 0x50, 0x8d), (0xf0, 0x8f, 0xc0)),
        ColorName::Brown => ((0x86, 0x5e, 0x3c), (0xcd, 0xab, 0x8f)),
        ColorName::Gray => ((0x6f, 0x7f, 0x8f), (0xa9, 0xb6, 0xc3)),
    };
    if on_dark { on_dark_ground } else { on_light_ground }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance((red, green, blue): (u8, u8, u8)) -> f64 {
        let part = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue)
    }

    fn contrast(one: (u8, u8, u8), other: (u8, u8, u8)) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn named_colors_are_seen_on_light_and_dark_ground_and_differ() {
        let (light, dark) = ((0xfa, 0xfa, 0xfa), (0x38, 0x38, 0x38));
        for (ground, on_dark) in [(light, false), (dark, true)] {
            let shades = ColorName::ALL.map(|name| shade(Color::Named(name), on_dark));
            for (at, one) in shades.iter().enumerate() {
                assert!(contrast(*one, ground) >= 3.0, "{:?} {on_dark}", ColorName::ALL[at]);
                assert!(!shades[..at].contains(one));
            }
        }
        assert_eq!(shade(Color::Rgb(1, 2, 3), true), (1, 2, 3));
        assert!(is_bright(&RGBA::WHITE) && !is_bright(&RGBA::BLACK));
    }

    #[gtk::test]
    fn without_a_color_there_is_no_dot() {
        let dot = AgentDot::new(None);
        assert!(!dot.widget().is_visible());
        dot.show(Some(Color::Named(ColorName::Red)));
        assert!(dot.widget().is_visible());
        dot.show(None);
        assert!(!dot.widget().is_visible());
    }
}
