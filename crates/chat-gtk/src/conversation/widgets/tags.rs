//! Styles prose: one table of text tags that all texts of the window share.

use std::cell::Cell;
use std::rc::Rc;

use gtk::pango;
use gtk::prelude::*;

use super::highlight::MatchColours;
use crate::markdown::AlertKind;
use crate::markdown::flow::{Gap, Line, Style};

/// How far a list stands to the right of what it stands in, in pixels.
pub const LIST_STEP: i32 = 24;
/// Free space above a block, in pixels: what stands between the lines of a paragraph, and 12 more.
pub const BLOCK_GAP: i32 = 20;
/// Free space above an item of a list, in pixels: a little more than between the lines of one.
pub const ITEM_GAP: i32 = 12;
/// Free space above a heading, in pixels.
pub const HEADING_GAP: i32 = 30;
/// What is added between the lines of a paragraph, as a part of a line's own height: together the
/// line height of 1.45 that makes prose calm.
const LEADING: f64 = 0.45;
/// The size of prose, as a part of the interface font's; the style sheet says the same.
const PROSE_SCALE: f64 = 1.12;
/// The size of code, as a part of the size of what it stands in.
const CODE_SCALE: f64 = 0.92;
/// The height of a line of code before it was measured, in pixels.
const CODE_LINE: i32 = 17;
/// The size of prose before it was measured, in pixels.
const TEXT_SIZE: f64 = 16.0;
/// Sizes of headings by level, as parts of the size of prose.
const HEADINGS: [f64; 6] = [1.45, 1.28, 1.14, 1.05, 1.0, 0.95];

/// The theme's colors of alerts; the style sheet has the same for their bars.
const ALERTS: [(AlertKind, &str); 5] = [
    (AlertKind::Note, "accent_color"),
    (AlertKind::Tip, "success_color"),
    (AlertKind::Important, "purple_3"),
    (AlertKind::Warning, "warning_color"),
    (AlertKind::Caution, "error_color"),
];

/// The name of the tag, and of the style class, of an alert.
pub fn alert_tag(kind: AlertKind) -> &'static str {
    match kind {
        AlertKind::Note => "alert-note",
        AlertKind::Tip => "alert-tip",
        AlertKind::Important => "alert-important",
        AlertKind::Warning => "alert-warning",
        AlertKind::Caution => "alert-caution",
    }
}

/// The table of tags. Cheap to clone.
#[derive(Clone)]
pub struct Tags {
    table: gtk::TextTagTable,
    /// Space between the lines of a paragraph, in pixels.
    leading: Rc<Cell<i32>>,
    /// The height of a line of code, in pixels.
    code_line: Rc<Cell<i32>>,
    /// The size of prose, in pixels.
    text_size: Rc<Cell<f64>>,
    match_colours: Rc<Cell<MatchColours>>,
}

impl Tags {
    /// A table with the inline styles. Colours come with [`recolour`](Self::recolour).
    pub fn new() -> Self {
        let table = gtk::TextTagTable::new();
        for tag in [
            gtk::TextTag::builder().name("emphasis").style(pango::Style::Italic).build(),
            gtk::TextTag::builder().name("strong").weight(700).build(),
            gtk::TextTag::builder().name("strike").strikethrough(true).build(),
            gtk::TextTag::builder().name("code").family("monospace").scale(CODE_SCALE).build(),
            gtk::TextTag::builder().name("faint").build(),
            gtk::TextTag::builder().name("raised").scale(0.75).rise(5 * pango::SCALE).build(),
            gtk::TextTag::builder().name("lowered").scale(0.75).rise(-3 * pango::SCALE).build(),
            gtk::TextTag::builder().name("key").family("monospace").scale(CODE_SCALE).build(),
            gtk::TextTag::builder().name("link").underline(pango::Underline::Single).build(),
            gtk::TextTag::builder().name("verbatim").family("monospace").scale(CODE_SCALE).build(),
        ] {
            // A hyphen that is not there would be taken for a part of an address or a name.
            if matches!(tag.name().as_deref(), Some("code" | "key" | "link" | "verbatim")) {
                tag.set_insert_hyphens(false);
            }
            table.add(&tag);
        }
        for (kind, _) in ALERTS {
            table.add(&gtk::TextTag::builder().name(alert_tag(kind)).build());
        }
        Self {
            table,
            leading: Rc::default(),
            code_line: Rc::new(Cell::new(CODE_LINE)),
            text_size: Rc::new(Cell::new(TEXT_SIZE)),
            match_colours: Rc::default(),
        }
    }

    /// The table, for a buffer.
    pub fn table(&self) -> &gtk::TextTagTable {
        &self.table
    }

    /// Space between the lines of a paragraph, in pixels.
    pub fn leading(&self) -> i32 {
        self.leading.get()
    }

    /// The height of a line of code, in pixels.
    pub fn code_line(&self) -> i32 {
        self.code_line.get()
    }

    /// The size of prose, in pixels. It follows the font.
    pub fn text_size(&self) -> Rc<Cell<f64>> {
        Rc::clone(&self.text_size)
    }

