//! Starts the engine and ends it.

use std::cell::Cell;
use std::time::Duration;

use chat_core::agent::AgentRegistry;
use chat_core::client::Timeouts;
use chat_core::manager::{Manager, StartOptions};
use chat_core::models::HubOptions;
use chat_core::settings::Folders;
use chat_presentation::diagnostics::Diagnostics;

use crate::error::{CliError, Result, explain};
use crate::output::Output;
use crate::say;
use crate::terminal::{self, Terminal};

/// How long the engine may take to store what it has when the program ends.
const END: Duration = Duration::from_secs(10);

/// The running program: the engine, and where its words go.
#[derive(Debug)]
pub struct Program {
    pub manager: Manager,
    pub terminal: Terminal,
    pub output: Output,
    pub diagnostics: Diagnostics,
    pub folders: Folders,
    discovered: Cell<bool>,
}

/// Where everything is kept.
pub fn folders() -> Result<Folders> {
    Folders::from_env().ok_or_else(|| CliError::Said(say::no_home()))
}

impl Program {
    /// Starts the engine, and says what it found wrong. Better titles are worth asking for only
    /// where the program stays after the first reply.
    pub async fn start(
        folders: Folders,
        terminal: Terminal,
        diagnostics: Diagnostics,
        better_titles: bool,
    ) -> Result<Self> {
        // Only a second call can fail, and there is none.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let options = StartOptions {
            folders: folders.clone(),
            timeouts: Timeouts::default(),
            hub: HubOptions::from_env(),
            discover: false,
            better_titles,
            agents: AgentRegistry::built_in(),
            tools: chat_tools::all().into_iter().collect(),
            services: chat_tools::services(),
        };
        let manager = Manager::start(options).await?;
        for notice in manager.start_notices() {
            terminal::say(&explain(&notice, terminal));
        }
        // What went to a file or nowhere was read by nobody.
        if terminal.error {
            manager.start_notices_shown().await;
        }
        Ok(Self {
            manager,
            terminal,
            output: Output::new()?,
            diagnostics,
            folders,
            discovered: Cell::new(false),
        })
    }

    /// Has the servers asked for their models, and local ones looked for, once. Most commands do
    /// without: they must not wait, nor have others work, for what they do not need.
    pub fn discover(&self) {
        if !self.discovered.replace(true) {
            self.manager.connections().refresh();
        }
    }

    /// Waits until all servers have answered.
    pub async fn settled(&self) {
        self.discover();
        self.manager.connections().settled().await;
    }

    /// Stores what there is and ends the engine.
    pub async fn end(self) {
        if tokio::time::timeout(END, self.manager.shutdown()).await.is_err() {
            tracing::warn!("the engine did not end in time");
        }
    }
}
