//! Shows a row about one model: what it is, the progress of its download, and its buttons.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use adw::prelude::*;
use chat_presentation::words::fill;
use gettextrs::gettext;
use gtk::pango;

use super::has_keyboard;
use crate::{accessible, adaptive_pair};

/// An action on a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Download,
    Pause,
    Resume,
    Retry,
    Cancel,
    Add,
    Delete,
    Remove,
}

/// The content of a row below its title.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RowContents {
    /// What is known about the model.
    pub(crate) about: String,
    /// The progress, from 0 to 1.
    pub(crate) fraction: Option<f64>,
    /// The state, as text.
    pub(crate) state: Option<String>,
    /// Whether the state is an error.
    pub(crate) wrong: bool,
    pub(crate) acts: Vec<Act>,
}

type OnAct = Rc<dyn Fn(Act)>;

/// The row. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ModelRow {
    inner: Rc<Inner>,
}

struct Inner {
    row: adw::PreferencesRow,
    title: gtk::Label,
    about: gtk::Label,
    bar: gtk::ProgressBar,
    state: gtk::Label,
    buttons: gtk::Box,
    /// The name that its buttons' accessible names refer to.
    subject: RefCell<String>,
    shown: RefCell<RowContents>,
    on_act: RefCell<Option<OnAct>>,
}

/// A weak reference to a row.
pub(crate) struct WeakRow(Weak<Inner>);

impl WeakRow {
    pub(crate) fn upgrade(&self) -> Option<ModelRow> {
        self.0.upgrade().map(|inner| ModelRow { inner })
    }
}

impl std::fmt::Debug for ModelRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelRow").field("title", &self.inner.title.label()).finish()
    }
}

impl ModelRow {
    pub(crate) fn new(icon: &str, title: &str) -> Self {
        let label = |class| {
            gtk::Label::builder()
                .xalign(0.0)
                .wrap(true)
                .wrap_mode(pango::WrapMode::WordChar)
                .css_classes([class])
                .build()
        };
        let (name, about, state) = (label("title"), label("subtitle"), label("model-state"));
        let bar = gtk::ProgressBar::builder().margin_top(5).margin_bottom(3).build();
        about.set_visible(false);
        bar.set_visible(false);
        state.set_visible(false);
        let text = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .valign(gtk::Align::Center)
            .spacing(3)
            .build();
        for part in [name.upcast_ref::<gtk::Widget>(), about.upcast_ref(), bar.upcast_ref()] {
            text.append(part);
        }
        text.append(&state);
        let buttons =
            gtk::Box::builder().spacing(6).valign(gtk::Align::Center).visible(false).build();
        let line = gtk::Box::builder().spacing(6).css_classes(["header", "model-line"]).build();
        line.append(&gtk::Image::from_icon_name(icon));
        line.append(&adaptive_pair::words(&text, &buttons));
        let row = adw::PreferencesRow::builder().child(&line).activatable(false).build();
        accessible::set_label(&row, title);
        name.set_label(title);
        let inner = Inner {
            row,
            title: name,
            about,
            bar,
            state,
            buttons,
            subject: RefCell::new(title.to_owned()),
            shown: RefCell::default(),
            on_act: RefCell::default(),
        };
        Self { inner: Rc::new(inner) }
    }

    /// Creates a row whose title is not the model's name; `subject` is.
    pub(crate) fn about(icon: &str, title: &str, subject: &str) -> Self {
        let this = Self::new(icon, title);
        this.inner.subject.replace(subject.to_owned());
        this
    }

    /// For closures that the row itself owns.
    pub(crate) fn downgrade(&self) -> WeakRow {
        WeakRow(Rc::downgrade(&self.inner))
    }

    pub(crate) fn widget(&self) -> &adw::PreferencesRow {
        &self.inner.row
    }

    /// Focuses its first button. Returns whether it has one.
    pub(crate) fn focus(&self) -> bool {
        self.inner.buttons.first_child().is_some_and(|first| first.grab_focus())
    }

    /// Sets what happens when a button is pressed.
    pub(crate) fn connect_act(&self, on_act: impl Fn(Act) + 'static) {
        self.inner.on_act.replace(Some(Rc::new(on_act)));
    }

    /// Shows the state. What has not changed is not touched.
    pub(crate) fn show(&self, contents: RowContents) {
        let inner = &self.inner;
        if *inner.shown.borrow() == contents {
            return;
        }
        inner.about.set_label(&contents.about);
        inner.about.set_visible(!contents.about.is_empty());
        inner.bar.set_visible(contents.fraction.is_some());
        inner.bar.set_fraction(contents.fraction.unwrap_or_default());
        inner.state.set_label(contents.state.as_deref().unwrap_or_default());
        inner.state.set_visible(contents.state.is_some());
        if contents.wrong {
            inner.state.add_css_class("error");
        } else {
            inner.state.remove_css_class("error");
        }
        let before = inner.shown.replace(contents);
        if before.acts != inner.shown.borrow().acts {
            self.show_acts(&inner.shown.borrow().acts.clone());
        }
    }

    /// Replaces the buttons. If an old one had the focus, the first new one gets it.
    fn show_acts(&self, acts: &[Act]) {
        let buttons = &self.inner.buttons;
        let had_keyboard = has_keyboard(buttons);
        if had_keyboard {
            // Keeps the focus here while the buttons change.
            self.inner.row.grab_focus();
        }
        while let Some(old) = buttons.first_child() {
            buttons.remove(&old);
        }
        for act in acts {
            buttons.append(&self.button(*act));
        }
        buttons.set_visible(!acts.is_empty());
        if let (true, Some(first)) = (had_keyboard, buttons.first_child()) {
            first.grab_focus();
        }
    }

    fn button(&self, act: Act) -> gtk::Button {
        let (icon, label, name) = act.words();
        let name = fill(&name, &[("model", &self.inner.subject.borrow())]);
        let button = gtk::Button::builder().valign(gtk::Align::Center).build();
        match icon {
            Some(icon) => {
                button.set_icon_name(icon);
                button.add_css_class("flat");
                button.set_tooltip_text(Some(&label));
            }
            None => button.set_label(&label),
        }
        accessible::set_label(&button, &name);
        let inner = Rc::downgrade(&self.inner);
        button.connect_clicked(move |_| {
            let on_act = inner.upgrade().and_then(|inner| inner.on_act.borrow().clone());
            if let Some(on_act) = on_act {
                on_act(act);
            }
        });
        button
    }
}

impl Act {
    /// The icon of its button, if it has one, its label, and its accessible name.
    fn words(self) -> (Option<&'static str>, String, String) {
        match self {
            Self::Download => (None, gettext("Download"), gettext("Download {model}")),
            Self::Pause => (
                Some("media-playback-pause-symbolic"),
                gettext("Pause"),
                gettext("Pause the download of {model}"),
            ),
            Self::Resume => (None, gettext("Resume"), gettext("Resume the download of {model}")),
            Self::Retry => (None, gettext("Retry"), gettext("Retry the download of {model}")),
            Self::Cancel => (
                Some("window-close-symbolic"),
                gettext("Cancel"),
                gettext("Cancel the download of {model}"),
            ),
            Self::Add => (None, gettext("Add"), gettext("Add {model}")),
            Self::Delete => {
                (Some("user-trash-symbolic"), gettext("Delete…"), gettext("Delete {model}"))
            }
            Self::Remove => (
                Some("list-remove-symbolic"),
                gettext("Remove from List"),
                gettext("Remove {model} from the list"),
            ),
        }
    }
}
