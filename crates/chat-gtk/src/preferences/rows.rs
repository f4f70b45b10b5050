//! Rows that show a setting and change it; libadwaita 1.2 has none of its own for these.

use std::cell::Cell;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::manager::Manager;
use chat_core::settings::Settings;
use gtk::glib;

use super::say;
use crate::accessible;

/// The window and the engine: what each row needs.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) window: glib::WeakRef<adw::PreferencesWindow>,
    pub(super) manager: Manager,
}

impl Place {
    pub(super) fn new(window: &adw::PreferencesWindow, manager: &Manager) -> Self {
        Self { window: window.downgrade(), manager: manager.clone() }
    }

    /// Changes settings. Says in the window what went wrong, and gives whether all went well.
    pub(super) async fn change(&self, change: impl FnOnce(&mut Settings) + Send + 'static) -> bool {
        let result = self.manager.change_settings(change).await;
        say(&self.window, &result);
        result.is_ok()
    }

    /// Says something in passing.
    pub(super) fn tell(&self, words: &str) {
        if let Some(window) = self.window.upgrade() {
            window.add_toast(adw::Toast::new(&glib::markup_escape_text(words)));
        }
    }
}

/// A row with a switch for a setting, which `get` reads and `set` writes.
pub(super) fn switch_row(
    place: &Place,
    title: &str,
    subtitle: &str,
    get: impl Fn(&Settings) -> bool + 'static,
    set: impl Fn(&mut Settings, bool) + Clone + Send + 'static,
) -> adw::ActionRow {
    let active = get(&place.manager.settings());
    let switch = gtk::Switch::builder().active(active).valign(gtk::Align::Center).build();
    accessible::set_label(&switch, title);
    let row = plain_row(title, subtitle);
    row.add_suffix(&switch);
    row.set_activatable_widget(Some(&switch));
    let (place, get) = (place.clone(), Rc::new(get));
    let set_back = Rc::new(Cell::new(false));
    switch.connect_active_notify(move |switch| {
        if set_back.get() {
            return;
        }
        let on = switch.is_active();
        let (place, get, set) = (place.clone(), Rc::clone(&get), set.clone());
        let (switch, set_back) = (switch.downgrade(), Rc::clone(&set_back));
        glib::spawn_future_local(async move {
            let well = place.change(move |settings| set(settings, on)).await;
            if let (false, Some(switch)) = (well, switch.upgrade()) {
                // It stands as it is kept.
                set_back.set(true);
                switch.set_active(get(&place.manager.settings()));
                set_back.set(false);
            }
        });
    });
    row
}

/// What a number may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) step: u64,
}

/// A row with a number, which `get` reads and `set` writes. Of numbers that are chosen faster than
/// they can be kept the last one is.
pub(super) fn number_row(
    place: &Place,
    title: &str,
    subtitle: &str,
    range: Range,
    get: impl Fn(&Settings) -> u64 + 'static,
    set: impl Fn(&mut Settings, u64) + Clone + Send + 'static,
) -> adw::ActionRow {
    let now = get(&place.manager.settings());
    // What was written into the settings by hand is shown as it is.
    let (least, most) = (range.least.min(now), range.most.max(now));
    let number = gtk::SpinButton::with_range(least as f64, most as f64, range.step as f64);
    number.set_value(now as f64);
    number.set_numeric(true);
    number.set_valign(gtk::Align::Center);
    accessible::set_label(&number, title);
    let row = plain_row(title, subtitle);
    row.add_suffix(&number);
    row.set_activatable_widget(Some(&number));
    let (place, get) = (place.clone(), Rc::new(get));
    let keeping = Rc::new(Cell::new(false));
    number.connect_value_changed(move |number| {
        if keeping.replace(true) {
            return;
        }
        let (place, get, set) = (place.clone(), Rc::clone(&get), set.clone());
        let (number, keeping) = (number.clone(), Rc::clone(&keeping));
        glib::spawn_future_local(async move {
            loop {
                let (value, set) = (number.value() as u64, set.clone());
                if !place.change(move |settings| set(settings, value)).await {
                    number.set_value(get(&place.manager.settings()) as f64);
                    break;
                }
                if number.value() as u64 == value {
                    break;
                }
            }
            keeping.set(false);
        });
    });
    row
}

/// A row of words alone, which are taken as they are.
pub(super) fn plain_row(title: &str, subtitle: &str) -> adw::ActionRow {
    adw::ActionRow::builder()
        .use_markup(false)
        .title(title)
        .subtitle(subtitle)
        .title_lines(2)
        .subtitle_lines(4)
        .build()
}

/// A button that shows a picture alone.
pub(super) fn icon_button(icon: &str, name: &str) -> gtk::Button {
    let button = gtk::Button::builder()
        .icon_name(icon)
        .tooltip_text(name)
        .valign(gtk::Align::Center)
        .css_classes(["flat"])
        .build();
    accessible::set_label(&button, name);
    button
}
