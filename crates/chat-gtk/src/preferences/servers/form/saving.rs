//! Saves what is filled in: secrets first, then the server.

use std::collections::BTreeSet;
use std::rc::Rc;

use chat_core::settings::KeyStorage;
use chat_mcp::config::{Change, Server, WriteError};
use chat_mcp::connection::State;
use chat_mcp::draft::FinishedServer;
use chat_mcp::servers::ServerKey;
use chat_presentation::words;
use gtk::glib;
use gtk::prelude::*;

use super::super::acts;
use super::Form;

impl Form {
    /// Saves the server, and closes the window. What went wrong is said in it.
    pub(super) fn save(self: &Rc<Self>) {
        if self.is_saving.replace(true) {
            return;
        }
        self.save.set_sensitive(false);
        let this = Rc::clone(self);
        glib::spawn_future_local(async move {
            let stored = this.store().await;
            this.is_saving.set(false);
            match stored {
                Ok(()) => this.window.close(),
                Err(sentence) => {
                    this.check();
                    this.result.say(sentence.as_deref());
                }
            }
        });
    }

    /// Saves the server. The error is a sentence, or none where the form itself says what is wrong.
    async fn store(&self) -> Result<(), Option<String>> {
        let context = &self.context;
        let in_words = |error: WriteError| Some(words::mcp_write_error(&error));
        let now = self.now().map_err(in_words)?;
        let known = context.servers.servers.config();
        // Another program may have added a server of this name since the form was checked.
        let finished = self.draft().finish(&known, now.as_ref()).ok_or(None)?;
        let FinishedServer { server, secrets } = finished;
        let before: BTreeSet<String> =
            now.as_ref().map(|now| known.own_secrets(&now.name)).unwrap_or_default();
        let new: BTreeSet<String> = secrets.iter().map(|(name, _)| name.clone()).collect();
        let storage = acts::keep(context, secrets).await.map_err(Some)?;
        let name = server.name.clone();
        // Whoever changes how a server is started that runs, or that does not start, wants to see how it is now.
        let is_other = now.as_ref().is_some_and(|now| now.digest() != server.digest());
        let is_restarted = is_other && self.is_started();
        let change = match now {
            Some(now) => Change::Replace { name: now.name, server },
            None => Change::Add(server),
        };
        let changed = context.servers.change(change).await;
        self.forget_unused(if changed.is_ok() { before } else { new }).await;
        changed.map_err(in_words)?;
        if let Some(storage @ KeyStorage::ThisRun(_)) = storage {
            context.tell(&words::key_storage(storage));
        }
        if is_restarted {
            acts::restart(context, &name);
        }
        Ok(())
    }

    /// The server that is edited, as the file has it now.
    fn now(&self) -> Result<Option<Server>, WriteError> {
        let Some(old) = &self.old else { return Ok(None) };
        let known = self.context.servers.servers.config();
        match known.server(&old.name) {
            None => Err(WriteError::NoServer { name: old.name.clone() }),
            // What is shown would be written over what another program has written since.
            Some(now) if now.digest() != old.digest() => Err(WriteError::Changed),
            Some(now) => Ok(Some(now.clone())),
        }
    }

    /// Whether the server that is edited runs, or was to.
    fn is_started(&self) -> bool {
        let Some(old) = &self.old else { return false };
        let status = self.context.servers.servers.status(&ServerKey::of_user(&old.name));
        status.is_some_and(|status| status.state != State::Stopped)
    }

    /// Removes those of these secrets to which no server refers.
    async fn forget_unused(&self, secrets: BTreeSet<String>) {
        let config = self.context.servers.servers.config();
        let used: BTreeSet<&str> =
            config.servers.iter().flat_map(|server| server.config.secrets()).collect();
        let unused = secrets.into_iter().filter(|name| !used.contains(&**name)).collect();
        acts::forget(&self.context, unused).await;
    }
}
