//! Follows what other processes change, and tells subscribers.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, PoisonError, Weak};

use super::{Event, Fid, Inner, Manager};
use crate::store::SessionRecord;

/// What a session's row was, for telling that it changed: thousands of whole rows would be
/// megabytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint(u64);

impl Fingerprint {
    fn of(record: &SessionRecord) -> Self {
        let mut hasher = DefaultHasher::new();
        record.hash(&mut hasher);
        Self(hasher.finish())
    }
}

impl Manager {
    /// Follows the database, the configuration file, the list of models and the downloads until the
    /// Manager is gone. Wakes only when something changed.
    pub(super) fn follow(&self) {
        let weak = Arc::downgrade(&self.inner);
        let closing = self.inner.closing.clone();
        let mut changes = self.inner.shared.store.changes();
        self.inner.shared.runtime.spawn(closing.clone().run_until_cancelled_owned(async move {
            loop {
                changes.next().await;
                let Some(manager) = Self::upgrade(&weak) else { return };
                manager.compare().await;
            }
        }));
        let weak = Arc::downgrade(&self.inner);
        let mut changes = self.inner.settings.changes();
        self.inner.shared.runtime.spawn(closing.clone().run_until_cancelled_owned(async move {
            loop {
                changes.touched().await;
                let Some(manager) = Self::upgrade(&weak) else { return };
                // What is read first is taken first: of two changes the later one is known then.
                let _changing = manager.inner.changing.lock().await;
                if let Some(settings) = changes.read_again() {
                    manager.take_settings(settings);
                    manager.connections().refresh();
                }
            }
        }));
        if let Some(source) = &self.inner.shared.tool_source {
            let (mut changes, hub) = (source.changes(), Arc::clone(&self.inner.shared.hub));
            self.inner.shared.runtime.spawn(closing.clone().run_until_cancelled_owned(
                async move {
                    while changes.changed().await.is_ok() {
                        hub.tell(&Event::ToolsChanged);
                    }
                },
            ));
        }
        let weak = Arc::downgrade(&self.inner);
        let mut changes = self.inner.library.changes();
        self.inner.downloads.follow();
        let library = self.inner.library.clone();
        self.inner.shared.runtime.spawn_blocking(move || {
            if let Err(error) = library.tidy() {
                tracing::warn!(%error, "what is left of models was not taken up");
            }
        });
        self.inner.shared.runtime.spawn(closing.run_until_cancelled_owned(async move {
            loop {
                changes.next().await;
                let Some(manager) = Self::upgrade(&weak) else { return };
                manager.library_changed();
            }
        }));
    }

    pub(super) fn upgrade(weak: &Weak<Inner>) -> Option<Self> {
        weak.upgrade().map(|inner| Self { inner })
    }

    /// Reads the list of sessions again and reports what is new in it.
    async fn compare(&self) {
        // Taken before the list is read: what is loaded by then is in it, unless it was deleted.
        let loaded: Vec<Fid> = self.sessions_lock().keys().cloned().collect();
        let records = match self.inner.shared.store.sessions().await {
            Ok(records) => records,
            Err(error) => {
                tracing::warn!(%error, "the list of sessions could not be read again");
                return;
            }
        };
        let old = self.remember(&records);
        let hub = &self.inner.shared.hub;
        for record in &records {
            let known = old.get(&record.fid);
            let as_known = known == Some(&Fingerprint::of(record));
            let loaded = self.loaded(&record.fid);
            // A reply that another process writes changes no row until it ends.
            if as_known && !record.in_use && loaded.is_none() {
                continue;
            }
            let row = match loaded {
                Some(session) => {
                    if let Err(error) = session.take_record(record).await {
                        tracing::warn!(%error, "a session could not be read again");
                    }
                    session.placeholder()
                }
                None => record.meta.clone().into(),
            };
            match known {
                None => hub.tell(&Event::SessionAdded(row)),
                Some(_) if !as_known => hub.tell(&Event::SessionChanged(row)),
                Some(_) => {}
            }
        }
        let now: std::collections::BTreeSet<&Fid> =
            records.iter().map(|record| &record.fid).collect();
        let known: std::collections::BTreeSet<Fid> = old.into_keys().chain(loaded).collect();
        for fid in known.into_iter().filter(|fid| !now.contains(fid)) {
            // Nobody will read the reply that it may be writing.
            if let Some(session) = self.sessions_lock().remove(&fid) {
                session.halt();
            }
            hub.tell(&Event::SessionRemoved { fid });
        }
    }

    /// Keeps rows to compare with that are not known yet. Those that are stay as they were: what
    /// changed in them is still to be reported.
    pub(super) fn remember_first(&self, records: &[SessionRecord]) {
        let mut known = self.inner.rows.lock().unwrap_or_else(PoisonError::into_inner);
        for record in records {
            known.entry(record.fid.clone()).or_insert_with(|| Fingerprint::of(record));
        }
    }

    /// Keeps the rows to compare with, and gives the former ones.
    pub(super) fn remember(&self, records: &[SessionRecord]) -> BTreeMap<Fid, Fingerprint> {
        let rows =
            records.iter().map(|record| (record.fid.clone(), Fingerprint::of(record))).collect();
        let mut known = self.inner.rows.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut known, rows)
    }
}
