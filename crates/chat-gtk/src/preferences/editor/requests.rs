//! Shows how many requests a connection answers at the same time.

use adw::prelude::*;
use chat_core::settings::Connection;
use gettextrs::gettext;

use super::super::rows::{Range, spin_row};

/// The group with the number.
#[derive(Debug)]
pub(super) struct Requests {
    pub(super) group: adw::PreferencesGroup,
    pub(super) number: gtk::SpinButton,
}

impl Requests {
    pub(super) fn new() -> Self {
        let (row, number) = spin_row(
            &gettext("Requests at the same time"),
            &gettext("Other chats wait for their turn"),
            Range { least: 1, most: u64::from(Connection::MOST_REQUESTS), step: 1 },
            u64::from(Connection::REQUESTS),
        );
        let group = adw::PreferencesGroup::new();
        group.add(&row);
        Self { group, number }
    }

    pub(super) fn show(&self, connection: &Connection) {
        self.number.set_value(f64::from(connection.requests_at_once()));
    }

    /// The chosen number. What the settings file says stays if it means the same.
    pub(super) fn chosen(&self, old: Option<&Connection>) -> Option<u32> {
        // It may still be being typed.
        self.number.update();
        let chosen = self.number.value() as u32;
        let (written, counts) = match old {
            Some(old) => (old.requests, old.requests_at_once()),
            None => (None, Connection::REQUESTS),
        };
        if chosen == counts { written } else { Some(chosen) }
    }
}
