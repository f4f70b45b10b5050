//! Edits a model's options in a chat. Options that are not ticked are left to the server.

mod setting;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use chat_core::message::{OptionName, Options};
use gettextrs::gettext;
use relm4::gtk::prelude::*;

use crate::accessible;
use setting::Setting;

/// These are always shown; the others are below "More Options".
const FIRST: [OptionName; 3] =
    [OptionName::Temperature, OptionName::ContextWindow, OptionName::MaxTokens];
/// The height from which the options scroll, in pixels.
const HIGHEST: i32 = 380;

/// What the user does on the page.
#[derive(Debug)]
pub(super) enum OptionsOutput {
    /// The chat's options were changed.
    Changed(Options),
    /// These are to be the options of new chats with the model.
    Default(Options),
}

/// The page with the options.
#[derive(Debug)]
pub(super) struct OptionsPage {
    root: gtk::Box,
    back: gtk::Button,
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    settings: Vec<Setting>,
    more: gtk::Expander,
    /// The options that the settings show.
    shown: RefCell<Options>,
    /// The options that requests to the model can say; none while that is not known.
    taken: RefCell<Option<Vec<OptionName>>>,
    showing: Cell<bool>,
}

impl OptionsPage {
    pub(super) fn new(output: impl Fn(OptionsOutput) + 'static) -> Self {
        let column = || gtk::Box::new(gtk::Orientation::Vertical, 10);
        let (first, others) = (column(), column());
        others.set_margin_top(10);
        let settings: Vec<_> = OptionName::ALL.into_iter().map(Setting::new).collect();
        for setting in &settings {
            let place = if FIRST.contains(&setting.option()) { &first } else { &others };
            place.append(setting.widget());
        }
        let more = gtk::Expander::builder().label(gettext("More Options")).child(&others).build();
        let all = column();
        // Beside the scroll bar.
        all.set_margin_end(12);
        all.append(&first);
        all.append(&more);
        let scroller = gtk::ScrolledWindow::builder()
            .child(&all)
            .hscrollbar_policy(gtk::PolicyType::Never)
            .propagate_natural_height(true)
            .propagate_natural_width(true)
            .max_content_height(HIGHEST)
            .build();

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
        let keep = gtk::Button::with_label(&gettext("Use for New Chats with This Model"));
        let root = column();
        root.append(&head);
        root.append(&scroller);
        root.append(&note);
        root.append(&keep);

        let inner = Rc::new(Inner {
            settings,
            more,
            shown: RefCell::default(),
            taken: RefCell::default(),
            showing: Cell::new(false),
        });
        let output = Rc::new(output);
        for (at, setting) in inner.settings.iter().enumerate() {
            let (weak, output) = (Rc::downgrade(&inner), Rc::clone(&output));
            setting.connect(move || {
                if let Some(options) = weak.upgrade().and_then(|inner| inner.changed(at)) {
                    output(OptionsOutput::Changed(options));
                }
            });
        }
        let weak = Rc::downgrade(&inner);
        keep.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                output(OptionsOutput::Default(inner.shown.borrow().clone()));
            }
        });
        Self { root, back, inner }
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Shows options without reporting a change.
    pub(super) fn show(&self, options: &Options) {
        let inner = &self.inner;
        if *inner.shown.borrow() == *options {
            return;
        }
        inner.showing.set(true);
        for setting in &inner.settings {
            setting.show(options.text(setting.option()).as_deref());
        }
        inner.showing.set(false);
        inner.shown.replace(options.clone());
        inner.show_taken();
    }

    /// Shows the options that requests to the model can say, and others that are set all the same.
    pub(super) fn set_taken(&self, taken: Option<&[OptionName]>) {
        if self.inner.taken.borrow().as_deref() != taken {
            self.inner.taken.replace(taken.map(<[_]>::to_vec));
            self.inner.show_taken();
        }
    }

    pub(super) fn focus(&self) {
        self.inner.settings.iter().find(|it| it.widget().is_visible()).map(Setting::focus);
    }

    pub(super) fn connect_back(&self, back: impl Fn() + 'static) {
        self.back.connect_clicked(move |_| back());
    }
}

impl Inner {
    /// The options after the user used a setting; none where that changes nothing.
    fn changed(&self, at: usize) -> Option<Options> {
        if self.showing.get() {
            return None;
        }
        let setting = &self.settings[at];
        let mut options = self.shown.borrow().clone();
        let result = options.set_text(setting.option(), setting.text().as_deref());
        setting.mark(result.is_err());
        if result.is_err() || *self.shown.borrow() == options {
            return None;
        }
        self.shown.replace(options.clone());
        Some(options)
    }

    fn show_taken(&self) {
        let (taken, shown) = (self.taken.borrow(), self.shown.borrow());
        let mut more = false;
        for setting in &self.settings {
            let option = setting.option();
            let is_taken = taken.as_ref().is_none_or(|taken| taken.contains(&option));
            let is_visible = is_taken || shown.text(option).is_some();
            setting.widget().set_visible(is_visible);
            setting.set_taken(is_taken);
            more |= is_visible && !FIRST.contains(&option);
        }
        self.more.set_visible(more);
    }
}
