//! Draws the line above a code block: its language, and what can be done with it. Where there is too little room for
//! the buttons, a menu has the same.

use gettextrs::gettext;
use gtk::gio;
use gtk::prelude::*;

use crate::accessible;
use crate::copy_mark::{self, CopyMark};

/// The actions of a block, by name.
const COPY: &str = "code.copy";
const SAVE: &str = "code.save";
const WRAP: &str = "code.wrap";
/// The icon of the menu.
const MORE: &str = "view-more-symbolic";

/// What can be done with a code block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Copy it.
    Copy,
    /// Save it as a file.
    Save,
    /// Wrap its lines, or do not.
    Wrap(bool),
}

/// The line above a code block.
pub struct Head {
    root: gtk::Box,
    name: gtk::Label,
    wrap: gio::SimpleAction,
}

impl Head {
    /// A line that tells what is wanted.
    pub fn new(wanted: impl Fn(Action) + Clone + 'static) -> Self {
        let name =
            gtk::Label::builder().xalign(0.0).hexpand(true).css_classes(["code-language"]).build();
        name.set_ellipsize(gtk::pango::EllipsizeMode::End);
        let copy = gtk::Button::new();
        button(&copy, copy_mark::COPY, &gettext("Copy Code"), COPY);
        let menu = menu();
        // Only one of them is seen.
        let marks = [
            CopyMark::on(&copy, copy_mark::COPY, &gettext("Copy Code")),
            CopyMark::on(&menu, MORE, &gettext("Code Actions")),
        ];
        let actions = gio::SimpleActionGroup::new();
        for (name, action) in [("copy", Action::Copy), ("save", Action::Save)] {
            let entry = gio::SimpleAction::new(name, None);
            let (wanted, marks) = (wanted.clone(), marks.clone());
            entry.connect_activate(move |_, _| {
                wanted(action);
                if action == Action::Copy {
                    marks.iter().for_each(CopyMark::show);
                }
            });
            actions.add_action(&entry);
        }
        let wrap = gio::SimpleAction::new_stateful("wrap", None, &false.to_variant());
        wrap.connect_activate(move |wrap, _| {
            let is_on = wrap.state().and_then(|state| state.get::<bool>()).unwrap_or_default();
            wanted(Action::Wrap(!is_on));
        });
        actions.add_action(&wrap);

        let buttons = gtk::Box::new(gtk::Orientation::Horizontal, 0);
        let toggle = gtk::ToggleButton::new();
        button(toggle.upcast_ref(), "format-justify-left-symbolic", &gettext("Wrap Lines"), WRAP);
        buttons.append(&toggle);
        let save = gtk::Button::new();
        button(&save, "document-save-as-symbolic", &gettext("Save Code As…"), SAVE);
        buttons.append(&save);
        buttons.append(&copy);
        let either = adw::Squeezer::builder().homogeneous(false).valign(gtk::Align::Center).build();
        either.add(&buttons);
        either.add(&menu);

        let root = gtk::Box::builder().css_classes(["code-head"]).build();
        root.append(&name);
        root.append(&either);
        root.insert_action_group("code", Some(&actions));
        Self { root, name, wrap }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Says which language it is.
    pub fn set_title(&self, title: &str) {
        self.name.set_text(title);
    }

    /// Says whether lines are wrapped.
    pub fn set_wraps(&self, wraps: bool) {
        self.wrap.set_state(&wraps.to_variant());
    }
}

fn button(button: &gtk::Button, icon: &str, name: &str, action: &str) {
    button.set_icon_name(icon);
    button.set_tooltip_text(Some(name));
    button.set_css_classes(&["flat", "code-button"]);
    button.set_valign(gtk::Align::Center);
    button.set_action_name(Some(action));
    accessible::set_label(button, name);
}

/// The button of the menu, which is made when it is opened.
fn menu() -> gtk::MenuButton {
    let button =
        gtk::MenuButton::builder().css_classes(["code-more"]).valign(gtk::Align::Center).build();
    button.add_css_class("flat");
    button.set_create_popup_func(|button| {
        if button.menu_model().is_none() {
            let menu = gio::Menu::new();
            menu.append(Some(&gettext("Copy Code")), Some(COPY));
            menu.append(Some(&gettext("Save Code As…")), Some(SAVE));
            menu.append(Some(&gettext("Wrap Lines")), Some(WRAP));
            button.set_menu_model(Some(&menu));
        }
    });
    button
}
