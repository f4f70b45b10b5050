//! The settings for how chats look: the size of texts, the width of conversations, the list.

use adw::prelude::*;
use chat_core::settings::{ColumnWidth, Zoom};
use gettextrs::gettext;
use gtk::glib;

use super::rows::{PreferencesContext, Range, number_row, switch_row};

/// The group of these settings.
pub(super) fn group(context: &PreferencesContext) -> adw::PreferencesGroup {
    let group = adw::PreferencesGroup::builder().title(gettext("Appearance")).build();
    group.add(&number_row(
        context,
        &gettext("Text size"),
        &gettext("Percent, for chats, messages and files (Ctrl++ and Ctrl+−)"),
        Range { least: Zoom::LEAST.into(), most: Zoom::MOST.into(), step: 10 },
        |settings| settings.ui.zoom.percent().into(),
        |settings, percent| {
            settings.ui.zoom = Zoom::new(u16::try_from(percent).unwrap_or(Zoom::MOST));
        },
    ));
    group.add(&column_row(context));
    group.add(&switch_row(
        context,
        &gettext("Group chats by project"),
        "",
        |settings| settings.ui.group_by_project,
        |settings, on| settings.ui.group_by_project = on,
    ));
    group
}

fn column_row(context: &PreferencesContext) -> adw::ComboRow {
    let names = ColumnWidth::ALL.map(name);
    let names = gtk::StringList::new(&names.each_ref().map(String::as_str));
    let row = adw::ComboRow::builder().title(gettext("Width of chats")).model(&names).build();
    let weak = row.downgrade();
    context.shows(move |settings| {
        let at = ColumnWidth::ALL.iter().position(|width| *width == settings.ui.column);
        if let (Some(row), Some(at)) = (weak.upgrade(), at) {
            row.set_selected(at as u32);
        }
    });
    let context = context.clone();
    row.connect_selected_notify(move |row| {
        let width = ColumnWidth::ALL.get(row.selected() as usize).copied();
        let Some(width) = width.filter(|_| !context.is_showing()) else { return };
        let context = context.clone();
        glib::spawn_future_local(async move {
            context.change(move |settings| settings.ui.column = width).await;
        });
    });
    row
}

fn name(width: ColumnWidth) -> String {
    match width {
        ColumnWidth::Narrow => gettext("Narrow"),
        ColumnWidth::Normal => gettext("Normal"),
        ColumnWidth::Wide => gettext("Wide"),
    }
}
