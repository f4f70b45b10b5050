//! Shows the preferences: how the window behaves, the connections, the models on this computer, and
//! what tools may do.

mod appearance;
mod backups;
mod connections;
mod editor;
mod lazy;
mod models;
mod naming;
mod permissions;
mod presets;
mod rows;
mod servers;
mod tools;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use adw::prelude::*;
use chat_core::error::Result;
use chat_core::event::{Event, ModelEntry};
use chat_core::manager::Manager;
use chat_core::message::ModelRef;
use chat_core::settings::{Settings, WhileBusy};
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use connections::ConnectionsPage;
use lazy::Lazy;
use models::ModelsPage;
use permissions::PermissionsPage;
use rows::{PreferencesContext, switch_row};
pub(crate) use rows::{icon_button, plain_row};
use servers::ServersPage;

use crate::instructions::{self, Instructions};
use crate::models::adding;
use crate::models::words::name_among;
use crate::popover;
use crate::tool_servers::ToolServers;

/// The initial page of the preferences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    General,
    /// The connections; with a name, the settings of that one.
    Connections(Option<String>),
    /// The models on this computer.
    Models,
    /// What tools may do.
    Tools,
    /// The servers of tools, which stand above what tools may do.
    Servers,
    Permissions,
}

/// How wide the preferences are, in pixels at the default font, where the window below is not narrower.
const WIDTH: i32 = 600;
/// The narrowest that they can be, in pixels.
const LEAST_WIDTH: i32 = 360;

/// Opens the preferences above a window.
pub(crate) fn open(
    parent: &adw::ApplicationWindow,
    manager: &Manager,
    servers: &ToolServers,
    page: Page,
) {
    let window = adw::PreferencesWindow::builder()
        .transient_for(parent)
        .modal(true)
        .title(gettext("Preferences"))
        .default_width(width_above(parent.width()))
        .default_height(640)
        .search_enabled(false)
        .build();
    let context = PreferencesContext::new(&window, manager, servers);
    let to_models = Rc::new(Cell::new(page == Page::Models));
    until_used(&window, &to_models);
    let pages = Pages::new(&context, to_models);
    window.add(&general_page(&context));
    window.add(pages.connections.page());
    window.add(pages.models.page());
    window.add(pages.tools.page());
    window.add(pages.permissions.page());
    match page {
        Page::General => {}
        Page::Connections(name) => {
            window.set_visible_page(pages.connections.page());
            let state = manager.connections().list().into_iter();
            let state = state.into_iter().find(|c| Some(&c.connection.name) == name.as_ref());
            if let Some(state) = state {
                connections::open(&window, manager, &state);
            }
        }
        Page::Models => window.set_visible_page(pages.models.page()),
        Page::Tools | Page::Servers => window.set_visible_page(pages.tools.page()),
        Page::Permissions => window.set_visible_page(pages.permissions.page()),
    }
    let (models, weak) = (pages.models.clone(), window.downgrade());
    adding::accept_drops(&window, move |files| {
        if let Some(window) = weak.upgrade() {
            window.set_visible_page(models.page());
        }
        models.get().add(files);
    });
    follow(&window, &context, pages);
    window.present();
}

/// A screen that has no space for a wider window has none for wider preferences. A window that is not shown yet
/// has no width.
fn width_above(parent: i32) -> i32 {
    if parent > 0 { parent.clamp(LEAST_WIDTH, WIDTH) } else { WIDTH }
}

/// Shows the dialog for a new connection above a window.
pub(crate) fn add_connection(parent: &gtk::Window, manager: &Manager) {
    presets::open(parent, manager);
}

/// The pages that are filled when they are first shown.
struct Pages {
    connections: Lazy<ConnectionsPage>,
    models: Lazy<ModelsPage>,
    /// The servers of tools, and the tools.
    tools: Lazy<ServersPage>,
    permissions: Lazy<PermissionsPage>,
}

