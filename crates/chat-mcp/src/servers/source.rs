//! Gives the tools of all servers to the engine.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chat_core::tool::{Registry, SourceScope, ToolSource};
use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use tokio::sync::watch;

use super::Servers;
use super::entry::Entry;
use crate::connection::{Snapshot, State};
use crate::tools::{Offer, Share, choose};

/// How long a request waits for servers whose tools are not known yet: twice as long as one of the older revision may
/// leave the question for its revision unanswered.
const PREPARE: Duration = Duration::from_secs(20);

#[async_trait]
impl ToolSource for Servers {
    async fn prepare(&self, project: Option<&Path>, waits_for: &(dyn Fn(Vec<String>) + Sync)) {
        self.refresh(project).await;
        let entries = self.lock().of_session(project);
        join_all(entries.iter().map(Entry::tools)).await;
        // One that failed, or for which a request has waited, is not waited for: it is there when it is.
        let is_waited_for = |entry: &&Arc<Entry>| match entry.connection().snapshot() {
            Snapshot { state: State::Failed { .. }, .. } => false,
            Snapshot { state: State::Starting, trouble, .. } => {
                trouble.is_none() && !entry.was_awaited() && entry.offer().is_none()
            }
            Snapshot { state: State::Stopped | State::Running, .. } => entry.offer().is_none(),
        };
        let mut awaited: Vec<_> = entries.iter().filter(is_waited_for).cloned().collect();
        let ready = |entry: Arc<Entry>| async move {
            drop(entry.connection().ready(PREPARE).await);
            entry.set_awaited();
            entry
        };
        let mut waiting: FuturesUnordered<_> = awaited.iter().cloned().map(ready).collect();
        while !awaited.is_empty() {
            waits_for(awaited.iter().map(|entry| entry.key().name.clone()).collect());
            let Some(ready) = waiting.next().await else { break };
            awaited.retain(|entry| !Arc::ptr_eq(entry, &ready));
        }
        join_all(entries.iter().map(Entry::tools)).await;
    }

    async fn recall(&self, project: Option<&Path>) {
        self.refresh(project).await;
        let entries = self.lock().of_session(project);
        join_all(entries.iter().map(Entry::tools)).await;
    }

    fn tools(&self, session: SourceScope<'_>) -> Registry {
        let entries = self.lock().of_session(session.project);
        let offers: Vec<(String, Arc<Offer>)> = entries
            .iter()
            .filter_map(|entry| Some((entry.key().name.clone(), entry.offer()?)))
            .collect();
        let share = Share { window: session.window, percent: session.percent };
        choose(&offers, session.memory, share)
    }

    fn known(&self) -> Registry {
        let offers = self.lock().entries().into_iter().filter_map(|entry| entry.offer());
        offers
            .flat_map(|offer| offer.tools.iter().map(|it| Arc::clone(&it.tool)).collect::<Vec<_>>())
            .collect()
    }

    fn changes(&self) -> watch::Receiver<()> {
        Servers::changes(self)
    }

    async fn close(&self) {
        let entries = self.lock().entries();
        join_all(entries.iter().map(|entry| entry.connection().stop())).await;
        self.0.settle().await;
    }
}
