//! Defines rows that show and change a setting; libadwaita 1.2 has none of these.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::error::Result;
use chat_core::manager::Manager;
use chat_core::settings::Settings;
use gtk::glib;

use super::say;
use crate::tool_servers::ToolServers;
use crate::{accessible, nested_scroll};

/// The window and the engine, which each row needs. Cheap to clone.
#[derive(Clone)]
pub(super) struct PreferencesContext {
    pub(super) window: glib::WeakRef<adw::PreferencesWindow>,
    pub(super) manager: Manager,
    pub(super) servers: ToolServers,
    rows: Rc<Rows>,
}

/// Makes a row show the settings.
type Show = Box<dyn Fn(&Settings)>;

/// What all rows share.
#[derive(Default)]
struct Rows {
    shows: RefCell<Vec<Show>>,
    /// Whether rows are being set by the program, not by the user.
    showing: Cell<bool>,
    /// The number of changes that are not saved yet.
    changing: Cell<usize>,
    /// Changes are saved in the order in which they were made.
    turn: tokio::sync::Mutex<()>,
}

impl fmt::Debug for PreferencesContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreferencesContext").finish_non_exhaustive()
    }
}

impl PreferencesContext {
    pub(super) fn new(
        window: &adw::PreferencesWindow,
        manager: &Manager,
        servers: &ToolServers,
    ) -> Self {
        Self {
            window: window.downgrade(),
            manager: manager.clone(),
            servers: servers.clone(),
            rows: Rc::default(),
        }
    }

    /// The width of a window above the preferences that wants this one: no wider than they are, which are as narrow as the
    /// screen needs.
    pub(super) fn width_within(&self, wanted: i32) -> i32 {
        let parent = self.window.upgrade().map_or(0, |window| window.width());
        if parent > 0 { parent.min(wanted) } else { wanted }
    }

    /// Makes a row show the settings, now and whenever they change. The closure must not own the
    /// row.
    pub(super) fn shows(&self, show: impl Fn(&Settings) + 'static) {
        self.with_rows(|| show(&self.manager.settings().current()));
        self.rows.shows.borrow_mut().push(Box::new(show));
    }

    /// Whether rows are being set by the program, not by the user.
    pub(super) fn is_showing(&self) -> bool {
        self.rows.showing.get()
    }

    /// Makes all rows show the saved settings, unless a change is being saved.
    pub(super) fn show(&self) {
        if self.rows.changing.get() == 0 {
            let settings = self.manager.settings().current();
            self.with_rows(|| self.rows.shows.borrow().iter().for_each(|show| show(&settings)));
        }
    }

    fn with_rows(&self, show: impl FnOnce()) {
        let before = self.rows.showing.replace(true);
        show();
        self.rows.showing.set(before);
    }

    /// Changes settings. Shows errors in the window, and returns whether all went well; the rows
    /// then show what was saved.
    pub(super) async fn change(&self, change: impl FnOnce(&mut Settings) + Send + 'static) -> bool {
        self.keep(self.manager.settings().change(change)).await.is_some()
    }

    /// Waits for a change after all earlier ones.
    pub(super) async fn keep<T>(&self, change: impl Future<Output = Result<T>>) -> Option<T> {
        self.rows.changing.set(self.rows.changing.get() + 1);
        let result = {
            let _turn = self.rows.turn.lock().await;
            change.await
        };
        self.rows.changing.set(self.rows.changing.get() - 1);
        self.show();
        say(&self.window, &result);
        result.ok()
    }

    /// Shows a message briefly.
    pub(super) fn tell(&self, words: &str) {
        if let Some(window) = self.window.upgrade() {
            window.add_toast(adw::Toast::new(&glib::markup_escape_text(words)));
        }
    }
}

