//! Shows styled text: a tag of GTK's for each style, in the theme's colours.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use gtk::gdk::RGBA;
use gtk::pango;
use gtk::prelude::*;

use crate::conversation::model::sgr::{TerminalColour, TerminalStyle};
use crate::conversation::model::styled_text::{StyledText, TextStyle};

/// The least contrast of coloured letters to their ground, as WCAG 2 counts it: enough to read
/// letters of this size.
const CONTRAST: f32 = 3.5;
/// The names of the theme's colours for the sixteen that a terminal names.
const PALETTE: [&str; 16] = [
    "dark_4", "red_4", "green_5", "yellow_5", "blue_4", "purple_3", "blue_2", "light_4", "dark_1",
    "red_3", "green_4", "yellow_4", "blue_3", "purple_2", "blue_1", "light_1",
];

/// The tags. Cheap to clone.
#[derive(Clone)]
pub struct StyleTags {
    inner: Rc<Inner>,
}

struct Inner {
    table: gtk::TextTagTable,
    tags: RefCell<HashMap<Kind, gtk::TextTag>>,
    theme: Cell<Theme>,
    /// The colours that a terminal names.
    palette: Cell<[RGBA; 16]>,
}

/// What a tag does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Style(TextStyle),
    Bold,
    Italic,
    Underline,
    Fore(Shade),
    Back(Shade),
}

/// A colour, or what the theme has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Shade {
    Colour(TerminalColour),
    Text,
    Faint,
    Ground,
}

/// What is taken from the theme.
#[derive(Clone, Copy)]
struct Theme {
    text: RGBA,
    ground: RGBA,
    added: RGBA,
    removed: RGBA,
    contrast: bool,
}

impl Default for Theme {
    fn default() -> Self {
        let (text, ground) = (RGBA::BLACK, RGBA::WHITE);
        Self { text, ground, added: RGBA::GREEN, removed: RGBA::RED, contrast: false }
    }
}

impl StyleTags {
    /// Tags, whose colours come with [`recolour`](Self::recolour).
    pub fn new() -> Self {
        let inner = Inner {
            table: gtk::TextTagTable::new(),
            tags: RefCell::default(),
            theme: Cell::default(),
            palette: Cell::new([RGBA::BLACK; 16]),
        };
        let style_tags = Self { inner: Rc::new(inner) };
        // What stands in a line must win over the line.
        for look in [
            TextStyle::Label,
            TextStyle::Dim,
            TextStyle::Added,
            TextStyle::Removed,
            TextStyle::AddedWord,
            TextStyle::RemovedWord,
        ] {
            style_tags.tag(Kind::Style(look));
        }
        style_tags
    }

    /// An empty text that takes these tags.
    pub fn buffer(&self) -> gtk::TextBuffer {
        let buffer = gtk::TextBuffer::new(Some(&self.inner.table));
        buffer.set_enable_undo(false);
        buffer
    }

    /// Shows a text.
    pub fn fill(&self, buffer: &gtk::TextBuffer, styled: &StyledText) {
        buffer.set_text(styled.text());
        for (span, look) in styled.spans() {
            let start = buffer.iter_at_offset(span.start as i32);
            let end = buffer.iter_at_offset(span.end as i32);
            match look {
                TextStyle::Plain => {}
                TextStyle::Written(style) => {
                    for kind in kinds(*style).into_iter().flatten() {
                        buffer.apply_tag(&self.tag(kind), &start, &end);
                    }
                }
                look => buffer.apply_tag(&self.tag(Kind::Style(*look)), &start, &end),
            }
        }
    }

    /// Takes the colours of the theme, as a widget has it.
    pub fn recolour(&self, widget: &gtk::Widget) {
        let context = widget.style_context();
        let text = context.color();
        let colour = |name: &str| context.lookup_color(name).unwrap_or(text);
        self.inner.theme.set(Theme {
            text,
            ground: colour("view_bg_color"),
            added: colour("success_color"),
            removed: colour("error_color"),
            contrast: adw::StyleManager::default().is_high_contrast(),
        });
        self.inner.palette.set(PALETTE.map(colour));
        for (kind, tag) in self.inner.tags.borrow().iter() {
            self.colour(*kind, tag);
        }
    }

    fn tag(&self, kind: Kind) -> gtk::TextTag {
        let mut tags = self.inner.tags.borrow_mut();
        let tag = tags.entry(kind).or_insert_with(|| {
            let tag = gtk::TextTag::new(None);
            match kind {
                Kind::Bold => tag.set_weight(700),
                Kind::Italic => tag.set_style(pango::Style::Italic),
                Kind::Underline => tag.set_underline(pango::Underline::Single),
                Kind::Style(TextStyle::Label) => tag.set_scale(0.9),
                Kind::Style(_) | Kind::Fore(_) | Kind::Back(_) => {}
            }
            self.inner.table.add(&tag);
            self.colour(kind, &tag);
            tag
        });
        tag.clone()
    }

