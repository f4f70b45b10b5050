//! Shows the model dropdown: all models with their abilities, a search, options, and a link to the
//! connections.

mod keys;
mod list;
mod options;
mod row;
mod rows;
mod search;

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use chat_core::event::ModelEntry;
use chat_core::message::{ModelRef, OptionName, Options};
use gettextrs::gettext;
use relm4::gtk::prelude::*;

use crate::models::words::name_among;
use crate::{accessible, popover};
use list::{ModelList, ModelListOutput};
use options::{OptionsOutput, OptionsPage};
use rows::rows;

/// Messages of the dropdown.
#[derive(Debug)]
pub(crate) enum Output {
    /// The user chose this model.
    Chosen(ModelRef),
    /// Make this model a favourite, or no longer one.
    Favourite(ModelRef, bool),
    /// The options were changed.
    Options(Options),
    /// These are to be the options of new chats with this model.
    DefaultOptions(ModelRef, Options),
    /// Edit what the model is told.
    Instructions,
    /// Show the models on this computer.
    Manage,
    /// Show the connections.
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
    /// What choosing does, where that is more than usual.
    heading: gtk::Label,
    search: gtk::SearchEntry,
    list: ModelList,
    nothing: gtk::Label,
    options_button: gtk::Button,
    /// What is about the chat, and not about choosing a model.
    of_chat: gtk::Box,
    options: OptionsPage,
    models: RefCell<Vec<ModelEntry>>,
    favourites: RefCell<Vec<ModelRef>>,
    chosen: RefCell<Option<ModelRef>>,
    /// The query whose results the list shows.
    query: RefCell<String>,
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
        popover::silence_tooltip(&button);

        let search = gtk::SearchEntry::builder().placeholder_text(gettext("Search models")).build();
        accessible::set_label(&search, &gettext("Search Models"));
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
        let instructions = flat_button(&gettext("Instructions…"));
        let manage = flat_button(&gettext("Manage Models…"));
        let connections = flat_button(&gettext("Connections…"));
        let heading = gtk::Label::builder()
            .xalign(0.0)
            .wrap(true)
            .visible(false)
            .margin_start(6)
            .margin_top(2)
            .css_classes(["heading"])
            .build();
        let of_chat = gtk::Box::new(gtk::Orientation::Vertical, 6);
        of_chat.append(&options_button);
        of_chat.append(&instructions);
        let first = gtk::Box::new(gtk::Orientation::Vertical, 6);
        first.append(&heading);
        first.append(&search);
        let pages = gtk::Stack::builder().vhomogeneous(false).interpolate_size(true).build();
        pages.add_named(&first, Some("models"));
        popover.set_child(Some(&pages));

        let inner = Rc::new_cyclic(|weak: &Weak<Inner>| {
            let (weak, own) = (weak.clone(), weak);
            let told = Rc::clone(&output);
            let list = ModelList::new(move |from| {
                if let Some(inner) = weak.upgrade() {
                    inner.hear_list(from, &told);
                }
            });
            let options = OptionsPage::new({
                let (weak, output) = (own.clone(), Rc::clone(&output));
                move |from| {
                    if let Some(inner) = weak.upgrade() {
                        inner.hear_options(from, &output);
                    }
                }
            });
            pages.add_named(options.widget(), Some("options"));
            first.append(list.widget());
            first.append(&nothing);
            first.append(&gtk::Separator::new(gtk::Orientation::Horizontal));
            first.append(&of_chat);
            first.append(&manage);
            first.append(&connections);
            Inner {
                button,
                label,
                popover,
                pages,
                heading,
                search,
                list,
                nothing,
                options_button,
                of_chat,
                options,
                models: RefCell::default(),
                favourites: RefCell::default(),
                chosen: RefCell::default(),
                query: RefCell::default(),
            }
        });
        let picker = Self { inner };
        picker.inner.show_label();
        picker.connect(&output);
        picker.connect_way(&instructions, || Output::Instructions, &output);
        picker.connect_way(&manage, || Output::Manage, &output);
        picker.connect_way(&connections, || Output::Connections, &output);
        picker
    }

    fn connect(&self, output: &Rc<dyn Fn(Output)>) {
        let inner = &self.inner;
        // Filled before it is shown: GTK 4.8 may keep the size of a list that is filled afterwards.
        let weak = Rc::downgrade(inner);
        inner.button.set_create_popup_func(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.fill_all();
            }
        });
        let weak = Rc::downgrade(inner);
        inner.popover.connect_show(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.focus();
                inner.list.reveal_selected();
            }
        });
        let weak = Rc::downgrade(inner);
        inner.popover.connect_closed(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.set_heading("");
            }
        });
        let weak = Rc::downgrade(inner);
        inner.search.connect_search_changed(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.look_for();
            }
        });
        let weak = Rc::downgrade(inner);
        inner.search.connect_stop_search(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.popover.popdown();
            }
        });
        inner.search.set_key_capture_widget(Some(inner.list.widget()));
        let weak = Rc::downgrade(inner);
        let told = Rc::clone(output);
        inner.search.connect_activate(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.take_found(&told);
            }
        });
        keys::connect(inner, output);
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
    }

    /// Connects a button that opens another window.
    fn connect_way(&self, button: &gtk::Button, way: fn() -> Output, output: &Rc<dyn Fn(Output)>) {
        let (weak, told) = (Rc::downgrade(&self.inner), Rc::clone(output));
        button.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.popover.popdown();
            }
            told(way());
        });
    }

    pub(crate) fn widget(&self) -> &gtk::MenuButton {
        &self.inner.button
    }

    /// Sets the models that can be chosen.
    pub(crate) fn set_models(&self, models: Vec<ModelEntry>) {
        self.inner.models.replace(models);
        self.inner.show_label();
        self.inner.refill();
    }

    /// Sets the models that are listed first.
    pub(crate) fn set_favourites(&self, favourites: &[ModelRef]) {
        if *self.inner.favourites.borrow() != favourites {
            self.inner.favourites.replace(favourites.to_owned());
            self.inner.refill();
        }
    }

    /// Shows which model is chosen, with its options, and those that its server knows, if that is known.
    pub(crate) fn set_chosen(
        &self,
        model: Option<ModelRef>,
        options: &Options,
        taken: Option<&[OptionName]>,
    ) {
        self.inner.options.show(options);
        self.inner.options.set_taken(taken);
        if *self.inner.chosen.borrow() != model {
            self.inner.chosen.replace(model);
            self.inner.show_label();
            self.inner.refill();
        }
    }

    /// Opens the list, as when a message needs another model.
    pub(crate) fn open(&self) {
        self.inner.button.popup();
    }

    /// Opens the list this once for what these words say, which are above it.
    pub(crate) fn open_for(&self, words: &str) {
        self.inner.set_heading(words);
        self.inner.button.popup();
    }
}

