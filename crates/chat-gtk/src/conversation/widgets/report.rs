//! Draws what an agent in the background reported: a card with its first lines, which opens.

use std::cell::RefCell;
use std::rc::Rc;

use gettextrs::gettext;
use gtk::pango;
use gtk::prelude::*;

use chat_core::message::AgentReport;
use chat_presentation::words::{agent_state, fill, one_line, sentence, visible};

use super::context::WidgetContext;
use super::rich_text::{RichText, plain};
use super::tags::Tags;
use crate::accessible;

/// The icon of an agent that speaks in place of the user.
pub const AGENT: &str = "system-users-symbolic";
/// How many lines of a closed card are shown.
const LINES: i32 = 3;
/// More than these lines hold, in bytes.
const BEGINNING: usize = 800;

/// The card of a report. Cheap to clone.
#[derive(Clone)]
pub struct ReportCard {
    parts: Rc<Parts>,
}

struct Parts {
    root: gtk::Box,
    button: gtk::Button,
    arrow: gtk::Image,
    beginning: gtk::Label,
    name: String,
    text: String,
    context: WidgetContext,
    /// All of it, while it is open.
    body: RefCell<Option<RichText>>,
}

impl ReportCard {
    /// The closed card of a report.
    pub fn new(report: &AgentReport, context: &WidgetContext) -> Self {
        let name = fill(&gettext("Report from {name}"), &[("name", &one_line(&report.name))]);
        let state = agent_state(report.state);
        let text = visible(report.text.trim()).into_owned();
        let arrow = gtk::Image::from_icon_name("pan-end-symbolic");
        arrow.add_css_class("dim-label");
        let title = gtk::Label::builder()
            .label(&name)
            .use_markup(false)
            .xalign(0.0)
            .hexpand(true)
            .ellipsize(pango::EllipsizeMode::End)
            .build();
        let aside = gtk::Label::builder().label(&state).css_classes(["expander-aside"]).build();
        let line = gtk::Box::builder().spacing(9).build();
        line.append(&arrow);
        line.append(&gtk::Image::from_icon_name(AGENT));
        line.append(&title);
        line.append(&aside);
        let button =
            gtk::Button::builder().child(&line).css_classes(["flat", "report-line"]).build();
        accessible::set_label(&button, &[name.as_str(), &state].join(", "));
        let root = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .accessible_role(gtk::AccessibleRole::Group)
            .css_classes(["report"])
            .build();
        accessible::set_label(&root, &name);
        root.append(&button);
        if let Some(error) = &report.error {
            root.append(&label(&sentence(error)));
        }
        let beginning = label(&plain(&text[..text.floor_char_boundary(BEGINNING)]));
        beginning.set_lines(LINES);
        beginning.set_ellipsize(pango::EllipsizeMode::End);
        root.append(&beginning);
        // Without a text there is nothing to open.
        arrow.set_visible(!text.is_empty());
        beginning.set_visible(!text.is_empty());
        button.set_can_target(!text.is_empty());
        button.set_focusable(!text.is_empty());
        let context = context.clone();
        let body = RefCell::default();
        if !text.is_empty() {
            accessible::set_expanded(&button, false);
        }
        let parts = Rc::new(Parts { root, button, arrow, beginning, name, text, context, body });
        let weak = Rc::downgrade(&parts);
        parts.button.connect_clicked(move |_| {
            if let Some(parts) = weak.upgrade() {
                (parts.context.hold)();
                let card = Self { parts };
                if !card.open() {
                    card.close();
                }
            }
        });
        Self { parts }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.parts.root
    }

    /// Shows all of the report. Whether it was closed.
    pub fn open(&self) -> bool {
        let parts = &self.parts;
        if parts.body.borrow().is_some() || parts.text.is_empty() {
            return false;
        }
        let body = RichText::new(&parts.text, &parts.name, &parts.context);
        body.widget().add_css_class("report-text");
        parts.root.append(body.widget());
        parts.beginning.set_visible(false);
        parts.arrow.set_icon_name(Some("pan-down-symbolic"));
        accessible::set_expanded(&parts.button, true);
        parts.body.replace(Some(body));
        true
    }

    fn close(&self) {
        let parts = &self.parts;
        if let Some(body) = parts.body.take() {
            parts.root.remove(body.widget());
            parts.beginning.set_visible(true);
            parts.arrow.set_icon_name(Some("pan-end-symbolic"));
            accessible::set_expanded(&parts.button, false);
        }
    }

    /// Takes the theme's colours.
    pub fn recolour(&self, tags: &Tags) {
        if let Some(body) = &*self.parts.body.borrow() {
            body.recolour(tags);
        }
    }

    /// The project has other files.
    pub fn mark_files(&self) {
        if let Some(body) = &*self.parts.body.borrow() {
            body.mark_files();
        }
    }
}

/// A text below the line; what an agent says is never markup.
fn label(text: &str) -> gtk::Label {
    gtk::Label::builder()
        .label(text)
        .use_markup(false)
        .wrap(true)
        .wrap_mode(pango::WrapMode::WordChar)
        .xalign(0.0)
        .css_classes(["report-text", "dim-label"])
        .build()
}
