//! Asks the servers which models they have, and finds those that run on this machine.

use std::sync::Arc;

use super::questions::{About, Round};
use super::{ConnectionRegistry, Entry, same_address};
use crate::client::{ModelInfo, Probe, find_local};
use crate::event::{Event, Health};
use crate::settings::Connection;

impl ConnectionRegistry {
    /// Asks all servers for their models, and looks for local ones.
    pub(in crate::manager) fn refresh(self: &Arc<Self>) {
        let (names, look) = {
            let mut known = self.lock();
            for entry in &mut known.entries {
                if matches!(entry.health, Health::Failed(_)) {
                    entry.health = Health::Checking;
                }
            }
            let names: Vec<_> =
                known.entries.iter().map(|entry| entry.connection.name.clone()).collect();
            (names, known.settings.chat.find_local_servers)
        };
        for name in names {
            self.ask(name);
        }
        if look {
            self.probe_local();
        }
        self.hub.tell(&Event::ConnectionsChanged);
    }

    /// Asks failed servers again, and looks for local ones; reports only the results.
    /// What is being asked is not asked again: a silent server takes longer than until the next
    /// call.
    pub(in crate::manager) fn retry_failed(self: &Arc<Self>) {
        let (failed, look) = {
            let known = self.lock();
            let failed = known.entries.iter().filter(|e| matches!(e.health, Health::Failed(_)));
            let names: Vec<_> = failed.map(|entry| entry.connection.name.clone()).collect();
            (names, known.settings.chat.find_local_servers)
        };
        let asked = |about: &About| self.open.borrow().is_open(about);
        for name in failed {
            if !asked(&About::Connection(name.clone())) {
                self.ask(name);
            }
        }
        if look && !asked(&About::Places) {
            self.probe_local();
        }
    }

    /// Asks one server for its models.
    pub(in crate::manager) fn ask(self: &Arc<Self>, name: String) {
        self.ask_in(self.next_round(), name);
    }

    fn ask_in(self: &Arc<Self>, round: Round, name: String) {
        let about = About::Connection(name.clone());
        self.spawn_question(round, about, |this| async move { this.check(&name).await });
    }

    fn probe_local(self: &Arc<Self>) {
        let round = self.next_round();
        let look = move |this: Arc<Self>| async move { this.find_local(round).await };
        self.spawn_question(round, About::Places, look);
    }

    fn next_round(&self) -> Round {
        let mut round = Round::default();
        self.open.send_modify(|open| round = open.next_round());
        round
    }

    fn spawn_question<F: Future<Output = ()> + Send + 'static>(
        self: &Arc<Self>,
        round: Round,
        about: About,
        question: impl FnOnce(Arc<Self>) -> F,
    ) {
        self.open.send_modify(|open| open.open(round, about.clone()));
        let question = question(Arc::clone(self));
        let this = Arc::clone(self);
        self.runtime.spawn(async move {
            // A separate task, so that it is closed in any case.
            let _ = tokio::spawn(question).await;
            this.open.send_modify(|open| open.close(round, &about));
        });
    }

    async fn check(&self, name: &str) {
        let Some(asked) = self.entry(name).map(|entry| entry.connection) else { return };
        let outcome = async { self.client_of(name).await?.models().await }.await;
        {
            let mut known = self.lock();
            let mut entries = known.entries.iter_mut();
            let entry = entries.find(|entry| entry.connection.is_same_server(&asked));
            // It may have been changed or removed meanwhile.
            let Some(entry) = entry else { return };
            match outcome {
                Ok(listed) => {
                    let models = with_typed(listed, &asked);
                    entry.health = Health::Ready { models: models.len() };
                    entry.models = models;
                }
                Err(error) => {
                    if !entry.built_in {
                        entry.client = None;
                    }
                    entry.health = Health::Failed(error.on(name));
                    entry.models.clear();
                }
            }
        }
        self.hub.tell(&Event::ConnectionsChanged);
        self.hub.tell(&Event::ModelsChanged);
    }

    async fn find_local(self: &Arc<Self>, round: Round) {
        let host = std::env::var("OLLAMA_HOST").ok();
        let mut candidates = Probe::usual(host.as_deref()).candidates;
        {
            let known = self.lock();
            candidates.retain(|candidate| {
                let known =
                    known.entries.iter().filter(|entry| !entry.discovered && !entry.built_in);
                let taken = |entry: &Entry| same_address(&entry.connection.url, &candidate.url);
                !known.into_iter().any(taken)
            });
        }
        let found = find_local(&Probe { candidates }).await;
        let names: Vec<_> = {
            let mut known = self.lock();
            known.entries.retain(|entry| {
                !entry.discovered || found.iter().any(|found| found.connection == entry.connection)
            });
            let mut names = Vec::new();
            for found in found {
                let name = &found.connection.name;
                if !known.entries.iter().any(|entry| entry.connection.name == *name) {
                    names.push(name.clone());
                    // Natter's own comes last: who has a server has larger models there.
                    let last = known.entries.iter().position(|entry| entry.built_in);
                    let place = last.unwrap_or(known.entries.len());
                    known.entries.insert(place, Entry::new(found.connection, true));
                }
            }
            names
        };
        for name in names {
            // Whoever waits for this question wants to know what it found.
            self.ask_in(round, name);
        }
        self.hub.tell(&Event::ConnectionsChanged);
        self.hub.tell(&Event::ModelsChanged);
    }

    /// Waits until what is being asked now is answered, and not for what is asked meanwhile.
    pub(in crate::manager) async fn settled(&self) {
        let mut open = self.open.subscribe();
        let up_to = open.borrow().last_round();
        // The sender lives as long as we do.
        let _ = open.wait_for(|open| open.are_answered(up_to)).await;
    }
}

/// The models that a server lists, and those that the person says that it has.
pub(super) fn with_typed(mut models: Vec<ModelInfo>, connection: &Connection) -> Vec<ModelInfo> {
    for name in &connection.models {
        if !models.iter().any(|model| model.name == *name) {
            models.push(ModelInfo { name: name.clone(), ..ModelInfo::default() });
        }
    }
    models
}
