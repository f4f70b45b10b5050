//! The button of a table: its menu copies the cells, for spreadsheets and as Markdown.

use std::rc::Rc;

use gettextrs::gettext;
use gtk::gio;
use gtk::prelude::*;

use crate::conversation::model::grid_text::{comma_separated, grid_source, spreadsheet_cells};
use crate::copy_mark::{self, CopyMark};
use crate::markdown::flow::Grid;

/// How a table is written: the name of the action, what the menu says, and the text.
type Form = (&'static str, fn() -> String, fn(&Grid) -> String);

const FORMS: [Form; 3] = [
    ("cells", || gettext("Copy Cells"), spreadsheet_cells),
    ("csv", || gettext("Copy as CSV"), comma_separated),
    ("markdown", || gettext("Copy as Markdown"), grid_source),
];

/// The button. `shown` is asked for the table.
pub fn button(shown: impl Fn() -> Option<Grid> + 'static) -> gtk::MenuButton {
    let button = gtk::MenuButton::builder().css_classes(["flat", "table-copy"]).build();
    let mark = CopyMark::on(&button, copy_mark::COPY, &gettext("Copy Table"));
    let shown = Rc::new(shown);
    // Most tables are never copied: what it takes is made when it is asked for.
    button.set_create_popup_func(move |button| {
        if button.menu_model().is_some() {
            return;
        }
        let (menu, actions) = (gio::Menu::new(), gio::SimpleActionGroup::new());
        for (name, label, text) in FORMS {
            let action = gio::SimpleAction::new(name, None);
            let (shown, clipboard, mark) = (Rc::clone(&shown), button.clipboard(), mark.clone());
            action.connect_activate(move |_, _| {
                if let Some(grid) = shown() {
                    clipboard.set_text(&text(&grid));
                    mark.show();
                }
            });
            actions.add_action(&action);
            menu.append(Some(&label()), Some(&format!("table.{name}")));
        }
        button.insert_action_group("table", Some(&actions));
        button.set_menu_model(Some(&menu));
    });
    button
}