    /// How large the text of a line is, as a part of the size of prose.
    pub fn zoom(line: &Line) -> f64 {
        HEADINGS.get(usize::from(line.heading).wrapping_sub(1)).copied().unwrap_or(1.0)
    }

    /// The colours of what was found.
    pub fn match_colours(&self) -> MatchColours {
        self.match_colours.get()
    }

    /// Takes colours and measures from the theme, as a widget has it.
    pub fn recolour(&self, widget: &gtk::Widget) {
        self.match_colours.set(MatchColours::of(widget));
        let context = widget.style_context();
        let text = context.color();
        let link = context.lookup_color("accent_color").unwrap_or(text);
        let with_alpha =
            |alpha: f32| gtk::gdk::RGBA::new(text.red(), text.green(), text.blue(), alpha);
        let tag = |name: &str| self.table.lookup(name);
        if let Some(tag) = tag("link") {
            tag.set_foreground_rgba(Some(&link));
        }
        if let Some(tag) = tag("faint") {
            let faint = if adw::StyleManager::default().is_high_contrast() { 0.9 } else { 0.6 };
            tag.set_foreground_rgba(Some(&with_alpha(text.alpha() * faint)));
        }
        for (name, alpha) in [("code", 0.07), ("key", 0.14)] {
            if let Some(tag) = tag(name) {
                tag.set_background_rgba(Some(&with_alpha(alpha)));
            }
        }
        let metrics = widget.pango_context().metrics(None, None);
        let height = f64::from(metrics.height()) / f64::from(pango::SCALE) * PROSE_SCALE;
        self.leading.set((height * LEADING).round() as i32);
        if let Some(font) = widget.pango_context().font_description() {
            let points = f64::from(font.size()) / f64::from(pango::SCALE);
            let size = if font.is_size_absolute() { points } else { points * 96.0 / 72.0 };
            self.text_size.set(size * PROSE_SCALE);
        }
        let is_dark = adw::StyleManager::default().is_dark();
        for (kind, color) in ALERTS {
            // The theme has no lighter variant of its own for this one.
            let color = if is_dark && color == "purple_3" { "purple_1" } else { color };
            if let Some(tag) = tag(alert_tag(kind)) {
                tag.set_foreground_rgba(Some(&context.lookup_color(color).unwrap_or(text)));
            }
        }
        let code = widget.create_pango_layout(Some("X"));
        let attributes = pango::AttrList::new();
        attributes.insert(pango::AttrString::new_family("monospace"));
        attributes.insert(pango::AttrFloat::new_scale(CODE_SCALE));
        code.set_attributes(Some(&attributes));
        self.code_line.set(code.pixel_size().1.max(1));
    }

    /// The tags of a style.
    pub fn of_style(&self, style: Style, link: bool) -> Vec<gtk::TextTag> {
        let names = [
            (style.emphasis, "emphasis"),
            (style.strong, "strong"),
            (style.strike, "strike"),
            (style.code, "code"),
            (style.faint, "faint"),
            (style.raised, "raised"),
            (style.lowered, "lowered"),
            (style.key, "key"),
            (link, "link"),
        ];
        let names = names.iter().filter(|(on, _)| *on).map(|(_, name)| *name);
        let names = names.chain(style.alert.map(alert_tag));
        names.filter_map(|name| self.table.lookup(name)).collect()
    }

    /// The tag of a paragraph; none for plain prose, which needs none.
    pub fn of_line(&self, line: &Line, first: bool) -> Option<gtk::TextTag> {
        let gap = if first { Gap::None } else { line.gap };
        let depth = i32::from(line.indent.lists.min(12));
        if line.heading == 0 && depth == 0 && gap == Gap::Block && !line.verbatim {
            return None;
        }
        let marker = line.marker.is_some();
        let name = format!("{}/{depth}/{gap:?}/{marker}/{}", line.heading, line.verbatim);
        if let Some(tag) = self.table.lookup(&name) {
            return Some(tag);
        }
        let tag = gtk::TextTag::builder().name(&name).build();
        tag.set_pixels_above_lines(match gap {
            Gap::None => 0,
            Gap::Small => ITEM_GAP,
            Gap::Block => BLOCK_GAP,
            Gap::Heading => HEADING_GAP,
        });
        if depth > 0 {
            // The marker stands in the space to the left of the text.
            tag.set_left_margin((depth - i32::from(marker)) * LIST_STEP);
            if marker {
                tag.set_indent(-LIST_STEP);
                let mut tabs = pango::TabArray::new(1, true);
                tabs.set_tab(0, pango::TabAlign::Left, LIST_STEP);
                tag.set_tabs(Some(&tabs));
            }
        }
        if let Some(scale) = HEADINGS.get(usize::from(line.heading).wrapping_sub(1)) {
            tag.set_scale(*scale);
            tag.set_weight(700);
        }
        if line.verbatim {
            tag.set_family(Some("monospace"));
            tag.set_scale(CODE_SCALE);
        }
        self.table.add(&tag);
        // A style within a paragraph wins over the paragraph's.
        tag.set_priority(0);
        Some(tag)
    }
}
