//! The model dropdown: the models of all connections with what each can do, a search where there
//! are many, the options of the chosen one, and the way to the connections.

mod list;
mod options;
mod rows;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use chat_core::event::ModelEntry;
use chat_core::message::{ModelRef, Options};
use gettextrs::gettext;
use gtk::{gdk, glib};
use relm4::gtk::prelude::*;

use crate::accessible;
use list::ModelList;
use options::OptionsPage;
use rows::rows;

/// From so many models on one wants to type rather than look.
const SEARCH_FROM: usize = 8;

/// What a person does with the dropdown.
#[derive(Debug)]
pub(crate) enum Output {
    /// This model was chosen.
    Chosen(ModelRef),
    /// The options were changed.
    Options(Options),
    /// The connections are asked for.
    Connections,
}

/// The dropdown. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct ModelPicker {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    button: gtk::MenuButton,
    label: gtk::Label,
    popover: gtk::Popover,
    pages: gtk::Stack,
    search: gtk::SearchEntry,
    list: ModelList,
    nothing: gtk::Label,
    options_button: gtk::Button,
    options: OptionsPage,
    models: RefCell<Vec<ModelEntry>>,
    chosen: RefCell<Option<ModelRef>>,
    stale: Cell<bool>,
}

impl ModelPicker {
    pub(crate) fn new(output: impl Fn(Output) + 'static) -> Self {
        let output: Rc<dyn Fn(Output)> = Rc::new(output);
        let label = gtk::Label::builder()
            .ellipsize(gtk::pango::EllipsizeMode::Middle)
            .max_width_chars(24)
            .build();
        let popover = gtk::Popover::new();
        let button = gtk::MenuButton::builder()
            .child(&label)
            .always_show_arrow(true)
            .popover(&popover)
            .css_classes(["flat"])
            .build();
        accessible::set_label(&button, &gettext("Model"));

        let search = gtk::SearchEntry::builder().placeholder_text(gettext("Search models")).build();
        let list = ModelList::new();
        let nothing = gtk::Label::builder()
            .css_classes(["dim-label"])
            .margin_top(18)
            .margin_bottom(18)
            .wrap(true)
            .width_chars(30)
            .max_width_chars(30)
            .justify(gtk::Justification::Center)
            .build();
        let options_button = flat_button(&gettext("Options…"));
        let connections = flat_button(&gettext("Connections…"));
        let first = gtk::Box::new(gtk::Orientation::Vertical, 6);
        first.append(&search);
        first.append(list.widget());
        first.append(&nothing);
        first.append(&gtk::Separator::new(gtk::Orientation::Horizontal));
        first.append(&options_button);
        first.append(&connections);

        let options = OptionsPage::new({
            let output = Rc::clone(&output);
            move |options| output(Output::Options(options))
        });
        let pages = gtk::Stack::builder().vhomogeneous(false).interpolate_size(true).build();
        pages.add_named(&first, Some("models"));
        pages.add_named(options.widget(), Some("options"));
        popover.set_child(Some(&pages));

        let picker = Self {
            inner: Rc::new(Inner {
                button,
                label,
                popover,
                pages,
                search,
                list,
                nothing,
                options_button,
                options,
                models: RefCell::default(),
                chosen: RefCell::default(),
                stale: Cell::new(true),
            }),
        };
        picker.show_label();
        picker.connect(&connections, &output);
        picker
    }

    fn connect(&self, connections: &gtk::Button, output: &Rc<dyn Fn(Output)>) {
        let inner = &self.inner;
        let weak = Rc::downgrade(inner);
        inner.popover.connect_show(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.open();
            }
        });
        let weak = Rc::downgrade(inner);
        inner.search.connect_search_changed(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.fill();
            }
        });
        inner.search.set_key_capture_widget(Some(inner.list.widget()));
        let weak = Rc::downgrade(inner);
        inner.search.connect_activate(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.list.activate_selected();
            }
        });
        let keys = gtk::EventControllerKey::new();
        let weak = Rc::downgrade(inner);
        keys.connect_key_pressed(move |_, key, _, _| {
            let Some(inner) = weak.upgrade() else { return glib::Propagation::Proceed };
            if key == gdk::Key::Down {
                inner.list.focus();
                return glib::Propagation::Stop;
            }
            glib::Propagation::Proceed
        });
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        inner.search.add_controller(keys);

        let weak = Rc::downgrade(inner);
        let told = Rc::clone(output);
        inner.list.connect_chosen(move |model| {
            if let Some(inner) = weak.upgrade() {
                inner.popover.popdown();
            }
            told(Output::Chosen(model));
        });
        let weak = Rc::downgrade(inner);
        inner.options_button.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.pages.set_visible_child_name("options");
                inner.options.focus();
            }
        });
        let weak = Rc::downgrade(inner);
        inner.options.connect_back(move || {
            if let Some(inner) = weak.upgrade() {
                inner.pages.set_visible_child_name("models");
            }
        });
        let weak = Rc::downgrade(inner);
        let told = Rc::clone(output);
        connections.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.popover.popdown();
            }
            told(Output::Connections);
        });
    }

    pub(crate) fn widget(&self) -> &gtk::MenuButton {
        &self.inner.button
    }

    /// Takes the models that can be chosen.
    pub(crate) fn set_models(&self, models: Vec<ModelEntry>) {
        self.inner.models.replace(models);
        self.inner.stale.set(true);
        if self.inner.popover.is_visible() {
            self.inner.fill();
        }
    }

    /// Shows which model is chosen, with its options.
    pub(crate) fn set_chosen(&self, model: Option<ModelRef>, options: &Options) {
        self.inner.options.show(options);
        if *self.inner.chosen.borrow() != model {
            self.inner.chosen.replace(model);
            self.inner.stale.set(true);
            self.show_label();
        }
    }

    /// Opens the list, as when a message needs another model.
    pub(crate) fn open(&self) {
        self.inner.button.popup();
    }

    fn show_label(&self) {
        let chosen = self.inner.chosen.borrow();
        let words = match &*chosen {
            Some(model) => model.model.clone(),
            None => gettext("Choose a model"),
        };
        self.inner.label.set_label(&words);
        let hint = chosen.as_ref().map_or_else(|| gettext("Model"), ToString::to_string);
        self.inner.button.set_tooltip_text(Some(&hint));
        self.inner.options_button.set_sensitive(chosen.is_some());
    }
}

impl Inner {
    fn open(&self) {
        self.pages.set_visible_child_name("models");
        let many = self.models.borrow().len() >= SEARCH_FROM;
        self.search.set_visible(many);
        if !self.search.text().is_empty() {
            self.search.set_text("");
            self.stale.set(true);
        }
        if self.stale.get() {
            self.fill();
        }
        if many {
            self.search.grab_focus();
        } else {
            self.list.focus();
        }
    }

    fn fill(&self) {
        let models = self.models.borrow();
        let rows = rows(&models, &self.search.text());
        let words = if !rows.is_empty() {
            None
        } else if models.is_empty() {
            Some(gettext("No models yet. Add a connection to a server that has some."))
        } else {
            Some(gettext("No model found"))
        };
        self.nothing.set_visible(words.is_some());
        self.nothing.set_label(&words.unwrap_or_default());
        self.list.widget().set_visible(!rows.is_empty());
        self.list.fill(rows, self.chosen.borrow().as_ref());
        self.stale.set(false);
    }
}

fn flat_button(label: &str) -> gtk::Button {
    let words = gtk::Label::builder().label(label).xalign(0.0).build();
    gtk::Button::builder().child(&words).css_classes(["flat"]).build()
}
