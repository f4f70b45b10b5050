//! Edits a model's options in a chat. Options that are not ticked are left to the server.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use chat_core::message::Options;
use gettextrs::gettext;
use relm4::gtk::prelude::*;

use crate::{accessible, nested_scroll};

/// The initial value of the spin button for the context window.
const USUAL_WINDOW: f64 = 16_384.0;
/// The smallest and largest context window that can be requested.
const WINDOWS: (f64, f64) = (1_024.0, 2_097_152.0);

/// The page with the options.
#[derive(Debug)]
pub(super) struct OptionsPage {
    root: gtk::Box,
    back: gtk::Button,
    window_line: gtk::Box,
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    temperature: Setting,
    window: Setting,
    /// The original options: those without a control here are kept.
    base: RefCell<Options>,
    showing: Cell<bool>,
}

/// A value that is set, or left to the server.
#[derive(Debug)]
struct Setting {
    check: gtk::CheckButton,
    value: gtk::SpinButton,
}

impl Setting {
    fn new(label: &str, value: gtk::SpinButton) -> Self {
        let check = gtk::CheckButton::builder().label(label).hexpand(true).build();
        accessible::set_label(&value, label);
        nested_scroll::pass_on_from_number(&value);
        check.bind_property("active", &value, "sensitive").sync_create().build();
        Self { check, value }
    }

    fn line(&self) -> gtk::Box {
        let line = gtk::Box::new(gtk::Orientation::Horizontal, 18);
        line.append(&self.check);
        line.append(&self.value);
        line
    }

    fn show(&self, value: Option<f64>) {
        self.check.set_active(value.is_some());
        if let Some(value) = value {
            self.value.set_value(value);
        }
    }

    fn get(&self) -> Option<f64> {
        self.check.is_active().then(|| self.value.value())
    }

    fn connect(&self, changed: impl Fn() + Clone + 'static) {
        let told = changed.clone();
        self.check.connect_active_notify(move |_| told());
        self.value.connect_value_changed(move |_| changed());
    }
}

impl OptionsPage {
    pub(super) fn new(output: impl Fn(Options) + 'static) -> Self {
        let temperature = gtk::SpinButton::with_range(0.0, 2.0, 0.1);
        temperature.set_value(0.7);
        let window = gtk::SpinButton::with_range(WINDOWS.0, WINDOWS.1, 1_024.0);
        window.set_value(USUAL_WINDOW);
        let inner = Rc::new(Inner {
            temperature: Setting::new(&gettext("Temperature"), temperature),
            window: Setting::new(&gettext("Context window (tokens)"), window),
            base: RefCell::default(),
            showing: Cell::new(false),
        });

        let back = gtk::Button::builder()
            .icon_name("go-previous-symbolic")
            .css_classes(["flat"])
            .tooltip_text(gettext("Back"))
            .build();
        accessible::set_label(&back, &gettext("Back"));
        let title = gtk::Label::builder()
            .label(gettext("Chat Options"))
            .css_classes(["heading"])
            .xalign(0.0)
            .build();
        let head = gtk::Box::new(gtk::Orientation::Horizontal, 6);
        head.append(&back);
        head.append(&title);
        let note = gtk::Label::builder()
            .label(gettext("Unchecked options use the server’s defaults."))
            .css_classes(["dim-label", "caption"])
            .xalign(0.0)
            .wrap(true)
            .build();
        let root = gtk::Box::new(gtk::Orientation::Vertical, 10);
        root.append(&head);
        root.append(&inner.temperature.line());
        let window_line = inner.window.line();
        root.append(&window_line);
        root.append(&note);

        let output = Rc::new(output);
        let weak = Rc::downgrade(&inner);
        let changed = move || {
            let Some(inner) = weak.upgrade() else { return };
            if !inner.showing.get() {
                let options = inner.options();
                inner.base.replace(options.clone());
                output(options);
            }
        };
        inner.temperature.connect(changed.clone());
        inner.window.connect(changed);
        Self { root, back, window_line, inner }
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Shows options without reporting a change.
    pub(super) fn show(&self, options: &Options) {
        let inner = &self.inner;
        if *inner.base.borrow() == *options {
            return;
        }
        inner.showing.set(true);
        inner.base.replace(options.clone());
        inner.temperature.show(options.temperature);
        inner.window.show(options.context_window.map(f64::from));
        inner.showing.set(false);
    }

    /// Shows the context window only if a request can set it.
    pub(super) fn set_window_can_be_set(&self, can: bool) {
        self.window_line.set_visible(can);
    }

    pub(super) fn focus(&self) {
        self.inner.temperature.check.grab_focus();
    }

    pub(super) fn connect_back(&self, back: impl Fn() + 'static) {
        self.back.connect_clicked(move |_| back());
    }
}

impl Inner {
    fn options(&self) -> Options {
        Options {
            // The control shows one decimal place.
            temperature: self.temperature.get().map(|t| (t * 10.0).round() / 10.0),
            context_window: self.window.get().map(|tokens| tokens as u32),
            ..self.base.borrow().clone()
        }
    }
}
