//! Defines where tools come from that are not known when the program starts, such as those of MCP servers.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;

use super::{Memory, Registry};

/// Gives tools that come and go while the program runs.
#[async_trait]
pub trait ToolSource: Send + Sync + std::fmt::Debug {
    /// Finds out which tools a session of this project, or of none, has, and waits for that; how long at most is the
    /// source's own limit. What is not known by then comes with a later round. `waits_for` is told the names of the
    /// servers that are waited for, each time there are others; it must return at once.
    async fn prepare(&self, project: Option<&Path>, waits_for: &(dyn Fn(Vec<String>) + Sync));

    /// Reads what is known of the tools of such a session, and waits for that. Starts nothing.
    async fn recall(&self, project: Option<&Path>);

    /// What a session is offered now, as far as it is known. Waits for nothing.
    fn tools(&self, session: SourceScope<'_>) -> Registry;

    /// All tools that are known, for front ends.
    fn known(&self) -> Registry;

    /// Told whenever the tools change.
    fn changes(&self) -> watch::Receiver<()>;

    /// Ends all that was begun, and waits until it has ended.
    async fn close(&self);
}

/// Which session a [`ToolSource`] gives tools for.
#[derive(Clone)]
pub struct SourceScope<'a> {
    /// The session's project.
    pub project: Option<&'a Path>,
    /// What its tools remember.
    pub memory: &'a Arc<Memory>,
    /// How many tokens the model's window has, where that is known.
    pub window: Option<u32>,
    /// How much of that window the tools of servers may take, in percent.
    pub percent: u32,
}
