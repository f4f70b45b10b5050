//! Reads outlines from the fonts that are built in.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use ratex_font::{FontId, katex_ttf_glyph_char};
use ttf_parser::{Face, OutlineBuilder};

use crate::drawing::{Outline, Segment};

/// The faces that were used, and the outlines that were taken from them.
#[derive(Default)]
struct Fonts {
    faces: HashMap<FontId, Option<Face<'static>>>,
    outlines: HashMap<(FontId, u32), Option<Arc<Outline>>>,
}

static FONTS: LazyLock<Mutex<Fonts>> = LazyLock::new(Mutex::default);

/// The outline of a sign in a font, by its name; none if the fonts do not have it.
pub fn outline(font: &str, sign: u32) -> Option<Arc<Outline>> {
    // The layout names a font without the sign now and then.
    let fonts = [FontId::parse(font)?, FontId::MainRegular, FontId::AmsRegular];
    fonts.into_iter().find_map(|font| outline_in(font, sign))
}

fn outline_in(font: FontId, sign: u32) -> Option<Arc<Outline>> {
    let mut fonts = FONTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = fonts.outlines.get(&(font, sign)) {
        return known.clone();
    }
    let face = fonts.faces.entry(font).or_insert_with(|| face(font));
    let outline = face.as_ref().and_then(|face| read(face, katex_ttf_glyph_char(font, sign)));
    let outline = outline.map(Arc::new);
    fonts.outlines.insert((font, sign), outline.clone());
    outline
}

fn face(font: FontId) -> Option<Face<'static>> {
    // There are twenty, and each is read once. In a debug build they come from a file.
    let data = match ratex_katex_fonts::ttf_bytes(&format!("KaTeX_{}.ttf", font.as_str()))? {
        Cow::Borrowed(data) => data,
        Cow::Owned(data) => Box::leak(data.into_boxed_slice()),
    };
    Face::parse(data, 0).ok()
}

fn read(face: &Face<'_>, sign: char) -> Option<Outline> {
    let glyph = face.glyph_index(sign)?;
    let mut pen = Pen { scale: 1.0 / f32::from(face.units_per_em()), segments: Vec::new() };
    // A space has no outline, and nothing is missing there.
    face.outline_glyph(glyph, &mut pen);
    Some(Outline { segments: pen.segments })
}

/// Takes an outline, in em and with y downwards.
struct Pen {
    scale: f32,
    segments: Vec<Segment>,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f64, f64) {
        (f64::from(x * self.scale), f64::from(-y * self.scale))
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.segments.push(Segment::Move(self.at(x, y)));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.segments.push(Segment::Line(self.at(x, y)));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.segments.push(Segment::Quad(self.at(x1, y1), self.at(x, y)));
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.segments.push(Segment::Cubic(self.at(x1, y1), self.at(x2, y2), self.at(x, y)));
    }

    fn close(&mut self) {
        self.segments.push(Segment::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_font_is_there_and_has_outlines() {
        for (font, sign) in [
            ("AMS-Regular", 'R'),
            ("Caligraphic-Regular", 'L'),
            ("Fraktur-Regular", 'g'),
            ("Fraktur-Bold", 'g'),
            ("Main-Bold", 'a'),
            ("Main-BoldItalic", 'a'),
            ("Main-Italic", 'a'),
            ("Main-Regular", '='),
            ("Math-BoldItalic", 'x'),
            ("Math-Italic", 'x'),
            ("SansSerif-Bold", 'a'),
            ("SansSerif-Italic", 'a'),
            ("SansSerif-Regular", 'a'),
            ("Script-Regular", 'L'),
            ("Size1-Regular", '('),
            ("Size2-Regular", '('),
            ("Size3-Regular", '('),
            ("Size4-Regular", '('),
            ("Typewriter-Regular", 'a'),
        ] {
            let outline = outline(font, sign.into());
            assert!(outline.is_some_and(|it| it.segments.len() > 4), "{font}");
        }
        assert_eq!(outline("Main-Regular", '漢'.into()), None);
        assert_eq!(outline("No-Such", 'a'.into()), None);
    }
}
