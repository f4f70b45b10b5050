//! Does what the user asks for with a server: starts, tests, switches and removes it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use adw::prelude::*;
use chat_core::error::Error;
use chat_core::settings::KeyStorage;
use chat_mcp::config::{Change, SecretText, WriteError};
use chat_mcp::oauth::OAuthFault;
use chat_mcp::servers::ServerKey;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use super::super::rows::PreferencesContext;

/// What a new file says.
const EMPTY: &str = "{\n  \"mcpServers\": {}\n}\n";

/// Makes the file if there is none. Blocks.
pub(super) fn begin_file(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => file.write_all(EMPTY.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Ends a server if it runs, and starts it.
pub(super) fn restart(context: &PreferencesContext, name: &str) {
    context.servers.servers.restart(&ServerKey::of_user(name));
}

/// Starts a server if it does not run, and gives what came of it in words.
pub(super) async fn test(context: &PreferencesContext, name: &str) -> String {
    let key = ServerKey::of_user(name);
    let starting = context.servers.run(|servers| async move {
        match servers.start(&key).await? {
            Ok(()) => Some(Ok(servers.status_with_tools(&key).await)),
            Err(fault) => Some(Err(fault)),
        }
    });
    match starting.await.flatten() {
        Some(Ok(status)) => {
            let tools = status.and_then(|status| status.tools);
            let count = words::mcp_tool_count(tools.map_or(0, |tools| tools.len()));
            words::fill(&gettext("“{name}” works: {tools}"), &[("name", name), ("tools", &count)])
        }
        // Its row says why.
        Some(Err(_)) => words::fill(&gettext("“{name}” didn’t start"), &[("name", name)]),
        None => gettext("The server is off. Switch it on first."),
    }
}

/// Opens the browser in which the user signs in to a server, waits for them there, and starts the server. Returns what
/// went wrong in words.
pub(super) async fn sign_in(context: &PreferencesContext, name: &str) -> Option<String> {
    let key = ServerKey::of_user(name);
    let of_server = key.clone();
    let begun = context.servers.run(|it| async move { it.begin_sign_in(&of_server).await }).await;
    let pending = match begun.flatten()? {
        Ok(pending) => pending,
        Err(fault) => return Some(words::mcp_start_fault(&fault)),
    };
    let window = context.window.upgrade();
    let opening = gtk::show_uri_full_future(window.as_ref(), pending.url(), gtk::gdk::CURRENT_TIME);
    if opening.await.is_err() {
        // Nobody would come back.
        return Some(words::mcp_oauth_fault(&OAuthFault::NoBrowser));
    }
    let finished = context.servers.run(|_| pending.finish()).await;
    if let Some(Err(fault)) = finished {
        return Some(words::mcp_start_fault(&fault));
    }
    context.servers.servers.restart(&key);
    None
}

/// Forgets that the user signed in to a server. Returns what went wrong in words.
pub(super) async fn sign_out(context: &PreferencesContext, name: &str) -> Option<String> {
    let key = ServerKey::of_user(name);
    let done = context.servers.run(|it| async move { it.sign_out(&key).await }).await?;
    done.err().map(|fault| words::mcp_start_fault(&fault))
}

/// Switches a server on or off. Returns whether that could be saved.
pub(super) async fn set_on(context: &PreferencesContext, name: &str, on: bool) -> bool {
    let change = Change::SetDisabled { name: name.to_owned(), disabled: !on };
    tell(context, &context.servers.change(change).await)
}

/// Switches a tool of a server on or off. Returns whether that could be saved.
pub(super) async fn set_tool_on(
    context: &PreferencesContext,
    server: &str,
    tool: String,
    on: bool,
) -> bool {
    let edited = context.servers.edit(server, move |server| {
        let off = &mut server.config.options.disabled_tools;
        off.retain(|other| *other != tool);
        if !on {
            off.push(tool);
        }
    });
    tell(context, &edited.await)
}

/// Asks whether to remove a server, and does so.
pub(super) fn ask_removal(context: &PreferencesContext, name: &str) {
    let Some(parent) = context.window.upgrade() else { return };
    let heading = words::fill(&gettext("Remove “{name}”?"), &[("name", name)]);
    let body = if context.servers.servers.config().knows_others(name) {
        gettext("This also removes its secrets from your keyring.")
    } else {
        gettext(
            "Its secrets stay in your keyring, because another server has an error and may need them.",
        )
    };
    let dialog = adw::MessageDialog::builder()
        .heading(heading)
        .body(body)
        .transient_for(&parent)
        .modal(true)
        .default_response("cancel")
        .close_response("cancel")
        .build();
    dialog.add_response("cancel", &gettext("_Cancel"));
    dialog.add_response("remove", &gettext("_Remove"));
    dialog.set_response_appearance("remove", adw::ResponseAppearance::Destructive);
    let (context, name) = (context.clone(), name.to_owned());
    dialog.connect_response(Some("remove"), move |_, _| {
        let (context, name) = (context.clone(), name.clone());
        glib::spawn_future_local(async move { remove(&context, &name).await });
    });
    dialog.present();
}

async fn remove(context: &PreferencesContext, name: &str) {
    let secrets = context.servers.servers.config().own_secrets(name);
    let change = Change::Remove { name: name.to_owned() };
    if tell(context, &context.servers.change(change).await) {
        forget(context, secrets).await;
    }
}

/// Puts secrets into the keyring, and gives where they are, if there were any, or what went wrong in words.
pub(super) async fn keep(
    context: &PreferencesContext,
    secrets: Vec<(String, SecretText)>,
) -> Result<Option<KeyStorage>, String> {
    let keeping = context.servers.run(|servers| async move {
        let mut kept = None;
        for (name, secret) in &secrets {
            kept = Some(servers.keys().set(name, secret).await?);
        }
        Ok::<_, Error>(kept)
    });
    match keeping.await {
        Some(kept) => kept.map_err(|error| words::sentence(&error)),
        None => Err(words::mcp_write_error(&super::unwritable())),
    }
}

/// Removes secrets from the keyring.
pub(super) async fn forget(context: &PreferencesContext, secrets: BTreeSet<String>) {
    let removing = context.servers.run(|servers| async move {
        for secret in &secrets {
            servers.keys().remove(secret).await?;
        }
        Ok::<_, Error>(())
    });
    if let Some(Err(error)) = removing.await {
        context.tell(&words::sentence(&error));
    }
}

/// Says what went wrong, if anything did. Returns whether all went well.
pub(super) fn tell(context: &PreferencesContext, result: &Result<(), WriteError>) -> bool {
    if let Err(error) = result {
        context.tell(&words::mcp_write_error(error));
    }
    result.is_ok()
}

#[cfg(test)]
mod tests {
    use chat_core::definitions::Origin;
    use chat_mcp::config::McpConfig;

    use super::*;

    #[test]
    fn a_new_file_has_no_servers_and_an_old_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("natter/mcp.json");
        begin_file(&path).unwrap();
        let config = McpConfig::parse(&fs::read(&path).unwrap(), Origin::User);
        assert_eq!(config, McpConfig::default());
        fs::write(&path, "mine").unwrap();
        begin_file(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    }
}
