//! The settings for how the window looks: its colors, the size of texts, the width of conversations, the list.

use std::rc::Rc;

use adw::prelude::*;
use chat_core::settings::{ColorScheme, ColumnWidth, Settings, Zoom};
use gettextrs::gettext;
use gtk::glib;

use super::rows::{PreferencesContext, Range, number_row, switch_row};

/// The group of these settings.
pub(super) fn group(context: &PreferencesContext) -> adw::PreferencesGroup {
    let group = adw::PreferencesGroup::builder().title(gettext("Appearance")).build();
    group.add(&choice_row(
        context,
        &gettext("Style"),
        ColorScheme::ALL.map(|scheme| (scheme, scheme_name(scheme))).into(),
        |settings| settings.ui.color_scheme,
        |settings, scheme| settings.ui.color_scheme = scheme,
    ));
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
    group.add(&choice_row(
        context,
        &gettext("Width of chats"),
        ColumnWidth::ALL.map(|width| (width, width_name(width))).into(),
        |settings| settings.ui.column,
        |settings, width| settings.ui.column = width,
    ));
    group.add(&switch_row(
        context,
        &gettext("Group chats by project"),
        "",
        |settings| settings.ui.group_by_project,
        |settings, on| settings.ui.group_by_project = on,
    ));
    group
}

/// A row with a setting of a few values; `get` reads it and `set` writes it.
fn choice_row<T: Copy + PartialEq + Send + 'static>(
    context: &PreferencesContext,
    title: &str,
    choices: Vec<(T, String)>,
    get: impl Fn(&Settings) -> T + 'static,
    set: impl Fn(&mut Settings, T) + Copy + Send + 'static,
) -> adw::ComboRow {
    let (values, names): (Vec<T>, Vec<String>) = choices.into_iter().unzip();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let names = gtk::StringList::new(&names);
    let row = adw::ComboRow::builder().title(title).model(&names).build();
    let (weak, values) = (row.downgrade(), Rc::new(values));
    let known = Rc::clone(&values);
    context.shows(move |settings| {
        let at = known.iter().position(|value| *value == get(settings));
        if let (Some(row), Some(at)) = (weak.upgrade(), at) {
            row.set_selected(at as u32);
        }
    });
    let context = context.clone();
    row.connect_selected_notify(move |row| {
        let value = values.get(row.selected() as usize).copied();
        let Some(value) = value.filter(|_| !context.is_showing()) else { return };
        let context = context.clone();
        glib::spawn_future_local(async move {
            context.change(move |settings| set(settings, value)).await;
        });
    });
    row
}

fn scheme_name(scheme: ColorScheme) -> String {
    match scheme {
        ColorScheme::System => gettext("Follow System"),
        ColorScheme::Light => gettext("Light"),
        ColorScheme::Dark => gettext("Dark"),
    }
}

fn width_name(width: ColumnWidth) -> String {
    match width {
        ColumnWidth::Narrow => gettext("Narrow"),
        ColumnWidth::Normal => gettext("Normal"),
        ColumnWidth::Wide => gettext("Wide"),
    }
}
