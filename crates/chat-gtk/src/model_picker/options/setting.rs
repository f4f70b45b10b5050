//! Shows an option: whether it is set, and its value.

use chat_core::message::{OptionKind, OptionName};
use chat_presentation::words;
use gettextrs::gettext;
use relm4::gtk::prelude::*;

use crate::{accessible, nested_scroll};

/// The width of an entry for a short text, in letters.
const SHORT: i32 = 10;
/// The height of a field for several lines, in pixels.
const LINES: i32 = 64;

/// An option that is set, or left to the server.
#[derive(Debug)]
pub(super) struct Setting {
    option: OptionName,
    root: gtk::Box,
    check: gtk::CheckButton,
    value: Value,
    /// Why the value cannot be used, or that the model does not use it.
    note: gtk::Label,
}

/// The widget for a value, as the kind of the option wants it.
#[derive(Debug)]
enum Value {
    Number { field: gtk::SpinButton, digits: usize },
    Short(gtk::Entry),
    Long { field: gtk::TextView, frame: gtk::ScrolledWindow },
}

impl Setting {
    pub(super) fn new(option: OptionName) -> Self {
        let title = words::option_title(option);
        let check = gtk::CheckButton::builder()
            .label(&title)
            .tooltip_text(words::option_hint(option))
            .hexpand(true)
            .build();
        let value = Value::new(option.kind());
        let field = value.widget();
        accessible::set_label(field, &title);
        field.set_tooltip_text(Some(&words::option_hint(option)));
        check.bind_property("active", field, "sensitive").sync_create().build();
        let note = gtk::Label::builder()
            .css_classes(["caption", "error"])
            .xalign(0.0)
            .wrap(true)
            .max_width_chars(30)
            .visible(false)
            .build();
        let is_long = matches!(value, Value::Long { .. });
        let orientation =
            if is_long { gtk::Orientation::Vertical } else { gtk::Orientation::Horizontal };
        let line = gtk::Box::new(orientation, if is_long { 6 } else { 18 });
        line.append(&check);
        line.append(value.root());
        let root = gtk::Box::new(gtk::Orientation::Vertical, 3);
        root.append(&line);
        root.append(&note);
        Self { option, root, check, value, note }
    }

    pub(super) fn option(&self) -> OptionName {
        self.option
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    pub(super) fn focus(&self) {
        self.check.grab_focus();
    }

    /// Shows a value, or that it is left to the server.
    pub(super) fn show(&self, text: Option<&str>) {
        self.check.set_active(text.is_some());
        if let Some(text) = text {
            self.value.set(text);
        }
        self.mark(false);
    }

    /// The value as it was typed; none where it is left to the server.
    pub(super) fn text(&self) -> Option<String> {
        self.check.is_active().then(|| self.value.text())
    }

    /// Says whether the value can be used.
    pub(super) fn mark(&self, is_bad: bool) {
        let field = self.value.widget();
        if is_bad {
            self.note.set_label(&words::bad_option(self.option));
            field.add_css_class("error");
        } else {
            field.remove_css_class("error");
        }
        self.note.set_visible(is_bad);
    }

    /// Says whether requests to the model can say it.
    pub(super) fn set_taken(&self, taken: bool) {
        if !taken {
            self.note.set_label(&gettext("Not used: this server has no such option."));
            self.note.set_visible(true);
        } else if !self.value.widget().has_css_class("error") {
            self.note.set_visible(false);
        }
    }

    pub(super) fn connect(&self, changed: impl Fn() + Clone + 'static) {
        let told = changed.clone();
        self.check.connect_active_notify(move |_| told());
        match &self.value {
            Value::Number { field, .. } => {
                field.connect_value_changed(move |_| changed());
            }
            Value::Short(field) => {
                field.connect_changed(move |_| changed());
            }
            Value::Long { field, .. } => {
                field.buffer().connect_changed(move |_| changed());
            }
        }
    }
}

impl Value {
    fn new(kind: OptionKind) -> Self {
        let number = |min: f64, max: f64, step: f64, usual: f64, digits: usize| {
            let field = gtk::SpinButton::with_range(min, max, step);
            field.set_digits(digits as u32);
            field.set_value(usual);
            field.set_valign(gtk::Align::Center);
            nested_scroll::pass_on_from_number(&field);
            Self::Number { field, digits }
        };
        match kind {
            OptionKind::Number { min, max, usual } => number(min, max, 0.05, usual, 2),
            OptionKind::Whole { min, max, usual } => {
                let step = if min > 1 { min as f64 } else { 1.0 };
                number(min as f64, max as f64, step, usual as f64, 0)
            }
            OptionKind::Duration => {
                let field = gtk::Entry::builder()
                    .text("10m")
                    .width_chars(SHORT)
                    .max_width_chars(SHORT)
                    .valign(gtk::Align::Center)
                    .build();
                Self::Short(field)
            }
            OptionKind::Lines | OptionKind::Schema => {
                let field = gtk::TextView::builder()
                    .accepts_tab(false)
                    .monospace(true)
                    .top_margin(6)
                    .bottom_margin(6)
                    .left_margin(6)
                    .right_margin(6)
                    .build();
                let frame = gtk::ScrolledWindow::builder()
                    .child(&field)
                    .height_request(LINES)
                    .has_frame(true)
                    .build();
                nested_scroll::pass_on(&frame);
                Self::Long { field, frame }
            }
        }
    }

    /// The widget that takes the keyboard.
    fn widget(&self) -> &gtk::Widget {
        match self {
            Self::Number { field, .. } => field.upcast_ref(),
            Self::Short(field) => field.upcast_ref(),
            Self::Long { field, .. } => field.upcast_ref(),
        }
    }

    fn root(&self) -> &gtk::Widget {
        match self {
            Self::Long { frame, .. } => frame.upcast_ref(),
            _ => self.widget(),
        }
    }

    fn set(&self, text: &str) {
        match self {
            Self::Number { field, .. } => field.set_value(text.parse().unwrap_or_default()),
            Self::Short(field) => field.set_text(text),
            Self::Long { field, .. } => field.buffer().set_text(text),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Number { field, digits } => {
                // As it is shown: 0.7, and not what is next to it in binary.
                let shown = format!("{:.digits$}", field.value());
                shown.parse::<f64>().map_or(shown, |number| number.to_string())
            }
            Self::Short(field) => field.text().into(),
            Self::Long { field, .. } => {
                let buffer = field.buffer();
                buffer.text(&buffer.start_iter(), &buffer.end_iter(), false).into()
            }
        }
    }
}
