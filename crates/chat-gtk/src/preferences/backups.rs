//! Shows the backups of the chats: when each was made, how large it is, and a button to restore it.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use adw::prelude::*;
use chat_core::store::Backup;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;
use jiff::tz::TimeZone;

use super::rows::{PreferencesContext, plain_row};
use super::say;
use crate::accessible;

/// The group with its rows. The rows own it, so it does not own them.
struct Backups {
    group: glib::WeakRef<adw::PreferencesGroup>,
    rows: RefCell<Vec<glib::WeakRef<adw::ActionRow>>>,
    context: PreferencesContext,
}

/// Creates the group; its rows are added once the folder was read.
pub(super) fn group(context: &PreferencesContext) -> adw::PreferencesGroup {
    let group = adw::PreferencesGroup::builder()
        .title(gettext("Backups"))
        .description(gettext(
            "Your chats are backed up once a day. The last three backups are kept.",
        ))
        .build();
    let rows = RefCell::default();
    let backups = Rc::new(Backups { group: group.downgrade(), rows, context: context.clone() });
    glib::spawn_future_local(async move { backups.fill().await });
    group
}

impl Backups {
    async fn fill(self: &Rc<Self>) {
        let found = self.context.manager.backups().list().await;
        say(&self.context.window, &found);
        let Some(group) = self.group.upgrade() else { return };
        for row in self.rows.take().iter().filter_map(glib::WeakRef::upgrade) {
            group.remove(&row);
        }
        let mut rows: Vec<_> =
            found.unwrap_or_default().iter().rev().map(|backup| self.row(backup)).collect();
        if rows.is_empty() {
            rows.push(plain_row(&gettext("No backups yet"), ""));
        }
        for row in &rows {
            group.add(row);
        }
        self.rows.replace(rows.iter().map(ObjectExt::downgrade).collect());
    }

    fn row(self: &Rc<Self>, backup: &Backup) -> adw::ActionRow {
        let time = local(backup);
        let row = plain_row(&time, &words::bytes(backup.size));
        let button =
            gtk::Button::builder().label(gettext("Restore…")).valign(gtk::Align::Center).build();
        accessible::set_label(
            &button,
            &words::fill(&gettext("Restore the backup from {time}"), &[("time", &time)]),
        );
        row.add_suffix(&button);
        row.set_activatable_widget(Some(&button));
        let (this, path) = (Rc::clone(self), backup.path.clone());
        button.connect_clicked(move |_| this.ask(&time, path.clone()));
        row
    }

    fn ask(self: &Rc<Self>, time: &str, path: PathBuf) {
        let Some(parent) = self.context.window.upgrade() else { return };
        let heading = words::fill(&gettext("Restore Backup From {time}?"), &[("time", time)]);
        let dialog = adw::MessageDialog::builder()
            .heading(heading)
            .body(gettext(
                "This replaces your chats with the backup. Your current chats are backed up first.",
            ))
            .transient_for(&parent)
            .modal(true)
            .default_response("cancel")
            .close_response("cancel")
            .build();
        dialog.add_response("cancel", &gettext("_Cancel"));
        dialog.add_response("restore", &gettext("_Restore"));
        dialog.set_response_appearance("restore", adw::ResponseAppearance::Destructive);
        let this = Rc::clone(self);
        dialog.connect_response(Some("restore"), move |_, _| {
            let (this, path) = (Rc::clone(&this), path.clone());
            glib::spawn_future_local(async move { this.restore(&path).await });
        });
        dialog.present();
    }

    async fn restore(self: &Rc<Self>, path: &Path) {
        let restored = self.context.manager.backups().restore(path).await;
        say(&self.context.window, &restored);
        if restored.is_ok() {
            self.context.tell(&gettext("The backup was restored."));
        }
        self.fill().await;
    }
}

/// When it was made, in local time.
fn local(backup: &Backup) -> String {
    let zone = TimeZone::system();
    backup.time.to_zoned(zone).strftime("%Y-%m-%d %H:%M").to_string()
}
