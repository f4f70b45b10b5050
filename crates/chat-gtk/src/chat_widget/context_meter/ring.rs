//! Draws a small ring that is as full as something is.

use std::cell::Cell;
use std::f64::consts::{FRAC_PI_2, TAU};
use std::rc::Rc;

use relm4::gtk::cairo;
use relm4::gtk::prelude::*;

/// Its width and height, in pixels.
const SIZE: i32 = 16;
/// The width of its line, in pixels.
const LINE: f64 = 2.5;
/// How much of the line's colour the part has that is not full.
const FAINT: f64 = 0.22;

/// The ring.
#[derive(Debug)]
pub(super) struct Ring {
    area: gtk::DrawingArea,
    full: Rc<Cell<f64>>,
}

impl Ring {
    pub(super) fn new() -> Self {
        let area = gtk::DrawingArea::builder()
            .content_width(SIZE)
            .content_height(SIZE)
            .valign(gtk::Align::Center)
            .css_classes(["meter-ring"])
            .build();
        let full: Rc<Cell<f64>> = Rc::default();
        let shown = Rc::clone(&full);
        area.set_draw_func(move |area, context, width, height| {
            // What cannot be drawn is not seen; the number beside it says the same.
            let _ = draw(area, context, f64::from(width.min(height)), shown.get());
        });
        Self { area, full }
    }

    pub(super) fn widget(&self) -> &gtk::DrawingArea {
        &self.area
    }

    /// Shows how full it is, from 0 to 1.
    pub(super) fn show(&self, full: f64) {
        let full = full.clamp(0.0, 1.0);
        if (self.full.replace(full) - full).abs() > f64::EPSILON {
            self.area.queue_draw();
        }
    }
}

fn draw(
    area: &gtk::DrawingArea,
    context: &cairo::Context,
    size: f64,
    full: f64,
) -> Result<(), cairo::Error> {
    let colour = area.style_context().color();
    let (red, green, blue) = (colour.red(), colour.green(), colour.blue());
    let (red, green, blue) = (f64::from(red), f64::from(green), f64::from(blue));
    let alpha = f64::from(colour.alpha());
    let (centre, radius) = (size / 2.0, (size - LINE) / 2.0);
    context.set_line_width(LINE);
    context.set_source_rgba(red, green, blue, alpha * FAINT);
    context.arc(centre, centre, radius, 0.0, TAU);
    context.stroke()?;
    context.set_source_rgba(red, green, blue, alpha);
    context.arc(centre, centre, radius, -FRAC_PI_2, TAU.mul_add(full, -FRAC_PI_2));
    context.stroke()
}
