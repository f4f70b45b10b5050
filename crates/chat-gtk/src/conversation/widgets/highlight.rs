//! Highlights what was found, in the theme's colours; the current match stands out.

use gtk::gdk::RGBA;
use gtk::pango;
use gtk::prelude::*;

use crate::conversation::model::hits::Hit;

/// How strongly a place is coloured that is not the current one.
const FAINT: f32 = 0.35;

/// What a text has where a picture stands.
pub const PICTURE: char = '\u{FFFC}';
/// The name of the tag that hides the source of a formula, behind its picture.
pub const HIDDEN_SOURCE: &str = "formula-hidden";

/// The colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatchColours {
    ground: RGBA,
    current: RGBA,
    current_text: RGBA,
}

impl Default for MatchColours {
    fn default() -> Self {
        let (ground, current) = (RGBA::new(0.0, 0.0, 0.0, 0.0), RGBA::BLACK);
        Self { ground, current, current_text: RGBA::WHITE }
    }
}

impl MatchColours {
    /// The theme's, as a widget has them.
    pub fn of(widget: &gtk::Widget) -> Self {
        let context = widget.style_context();
        let text = context.color();
        let current = context.lookup_color("warning_bg_color").unwrap_or(text);
        let ground = RGBA::new(current.red(), current.green(), current.blue(), FAINT);
        // Dark letters on a light ground, whatever the theme has for text.
        let current_text = context.lookup_color("warning_fg_color").unwrap_or(RGBA::BLACK);
        Self { ground, current, current_text }
    }
}

/// Marks places in a text; those that were marked before no longer are.
pub fn highlight_buffer(
    buffer: &gtk::TextBuffer,
    hits: &[Hit],
    current: Option<usize>,
    colours: MatchColours,
) {
    let table = buffer.tag_table();
    if hits.is_empty() && table.lookup("found").is_none() {
        return;
    }
    let found = tag(&table, "found");
    let now = tag(&table, "found-current");
    if found.background_rgba() != Some(colours.ground) {
        found.set_background_rgba(Some(&colours.ground));
    }
    if now.background_rgba() != Some(colours.current) {
        now.set_background_rgba(Some(&colours.current));
        now.set_foreground_rgba(Some(&colours.current_text));
    }
    let (start, end) = buffer.bounds();
    buffer.remove_tag(&found, &start, &end);
    buffer.remove_tag(&now, &start, &end);
    for (index, hit) in hits.iter().enumerate() {
        let start = whole_formula(buffer.iter_at_offset(hit.letters.start as i32));
        let end = buffer.iter_at_offset(hit.letters.end as i32);
        buffer.apply_tag(if current == Some(index) { &now } else { &found }, &start, &end);
    }
}

/// The beginning of the formula in whose hidden source a place of a text is, or else that place: what
/// is not seen cannot be marked.
fn whole_formula(mut place: gtk::TextIter) -> gtk::TextIter {
    let hidden = place.buffer().tag_table().lookup(HIDDEN_SOURCE);
    let Some(hidden) = hidden.filter(|hidden| place.has_tag(hidden)) else { return place };
    if !place.starts_tag(Some(&hidden)) {
        place.backward_to_tag_toggle(Some(&hidden));
    }
    loop {
        let mut before = place;
        if !before.backward_char() || before.char() != PICTURE {
            return place;
        }
        place = before;
    }
}

/// The tag of this name, above all others.
fn tag(table: &gtk::TextTagTable, name: &str) -> gtk::TextTag {
    let tag = table.lookup(name).unwrap_or_else(|| {
        let tag = gtk::TextTag::builder().name(name).build();
        table.add(&tag);
        tag
    });
    // The colours of code come later, and must not win.
    if tag.priority() < table.size() - 2 {
        tag.set_priority(table.size() - 1);
    }
    tag
}

/// Marks places in a label, by their bytes; those that were marked before no longer are.
pub fn highlight_label(label: &gtk::Label, hits: &[(&Hit, bool)], colours: MatchColours) {
    let attributes = label.attributes().and_then(|list| list.copy()).unwrap_or_default();
    // Nothing else in a label has a colour of its own.
    let _ = attributes.filter(|attribute| {
        use pango::AttrType::{Background, BackgroundAlpha, Foreground};
        matches!(attribute.type_(), Background | BackgroundAlpha | Foreground)
    });
    for (hit, is_current) in hits {
        let add = |mut attribute: pango::Attribute| {
            attribute.set_start_index(hit.bytes.start as u32);
            attribute.set_end_index(hit.bytes.end as u32);
            attributes.insert(attribute);
        };
        let ground = if *is_current { colours.current } else { colours.ground };
        let (red, green, blue, alpha) = parts(ground);
        add(pango::AttrColor::new_background(red, green, blue).into());
        add(pango::AttrInt::new_background_alpha(alpha).into());
        if *is_current {
            let (red, green, blue, _) = parts(colours.current_text);
            add(pango::AttrColor::new_foreground(red, green, blue).into());
        }
    }
    label.set_attributes(Some(&attributes));
}

/// A colour as Pango has it.
fn parts(colour: RGBA) -> (u16, u16, u16, u16) {
    let part = |value: f32| (value.clamp(0.0, 1.0) * f32::from(u16::MAX)) as u16;
    (part(colour.red()), part(colour.green()), part(colour.blue()), part(colour.alpha()))
}