impl Inner {
    fn hear_list(&self, event: ModelListOutput, output: &Rc<dyn Fn(Output)>) {
        match event {
            ModelListOutput::Chosen(model) => {
                self.popover.popdown();
                output(Output::Chosen(model));
            }
            ModelListOutput::Favourite(model, favourite) => {
                output(Output::Favourite(model, favourite));
            }
            ModelListOutput::Above if self.search.is_visible() => {
                self.search.grab_focus();
            }
            ModelListOutput::Above => {}
            ModelListOutput::Dismissed => self.popover.popdown(),
        }
    }

    fn hear_options(&self, event: OptionsOutput, output: &Rc<dyn Fn(Output)>) {
        match event {
            OptionsOutput::Changed(options) => output(Output::Options(options)),
            OptionsOutput::Default(options) => {
                self.popover.popdown();
                let model = self.chosen.borrow().clone();
                if let Some(model) = model {
                    output(Output::DefaultOptions(model, options));
                }
            }
        }
    }

    fn show_label(&self) {
        let chosen = self.chosen.borrow();
        let (words, hint) = match &*chosen {
            Some(model) => (name_among(model, &self.models.borrow()), model.to_string()),
            None => (gettext("Choose a model"), gettext("Model")),
        };
        self.label.set_label(&words);
        self.button.set_tooltip_text(Some(&hint));
        self.options_button.set_sensitive(chosen.is_some());
    }

    /// Says above the list what choosing does; nothing is said where it does what it usually does.
    fn set_heading(&self, words: &str) {
        self.heading.set_label(words);
        self.heading.set_visible(!words.is_empty());
        self.of_chat.set_visible(words.is_empty());
        accessible::set_description(&self.search, words);
        self.list.describe(words);
    }

    /// Updates the list; while it is hidden, this can wait.
    fn refill(&self) {
        if self.popover.is_visible() {
            self.fill(self.list.current().as_ref());
        }
    }

    /// Shows all models, with the chosen one selected.
    fn fill_all(&self) {
        self.pages.set_visible_child_name("models");
        self.search.set_visible(self.has_many());
        self.search.set_text("");
        self.query.replace(String::new());
        self.fill(self.chosen.borrow().as_ref());
    }

    fn focus(&self) {
        if self.has_many() {
            self.search.grab_focus();
        } else {
            self.focus_list();
        }
    }

    /// Focuses the list, or the first button if the list is hidden: a hidden widget would swallow
    /// every key, even Escape.
    fn focus_list(&self) {
        if self.list.widget().is_visible() {
            self.list.focus();
        } else if !has_keyboard(&self.pages) {
            self.pages.child_focus(gtk::DirectionType::TabForward);
        }
    }

    /// Fills the list; the focus begins at this model.
    fn fill(&self, at: Option<&ModelRef>) {
        let models = self.models.borrow();
        let rows = rows(&models, &self.favourites.borrow(), &self.query.borrow());
        let words = if !rows.is_empty() {
            None
        } else if models.is_empty() {
            Some(gettext(
                "No models yet. Download one for this computer, or add a connection to a server.",
            ))
        } else {
            Some(gettext("No models found"))
        };
        self.nothing.set_visible(words.is_some());
        self.nothing.set_label(&words.unwrap_or_default());
        let leaves = rows.is_empty() && has_keyboard(self.list.widget());
        if leaves && self.search.is_visible() {
            // The list disappears, and the user continues typing at the end of the search text.
            self.search.grab_focus();
            self.search.set_position(-1);
        }
        self.list.widget().set_visible(!rows.is_empty());
        if leaves {
            self.focus_list();
        }
        self.list.fill(rows, self.chosen.borrow().as_ref(), at);
    }
}

fn has_keyboard(widget: &impl IsA<gtk::Widget>) -> bool {
    widget.state_flags().contains(gtk::StateFlags::FOCUS_WITHIN)
}

fn flat_button(label: &str) -> gtk::Button {
    let words = gtk::Label::builder().label(label).xalign(0.0).build();
    let button = gtk::Button::builder().child(&words).css_classes(["flat"]).build();
    // A button whose child is a label has no accessible name of its own.
    accessible::set_label(&button, label);
    button
}