impl Pages {
    /// Creates empty pages. `to_models`: whether the user came for models and has done nothing
    /// else yet, so that the first download button is focused.
    fn new(context: &PreferencesContext, to_models: Rc<Cell<bool>>) -> Self {
        let here = context.clone();
        let models = Lazy::new(models::page(), move |page| {
            let models = ModelsPage::new(page, &here, to_models.clone());
            let shown = models.clone();
            glib::spawn_future_local(async move { shown.look_around().await });
            models
        });
        let (of_connections, of_tools) = (context.clone(), context.clone());
        let of_permissions = context.clone();
        Self {
            connections: Lazy::new(connections::page(), move |page| {
                ConnectionsPage::new(page, &of_connections)
            }),
            models,
            tools: Lazy::new(tools::page(), move |page| {
                let servers = ServersPage::new(page, &of_tools);
                tools::fill(page, &of_tools);
                servers
            }),
            permissions: Lazy::new(permissions::page(), move |page| {
                PermissionsPage::new(page, &of_permissions)
            }),
        }
    }
}

/// Clears a flag at the first key or click in the window. Where the focus lies does not tell: a new
/// window focuses its first widget by itself.
fn until_used(window: &adw::PreferencesWindow, flag: &Rc<Cell<bool>>) {
    let keys = gtk::EventControllerKey::new();
    keys.set_propagation_phase(gtk::PropagationPhase::Capture);
    let unused = flag.clone();
    keys.connect_key_pressed(move |_, _, _, _| {
        unused.set(false);
        glib::Propagation::Proceed
    });
    window.add_controller(keys);
    let clicks = gtk::GestureClick::new();
    clicks.set_propagation_phase(gtk::PropagationPhase::Capture);
    let unused = flag.clone();
    clicks.connect_pressed(move |_, _, _, _| unused.set(false));
    window.add_controller(clicks);
}

/// Keeps settings, connections, models and rules up to date while the window is open.
fn follow(window: &adw::PreferencesWindow, context: &PreferencesContext, pages: Pages) {
    let mut subscription = context.manager.subscribe();
    let context = context.clone();
    let following = glib::spawn_future_local(async move {
        while let Some(events) = subscription.next().await {
            let told = |is: fn(&Event) -> bool| events.iter().any(is);
            if told(|e| matches!(e, Event::SettingsChanged)) {
                context.show();
                if let Some(permissions) = pages.permissions.filled() {
                    permissions.fill();
                }
            }
            if told(|e| matches!(e, Event::DefinitionsChanged { .. }))
                && let Some(permissions) = pages.permissions.filled()
            {
                permissions.fill_trust();
            }
            let models_changed = told(|e| matches!(e, Event::ModelsChanged));
            if (models_changed || told(|e| matches!(e, Event::ConnectionsChanged)))
                && let Some(connections) = pages.connections.filled()
            {
                connections.fill();
            }
            let Some(models) = pages.models.filled() else { continue };
            if models_changed {
                models.look_around().await;
            } else if told(|e| matches!(e, Event::DownloadsChanged)) {
                models.refresh().await;
            }
        }
    });
    window.connect_close_request(move |_| {
        following.abort();
        glib::Propagation::Proceed
    });
}

fn general_page(context: &PreferencesContext) -> adw::PreferencesPage {
    let page = adw::PreferencesPage::builder()
        .title(gettext("General"))
        .icon_name("preferences-system-symbolic")
        .build();
    let writing = adw::PreferencesGroup::builder().title(gettext("Writing")).build();
    writing.add(&switch_row(
        context,
        &gettext("Enter sends the message"),
        &gettext("Shift+Enter inserts a line break. When off, it’s the other way around."),
        |settings| settings.ui.enter_sends,
        |settings, on| settings.ui.enter_sends = on,
    ));
    writing.add(&switch_row(
        context,
        &gettext("Send messages after the current step"),
        &gettext(
            "During a reply. When off, they wait until it is done. Ctrl+Enter does the other.",
        ),
        |settings| settings.chat.while_busy == WhileBusy::Steer,
        |settings, on| {
            settings.chat.while_busy = if on { WhileBusy::Steer } else { WhileBusy::Queue };
        },
    ));
    let chats = adw::PreferencesGroup::builder().title(gettext("Chats")).build();
    chats.add(&default_model_row(context));
    chats.add(&switch_row(
        context,
        &gettext("Better titles"),
        &gettext("Ask the model for a title after the first reply"),
        |settings| settings.chat.better_titles,
        |settings, on| settings.chat.better_titles = on,
    ));
    chats.add(&switch_row(
        context,
        &gettext("Notifications"),
        &gettext(
            "When a reply is ready or a tool needs your answer in a chat that you’re not looking at",
        ),
        |settings| settings.ui.notifications,
        |settings, on| settings.ui.notifications = on,
    ));
    chats.add(&instructions_row(context));
    page.add(&writing);
    page.add(&chats);
    page.add(&appearance::group(context));
    page.add(&backups::group(context));
    page
}

