//! Starts the engine and ends it.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use chat_core::agent::AgentRegistry;
use chat_core::client::Timeouts;
use chat_core::manager::{Manager, StartOptions};
use chat_core::models::HubOptions;
use chat_core::settings::Folders;
use chat_core::tool::ToolServices;
use chat_mcp::servers::{Servers, ServersOptions};
use chat_presentation::diagnostics::Diagnostics;

use crate::error::{CliError, Result, explain};
use crate::output::Output;
use crate::say;
use crate::terminal::{self, Terminal};

/// How long the engine may take to store its data when the program ends.
const END: Duration = Duration::from_secs(10);

/// The running program: the engine, and the output streams.
#[derive(Debug)]
pub struct Program {
    pub manager: Manager,
    pub terminal: Terminal,
    pub output: Output,
    pub diagnostics: Diagnostics,
    pub folders: Folders,
    pub servers: Servers,
    discovered: Cell<bool>,
}

/// The folders with Natter's data.
pub fn folders() -> Result<Folders> {
    Folders::from_env().ok_or_else(|| CliError::Said(say::no_home()))
}

impl Program {
    /// Starts the engine, and reports what it found wrong. Generated titles are worth a request
    /// only if the program keeps running after the first reply.
    pub async fn start(
        folders: Folders,
        terminal: Terminal,
        diagnostics: Diagnostics,
        better_titles: bool,
    ) -> Result<Self> {
        // Only a second call can fail, and there is none.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = tokio::runtime::Handle::current();
        let servers = Servers::new(ServersOptions::new(folders.clone(), runtime));
        let options = StartOptions {
            folders: folders.clone(),
            home: Folders::home(),
            timeouts: Timeouts::default(),
            hub: HubOptions::from_env(),
            discover: false,
            better_titles,
            agents: AgentRegistry::built_in(),
            tools: chat_tools::all().into_iter().collect(),
            tool_source: Some(Arc::new(servers.clone())),
            services: ToolServices {
                server_context: Some(Arc::new(servers.clone())),
                ..chat_tools::services()
            },
        };
        let manager = Manager::start(options).await?;
        for notice in manager.start_notices() {
            terminal::say(&explain(&notice, terminal));
        }
        // Messages that went to a file or nowhere were not read by anybody.
        if terminal.error {
            manager.start_notices_shown().await;
        }
        Ok(Self {
            manager,
            terminal,
            output: Output::new()?,
            diagnostics,
            folders,
            servers,
            discovered: Cell::new(false),
        })
    }

    /// Queries the servers for their models and looks for local ones, once. Most commands do not
    /// need this: they must neither wait nor cause work for something that they do not use.
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

    /// Stores everything and ends the engine.
    pub async fn end(self) {
        if tokio::time::timeout(END, self.manager.shutdown()).await.is_err() {
            tracing::warn!("the engine did not end in time");
        }
    }
}
