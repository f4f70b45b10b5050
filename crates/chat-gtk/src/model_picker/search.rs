//! Finds models by what the user types.

use std::rc::Rc;

use relm4::gtk::prelude::*;

use super::list::ModelListOutput;
use super::rows::rows;
use super::{Inner, Output, has_keyboard};

/// From this number on, typing is easier than looking.
const SEARCH_FROM: usize = 8;

impl Inner {
    /// Lists the search results, with the first one selected for Enter.
    pub(super) fn look_for(&self) {
        if !self.popover.is_visible() || !self.is_behind() {
            return;
        }
        let query = self.search.text().to_string();
        // When the user types into a short list, the search appears.
        let visible = self.has_many() || !query.is_empty();
        let leaves = !visible && has_keyboard(&self.search);
        self.search.set_visible(visible);
        let chosen = self.chosen.borrow().clone().filter(|_| query.is_empty());
        self.query.replace(query);
        self.fill(chosen.as_ref());
        if leaves {
            self.focus_list();
        }
    }

    /// Whether the list does not show the results for the current search text yet, since it waits
    /// for a pause in typing.
    pub(super) fn is_behind(&self) -> bool {
        *self.query.borrow() != self.search.text().as_str()
    }

    /// Takes the selected model, or the first result if the list is not up to date.
    pub(super) fn take_found(&self, output: &Rc<dyn Fn(Output)>) {
        if !self.is_behind() {
            self.list.activate_selected();
            return;
        }
        let query = self.search.text();
        let found =
            rows(&self.models.borrow(), &self.favourites.borrow(), &query).into_iter().next();
        match found {
            Some(row) => self.hear_list(ModelListOutput::Chosen(row.model), output),
            None => self.look_for(),
        }
    }

    pub(super) fn has_many(&self) -> bool {
        self.models.borrow().len() >= SEARCH_FROM
    }
}