/// Opens the instructions for all chats.
fn instructions_row(context: &PreferencesContext) -> adw::ActionRow {
    let row = plain_row(
        &gettext("Instructions"),
        &gettext("What every chat tells the model, such as who you are and how you like replies"),
    );
    let arrow = gtk::Image::from_icon_name("go-next-symbolic");
    row.add_suffix(&arrow);
    row.set_activatable(true);
    let context = context.clone();
    row.connect_activated(move |_| {
        let Some(window) = context.window.upgrade() else { return };
        let everywhere = context.manager.settings().current().chat.instructions.clone();
        let texts = Instructions { everywhere, ..Instructions::default() };
        let context = context.clone();
        instructions::edit(window.upcast_ref(), &texts, move |texts| {
            let context = context.clone();
            glib::spawn_future_local(async move {
                let change = |settings: &mut Settings| {
                    settings.chat.instructions = texts.everywhere;
                };
                context.change(change).await;
            });
        });
    });
    row
}

fn default_model_row(context: &PreferencesContext) -> adw::ComboRow {
    let models = context.manager.models().list().into_iter();
    let models = models.filter(|entry| entry.info.capabilities.chat != Some(false));
    let entries: Vec<ModelEntry> = models.collect();
    let names = gtk::StringList::new(&[gettext("Last used").as_str()]);
    for entry in &entries {
        names.append(&name_among(&entry.model, &entries));
    }
    let models: Vec<ModelRef> = entries.into_iter().map(|entry| entry.model).collect();
    let row = adw::ComboRow::builder().title(gettext("Model for new chats")).model(&names).build();
    let models = Rc::new(RefCell::new(models));
    let (weak, known) = (row.downgrade(), Rc::clone(&models));
    context.shows(move |settings| {
        let Some(row) = weak.upgrade() else { return };
        let Some(chosen) = &settings.chat.model else { return row.set_selected(0) };
        let mut known = known.borrow_mut();
        let at = known.iter().position(|model| model == chosen).unwrap_or_else(|| {
            // A model that is currently unavailable is still the chosen one.
            known.push(chosen.clone());
            // Its name alone may be that of another model in the list.
            names.append(&chosen.to_string());
            known.len() - 1
        });
        // Setting the model reports a change at once, which reads this.
        drop(known);
        row.set_selected(at as u32 + 1);
    });
    // The name is short; the tooltip says which model it is.
    let known = Rc::downgrade(&models);
    let hint = move |row: &adw::ComboRow| {
        let at = (row.selected() as usize).checked_sub(1);
        let id = known.upgrade().and_then(|known| known.borrow().get(at?).map(ToString::to_string));
        row.set_tooltip_text(id.as_deref());
    };
    hint(&row);
    row.connect_selected_notify(hint);
    popover::silence_tooltip(&row);
    let context = context.clone();
    row.connect_selected_notify(move |row| {
        if context.is_showing() {
            return;
        }
        let at = (row.selected() as usize).checked_sub(1);
        let model = at.and_then(|at| models.borrow().get(at).cloned());
        let context = context.clone();
        glib::spawn_future_local(async move {
            context.change(move |settings: &mut Settings| settings.chat.model = model).await;
        });
    });
    row
}

fn say<T>(window: &glib::WeakRef<adw::PreferencesWindow>, result: &Result<T>) {
    if let (Err(error), Some(window)) = (result, window.upgrade()) {
        let words = glib::markup_escape_text(&words::sentence(error));
        window.add_toast(adw::Toast::new(&words));
    }
}

#[cfg(test)]
mod tests;
