//! Shows servers that were pasted, or that another program has, and adds those that the user chooses.

mod choice;
mod grants;
mod pasting;

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::settings::KeyStorage;
use chat_mcp::config::SecretText;
use chat_mcp::import::{ForeignServers, ImportFolders, ImportSource};
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use self::choice::Choice;
pub(super) use self::pasting::paste;
use super::super::rows::PreferencesContext;
use crate::close_keys::close_with_escape;

/// The files of other programs.
fn folders() -> ImportFolders {
    ImportFolders { home: glib::home_dir(), config: glib::user_config_dir() }
}

/// What was found.
#[derive(Default)]
struct Found {
    servers: ForeignServers,
    /// The folders that each server's command names.
    folders: Vec<Vec<PathBuf>>,
}

impl Found {
    /// Blocks: the folders are looked for.
    fn of(servers: ForeignServers) -> Self {
        let home = glib::home_dir();
        let folders = servers.servers.iter().map(|server| server.named_folders(&home)).collect();
        Self { servers, folders }
    }
}

/// Asks from which program to import, and shows what it has.
pub(super) fn import(context: &PreferencesContext) {
    let context = context.clone();
    glib::spawn_future_local(async move {
        let present = context.servers.run_blocking(|| ImportSource::present(&folders())).await;
        let present = present.unwrap_or_default();
        if present.is_empty() {
            return context.tell(&gettext("Other programs have no servers"));
        }
        let heading = gettext("Import Servers");
        let body = gettext("Choose the program to import from.");
        let parent = context.window.upgrade();
        let dialog = adw::MessageDialog::new(parent.as_ref(), Some(&heading), Some(&body));
        dialog.add_response("cancel", &gettext("_Cancel"));
        for source in &present {
            dialog.add_response(source.title(), source.title());
        }
        dialog.set_close_response("cancel");
        dialog.connect_response(None, move |_, response| {
            let chosen = present.iter().copied().find(|source| source.title() == response);
            let (Some(source), context) = (chosen, context.clone()) else { return };
            glib::spawn_future_local(async move {
                let reading = move || Found::of(source.read(&folders()));
                let found = context.servers.run_blocking(reading).await;
                show(&context, source.title(), found.unwrap_or_default());
            });
        });
        dialog.present();
    });
}

/// Shows what was found, so that the user chooses.
fn show(context: &PreferencesContext, title: &str, found: Found) {
    let Found { servers: found, folders } = found;
    let page = adw::PreferencesPage::new();
    if !found.problems.is_empty() {
        let group = adw::PreferencesGroup::builder().title(gettext("Problems")).build();
        found.problems.iter().for_each(|problem| group.add(&super::problem_row(problem)));
        page.add(&group);
    }
    if found.servers.is_empty() && found.problems.is_empty() {
        let none = adw::PreferencesGroup::new();
        none.add(&super::plain_row(&gettext("No servers found"), ""));
        page.add(&none);
    }
    let each = found.servers.into_iter().zip(folders);
    let choices: Vec<_> = each.map(|(server, folders)| Choice::new(server, folders)).collect();
    for choice in &choices {
        page.add(&choice.group);
    }
    let mut inputs = Vec::new();
    if !found.inputs.is_empty() {
        let group = adw::PreferencesGroup::builder()
            .title(gettext("Secrets"))
            .description(gettext("They’re saved in your keyring. You can leave them empty."))
            .build();
        for input in found.inputs {
            let name = input.description.as_deref().unwrap_or(&input.secret);
            let row = adw::PasswordEntryRow::builder().title(words::one_line(name)).build();
            row.set_use_markup(false);
            row.set_text(input.default.as_deref().unwrap_or_default());
            group.add(&row);
            inputs.push((input.secret, row));
        }
        page.add(&group);
    }
    let header = adw::HeaderBar::builder()
        .show_start_title_buttons(false)
        .show_end_title_buttons(false)
        .build();
    let cancel = gtk::Button::builder().label(gettext("_Cancel")).use_underline(true).build();
    cancel.set_action_name(Some("window.close"));
    let add = gtk::Button::builder()
        .label(gettext("_Add"))
        .use_underline(true)
        .css_classes(["suggested-action"])
        .sensitive(!choices.is_empty())
        .build();
    header.pack_start(&cancel);
    header.pack_end(&add);
    page.set_vexpand(true);
    let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
    content.append(&header);
    content.append(&page);
    let window = adw::Window::builder()
        .modal(true)
        .destroy_with_parent(true)
        .default_width(context.width_within(480))
        .default_height(560)
        .title(title)
        .content(&content)
        .build();
    window.set_transient_for(context.window.upgrade().as_ref());
    close_with_escape(&window);
    let (context, weak) = (context.clone(), window.downgrade());
    let choices: Rc<[Choice]> = choices.into();
    let is_adding = Rc::new(Cell::new(false));
    add.connect_clicked(move |_| {
        if is_adding.replace(true) {
            return;
        }
        let typed = |row: &adw::PasswordEntryRow| {
            (!row.text().is_empty()).then(|| SecretText::new(row.text()))
        };
        let inputs: Vec<_> = inputs.iter().map(|(name, row)| (name.clone(), typed(row))).collect();
        let (context, weak, choices) = (context.clone(), weak.clone(), Rc::clone(&choices));
        let is_adding = Rc::clone(&is_adding);
        glib::spawn_future_local(async move {
            let is_done = add_all(&context, &choices, &inputs).await;
            is_adding.set(false);
            if let Some(window) = weak.upgrade().filter(|_| is_done) {
                window.close();
            }
        });
    });
    window.present();
}

/// Adds what is chosen. Whether all of it was added; what is wrong is said where it was chosen.
async fn add_all(
    context: &PreferencesContext,
    choices: &[Choice],
    inputs: &[(String, Option<SecretText>)],
) -> bool {
    let mut is_done = choices.iter().any(Choice::is_chosen);
    for choice in choices.iter().filter(|choice| choice.is_chosen()) {
        let new = match choice.server(inputs) {
            Ok(new) => new,
            Err(problem) => {
                choice.say(&words::mcp_problem_sentence(&problem));
                is_done = false;
                continue;
            }
        };
        match context.servers.add(new).await {
            Ok(stored) => {
                choice.done();
                if let Some(storage @ KeyStorage::ThisRun(_)) = stored {
                    context.tell(&words::key_storage(storage));
                }
            }
            Err(error) => {
                choice.say(&words::mcp_add_error(&error));
                is_done = false;
            }
        }
    }
    is_done
}
