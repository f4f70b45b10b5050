//! Reaches the servers of tools from the main loop.

use std::io;
use std::sync::Arc;

use chat_core::settings::KeyStorage;
use chat_mcp::config::{Change, Server, WriteError};
use chat_mcp::servers::{AddError, NewServer, Servers};
use tokio::runtime::Handle;
use tokio::sync::Mutex;

/// The servers, with the runtime on which they work. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ToolServers {
    pub(crate) servers: Servers,
    runtime: Handle,
    /// What a server becomes depends on what it was, so that changes are made one after another.
    turn: Arc<Mutex<()>>,
}

impl ToolServers {
    /// The servers, which work on this runtime, the engine's.
    pub fn new(servers: Servers, runtime: Handle) -> Self {
        Self { servers, runtime, turn: Arc::default() }
    }

    /// Does something with the servers on their runtime. It goes on if nobody waits for it any more. None if it could
    /// not be done to the end.
    pub(crate) async fn run<F>(&self, work: impl FnOnce(Servers) -> F) -> Option<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.runtime.spawn(work(self.servers.clone())).await.ok()
    }

    /// Does something that blocks.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        self.runtime.spawn_blocking(work).await.ok()
    }

    /// Changes the file. If somebody else changed it, it is read again.
    pub(crate) async fn change(&self, change: Change) -> Result<(), WriteError> {
        let _turn = self.turn.lock().await;
        self.write(change).await
    }

    /// Adds a server with its secrets. If somebody else changed the file, it is read again.
    pub(crate) async fn add(&self, new: NewServer) -> Result<Option<KeyStorage>, AddError> {
        let _turn = self.turn.lock().await;
        let servers = self.servers.clone();
        let adding = self.runtime.spawn(async move {
            let added = servers.add(new).await;
            if matches!(added, Err(AddError::Write(WriteError::Changed))) {
                servers.refresh(None).await;
            }
            added
        });
        adding.await.map_err(|error| WriteError::Io(io::Error::other(error)))?
    }

    /// Changes a server as the file has it now.
    pub(crate) async fn edit(
        &self,
        name: &str,
        edit: impl FnOnce(&mut Server),
    ) -> Result<(), WriteError> {
        let _turn = self.turn.lock().await;
        let known = self.servers.config().server(name).cloned();
        let mut server = known.ok_or_else(|| WriteError::NoServer { name: name.to_owned() })?;
        edit(&mut server);
        self.write(Change::Replace { name: name.to_owned(), server }).await
    }

    async fn write(&self, change: Change) -> Result<(), WriteError> {
        let servers = self.servers.clone();
        let changing = self.runtime.spawn(async move {
            let changed = servers.change(change).await;
            if matches!(changed, Err(WriteError::Changed)) {
                servers.refresh(None).await;
            }
            changed
        });
        let changed = changing.await;
        changed.map_err(|error| WriteError::Io(io::Error::other(error)))?
    }
}

/// The servers of a test.
#[cfg(test)]
pub(crate) fn below(folder: &std::path::Path, runtime: &Handle) -> ToolServers {
    let folders = chat_core::settings::Folders::below(folder);
    let options = chat_mcp::servers::ServersOptions::new(folders, runtime.clone());
    ToolServers::new(Servers::new(options), runtime.clone())
}