/// A row with a switch for a setting; `get` reads it and `set` writes it.
pub(super) fn switch_row(
    context: &PreferencesContext,
    title: &str,
    subtitle: &str,
    get: impl Fn(&Settings) -> bool + 'static,
    set: impl Fn(&mut Settings, bool) + Clone + Send + 'static,
) -> adw::ActionRow {
    let switch = gtk::Switch::builder().valign(gtk::Align::Center).build();
    let row = plain_row(title, subtitle);
    row.add_suffix(&switch);
    // For screen readers, too, the row names what it activates.
    row.set_activatable_widget(Some(&switch));
    let weak = switch.downgrade();
    context.shows(move |settings| {
        if let Some(switch) = weak.upgrade() {
            switch.set_active(get(settings));
        }
    });
    let context = context.clone();
    switch.connect_active_notify(move |switch| {
        if context.is_showing() {
            return;
        }
        let (on, context, set) = (switch.is_active(), context.clone(), set.clone());
        glib::spawn_future_local(async move {
            context.change(move |settings| set(settings, on)).await;
        });
    });
    row
}

/// The range of a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) step: u64,
}

/// A row with a number; `get` reads it and `set` writes it. If numbers change faster than they can
/// be saved, only the last one is saved.
pub(super) fn number_row(
    context: &PreferencesContext,
    title: &str,
    subtitle: &str,
    range: Range,
    get: impl Fn(&Settings) -> u64 + 'static,
    set: impl Fn(&mut Settings, u64) + Clone + Send + 'static,
) -> adw::ActionRow {
    let now = get(&context.manager.settings().current());
    let (row, number) = spin_row(title, subtitle, range, now);
    let keeping = Rc::new(Cell::new(false));
    let (weak, kept) = (number.downgrade(), Rc::clone(&keeping));
    context.shows(move |settings| {
        let value = get(settings);
        // Setting the current value would discard what is being typed.
        if let Some(number) = weak.upgrade().filter(|it| !kept.get() && it.value() as u64 != value)
        {
            number.set_value(value as f64);
        }
    });
    let context = context.clone();
    number.connect_value_changed(move |number| {
        if context.is_showing() || keeping.replace(true) {
            return;
        }
        let (context, set) = (context.clone(), set.clone());
        let (number, keeping) = (number.clone(), Rc::clone(&keeping));
        glib::spawn_future_local(async move {
            loop {
                let (value, set) = (number.value() as u64, set.clone());
                let well = context.change(move |settings| set(settings, value)).await;
                if !well || number.value() as u64 == value {
                    break;
                }
            }
            keeping.set(false);
            context.show();
        });
    });
    row
}

/// A row that shows a number, and the button that changes it.
pub(super) fn spin_row(
    title: &str,
    subtitle: &str,
    range: Range,
    now: u64,
) -> (adw::ActionRow, gtk::SpinButton) {
    // A value that was edited in the settings file is shown as it is.
    let (least, most) = (range.least.min(now), range.most.max(now));
    let number = gtk::SpinButton::with_range(least as f64, most as f64, range.step as f64);
    nested_scroll::pass_on_from_number(&number);
    number.set_value(now as f64);
    number.set_numeric(true);
    number.set_valign(gtk::Align::Center);
    let row = plain_row(title, subtitle);
    row.add_suffix(&number);
    row.set_activatable_widget(Some(&number));
    (row, number)
}

/// A row with plain text, without markup.
pub(crate) fn plain_row(title: &str, subtitle: &str) -> adw::ActionRow {
    adw::ActionRow::builder()
        .use_markup(false)
        .title(title)
        .subtitle(subtitle)
        .title_lines(2)
        .subtitle_lines(4)
        .build()
}

/// A button with only an icon.
pub(crate) fn icon_button(icon: &str, name: &str) -> gtk::Button {
    let button = gtk::Button::builder()
        .icon_name(icon)
        .tooltip_text(name)
        .valign(gtk::Align::Center)
        .css_classes(["flat"])
        .build();
    accessible::set_label(&button, name);
    button
}