    fn colour(&self, kind: Kind, tag: &gtk::TextTag) {
        let theme = self.inner.theme.get();
        let faint = if theme.contrast { 0.9 } else { 0.6 };
        let weak = if theme.contrast { 0.25 } else { 0.14 };
        match kind {
            Kind::Style(TextStyle::Label | TextStyle::Dim) => {
                tag.set_foreground_rgba(Some(&theme.text.with_alpha(faint)));
            }
            Kind::Style(TextStyle::Added) => {
                tag.set_paragraph_background_rgba(Some(&theme.added.with_alpha(weak)));
            }
            Kind::Style(TextStyle::Removed) => {
                tag.set_paragraph_background_rgba(Some(&theme.removed.with_alpha(weak)));
            }
            Kind::Style(TextStyle::AddedWord) => {
                tag.set_background_rgba(Some(&theme.added.with_alpha(2.0 * weak)));
                tag.set_paragraph_background_rgba(Some(&theme.added.with_alpha(weak)));
            }
            Kind::Style(TextStyle::RemovedWord) => {
                tag.set_background_rgba(Some(&theme.removed.with_alpha(2.0 * weak)));
                tag.set_paragraph_background_rgba(Some(&theme.removed.with_alpha(weak)));
            }
            Kind::Fore(shade) => tag.set_foreground_rgba(Some(&self.fore(shade))),
            Kind::Back(shade) => tag.set_background_rgba(Some(&self.shade(shade))),
            Kind::Style(TextStyle::Plain | TextStyle::Written(_))
            | Kind::Bold
            | Kind::Italic
            | Kind::Underline => {}
        }
    }

    /// A colour of letters, which must be read on the theme's ground.
    fn fore(&self, shade: Shade) -> RGBA {
        let theme = self.inner.theme.get();
        match shade {
            Shade::Colour(_) => readable(self.shade(shade), theme.ground, theme.text),
            _ => self.shade(shade),
        }
    }

    fn shade(&self, shade: Shade) -> RGBA {
        let theme = self.inner.theme.get();
        match shade {
            Shade::Text => theme.text,
            Shade::Faint => theme.text.with_alpha(if theme.contrast { 0.9 } else { 0.6 }),
            Shade::Ground => theme.ground,
            Shade::Colour(TerminalColour::Palette(index)) => {
                self.inner.palette.get()[usize::from(index % 16)]
            }
            Shade::Colour(TerminalColour::Mixed(red, green, blue)) => {
                let part = |part: u8| f32::from(part) / 255.0;
                RGBA::new(part(red), part(green), part(blue), 1.0)
            }
        }
    }
}

/// The tags of letters that look like this.
fn kinds(style: TerminalStyle) -> [Option<Kind>; 5] {
    let (fore, back) = (style.fore.map(Shade::Colour), style.back.map(Shade::Colour));
    let (fore, back) = if style.inverse {
        (Some(back.unwrap_or(Shade::Ground)), Some(fore.unwrap_or(Shade::Text)))
    } else {
        (fore.or(style.faint.then_some(Shade::Faint)), back)
    };
    [
        fore.map(Kind::Fore),
        back.map(Kind::Back),
        style.bold.then_some(Kind::Bold),
        style.italic.then_some(Kind::Italic),
        style.underline.then_some(Kind::Underline),
    ]
}

/// The colour, moved towards the text's until it can be read on the ground.
pub fn readable(colour: RGBA, ground: RGBA, text: RGBA) -> RGBA {
    const STEPS: u8 = 10;
    let mix = |part: f32| {
        let of = |a: f32, b: f32| a + (b - a) * part;
        RGBA::new(
            of(colour.red(), text.red()),
            of(colour.green(), text.green()),
            of(colour.blue(), text.blue()),
            1.0,
        )
    };
    (0..=STEPS)
        .map(|step| mix(f32::from(step) / f32::from(STEPS)))
        .find(|colour| contrast(*colour, ground) >= CONTRAST)
        .unwrap_or(text)
}

/// The contrast of two colours, from 1 to 21.
fn contrast(one: RGBA, other: RGBA) -> f32 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// How bright a colour is, as WCAG 2 counts it.
fn luminance(colour: RGBA) -> f32 {
    let linear = |part: f32| {
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(colour.red()) + 0.7152 * linear(colour.green()) + 0.0722 * linear(colour.blue())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_can_be_read_on_light_and_dark() {
        for (ground, text) in [(RGBA::WHITE, RGBA::BLACK), (RGBA::BLACK, RGBA::WHITE)] {
            for colour in [RGBA::WHITE, RGBA::BLACK, RGBA::RED, RGBA::GREEN, RGBA::BLUE] {
                let read = readable(colour, ground, text);
                assert!(contrast(read, ground) >= CONTRAST, "{colour} on {ground}: {read}");
            }
        }
        // What can be read already stays as it is.
        assert_eq!(readable(RGBA::RED, RGBA::WHITE, RGBA::BLACK), RGBA::RED);
    }

    #[test]
    fn letters_and_ground_are_exchanged() {
        let style = TerminalStyle {
            fore: Some(TerminalColour::Palette(1)),
            inverse: true,
            ..TerminalStyle::default()
        };
        let red = Shade::Colour(TerminalColour::Palette(1));
        assert_eq!(kinds(style)[..2], [Some(Kind::Fore(Shade::Ground)), Some(Kind::Back(red))]);
    }
}
