//! Shows the folders that the command names, each with buttons to show it to the program.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use adw::prelude::*;
use chat_presentation::words;
use gettextrs::gettext;

use super::super::super::rows::plain_row;
use crate::accessible;

/// Is told which folder is to be shown, and whether the program may change it.
type Chosen = Rc<dyn Fn(&Path, bool)>;

/// The list.
pub(super) struct Proposals {
    group: adw::PreferencesGroup,
    rows: RefCell<Vec<(PathBuf, adw::ActionRow)>>,
    chosen: RefCell<Option<Chosen>>,
}

impl Proposals {
    pub(super) fn new() -> Self {
        let group = adw::PreferencesGroup::builder()
            .title(gettext("Folders in the Command"))
            .description(gettext("The sandbox hides them from the program"))
            .visible(false)
            .build();
        Self { group, rows: RefCell::default(), chosen: RefCell::default() }
    }

    pub(super) fn group(&self) -> &adw::PreferencesGroup {
        &self.group
    }

    pub(super) fn connect_chosen(&self, chosen: impl Fn(&Path, bool) + 'static) {
        self.chosen.replace(Some(Rc::new(chosen)));
    }

    pub(super) fn show(&self, folders: &[PathBuf]) {
        if self.rows.borrow().iter().map(|(path, _)| path).eq(folders) {
            return;
        }
        for (_, row) in self.rows.take() {
            self.group.remove(&row);
        }
        let rows: Vec<_> = folders.iter().map(|path| (path.clone(), self.row(path))).collect();
        for (_, row) in &rows {
            self.group.add(row);
        }
        self.group.set_visible(!rows.is_empty());
        self.rows.replace(rows);
    }

    fn row(&self, path: &Path) -> adw::ActionRow {
        let shown = words::visible_line(&path.to_string_lossy());
        let row = plain_row(&shown, "");
        for (label, text, may_change) in [
            (gettext("Read"), gettext("Let It Read {path}"), false),
            (gettext("Change"), gettext("Let It Change {path}"), true),
        ] {
            let button = gtk::Button::builder().label(label).valign(gtk::Align::Center).build();
            accessible::set_label(&button, &words::fill(&text, &[("path", &shown)]));
            let (chosen, path) = (self.chosen.borrow().clone(), path.to_owned());
            button.connect_clicked(move |_| {
                if let Some(chosen) = &chosen {
                    chosen(&path, may_change);
                }
            });
            row.add_suffix(&button);
        }
        row
    }
}
