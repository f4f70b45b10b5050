//! Collects the events that a subscriber has not taken yet.
//!
//! It is a set of what is dirty, in the order in which it became so: one entry for each thing that
//! an event can be about, and for a growing text the place up to which it was taken. So it is
//! bounded by what there is to show, nothing is lost, and a slow subscriber slows nobody.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::Notify;

use super::session::SessionKey;
use super::{Event, SessionEvent, TextKind};
use crate::chat::LiveText;
use crate::message::{Fid, MessageId};

/// A place among the Manager's subscribers. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscription {
    mailbox: Arc<Mailbox>,
}

impl Subscription {
    /// Waits until there is something, and takes all of it, in order. Cancel-safe: dropping the
    /// future loses nothing. Ends with none when the Manager is gone.
    pub async fn next(&mut self) -> Option<Vec<Event>> {
        loop {
            let bell = self.mailbox.bell.notified();
            let (events, closed) = self.mailbox.take();
            if !events.is_empty() {
                return Some(events);
            }
            if closed {
                return None;
            }
            bell.await;
        }
    }

    /// Takes what is there without waiting; empty where there is nothing.
    pub fn take(&mut self) -> Vec<Event> {
        self.mailbox.take().0
    }

    pub(crate) fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }
}

/// The subscribers, as publishers see them.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    mailboxes: Mutex<Vec<Weak<Mailbox>>>,
}

impl Hub {
    pub(crate) fn subscribe(&self) -> Subscription {
        let mailbox = Arc::new(Mailbox::default());
        let mut all = lock(&self.mailboxes);
        all.retain(|weak| weak.strong_count() > 0);
        all.push(Arc::downgrade(&mailbox));
        Subscription { mailbox }
    }

    /// Tells every subscriber.
    pub(crate) fn tell(&self, event: &Event) {
        for mailbox in lock(&self.mailboxes).iter().filter_map(Weak::upgrade) {
            mailbox.put(event.clone());
        }
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        for mailbox in lock(&self.mailboxes).iter().filter_map(Weak::upgrade) {
            lock(&mailbox.dirty).closed = true;
            mailbox.bell.notify_one();
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    dirty: Mutex<Dirty>,
    bell: Notify,
}

#[derive(Debug, Default)]
struct Dirty {
    /// In the order of becoming dirty; none where an entry was superseded by a later one.
    entries: Vec<Option<Entry>>,
    places: HashMap<Key, usize>,
    /// How many of the entries are none.
    superseded: usize,
    closed: bool,
}

#[derive(Debug)]
enum Entry {
    Event(Box<Event>),
    Text(Growth),
}

/// A piece of text that was announced and not taken yet.
#[derive(Clone, Debug)]
pub(crate) struct Growth {
    pub fid: Fid,
    pub seq: u64,
    pub message: MessageId,
    pub part: usize,
    pub kind: TextKind,
    /// The byte from which it is new.
    pub from: usize,
    /// The byte up to which it was announced. More may have been written since; that is announced later.
    pub to: usize,
    pub text: Arc<LiveText>,
}

/// What an entry is about.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    /// A row of the list of sessions.
    Row(Fid),
    Session(Fid, SessionKey),
    Approvals,
    Models,
    Tools,
    Downloads,
    Connections,
    Show,
    AgentKinds,
    Definitions(Option<PathBuf>),
    Settings,
    Notice(&'static str, Option<Fid>),
}

/// None where a later event never makes up for an earlier one.
fn key(event: &Event) -> Option<Key> {
    Some(match event {
        Event::SessionAdded(row) | Event::SessionChanged(row) => Key::Row(row.fid.clone()),
        Event::SessionRemoved { fid } => Key::Row(fid.clone()),
        Event::Session { fid, event, .. } => Key::Session(fid.clone(), event.key()),
        Event::ApprovalsChanged { .. } => Key::Approvals,
        // Each request ends in its own way, and whoever waits for one waits for that one.
        Event::RequestFinished { .. } => return None,
        Event::ModelsChanged => Key::Models,
        Event::ToolsChanged => Key::Tools,
        Event::DownloadsChanged => Key::Downloads,
        Event::ConnectionsChanged => Key::Connections,
        Event::ShowRequested { .. } => Key::Show,
        Event::AgentKindsChanged => Key::AgentKinds,
        Event::DefinitionsChanged { project } => Key::Definitions(project.clone()),
        Event::SettingsChanged => Key::Settings,
        Event::Notice(failure) => Key::Notice(failure.error.kind.name(), failure.session.clone()),
    })
}

impl Entry {
    fn is_of(&self, session: &Fid) -> bool {
        match self {
            Self::Event(event) => matches!(&**event, Event::Session { fid, .. } if fid == session),
            Self::Text(growth) => growth.fid == *session,
        }
    }
}

/// From how many entries on it is worth looking for superseded ones.
const CROWDED: usize = 256;

impl Dirty {
    /// Takes superseded entries out where they are the most: nobody may ever take these.
    fn tidy(&mut self) {
        if self.entries.len() < CROWDED || self.superseded * 2 < self.entries.len() {
            return;
        }
        let mut kept = 0;
        let places: Vec<_> = self
            .entries
            .iter()
            .map(|entry| {
                kept += usize::from(entry.is_some());
                kept
            })
            .collect();
        self.places.retain(|_, place| {
            let there = self.entries[*place].is_some();
            *place = places[*place].saturating_sub(1);
            there
        });
        self.entries.retain(Option::is_some);
        self.superseded = 0;
    }
}

impl Mailbox {
    /// Puts an event in; an earlier one about the same is superseded.
    pub(crate) fn put(&self, mut event: Event) {
        let mut dirty = lock(&self.dirty);
        dirty.tidy();
        let place = dirty.entries.len();
        if let Some(old) = key(&event).and_then(|key| dirty.places.insert(key, place)) {
            let old = dirty.entries[old].take();
            dirty.superseded += 1;
            // Whoever has not heard of a session must hear of it as added.
            if let (Some(Entry::Event(old)), Event::SessionChanged(row)) = (old, &event)
                && matches!(*old, Event::SessionAdded(_))
            {
                event = Event::SessionAdded(row.clone());
            }
        }
        dirty.entries.push(Some(Entry::Event(Box::new(event))));
        drop(dirty);
        self.bell.notify_one();
    }

    /// Notes that a text grew. What is not yet taken of it stays one entry, at its first place.
    pub(crate) fn grow(&self, growth: &Growth) {
        let mut dirty = lock(&self.dirty);
        let key = SessionKey::Text(growth.message, growth.part);
        let key = Key::Session(growth.fid.clone(), key);
        if let Some(&place) = dirty.places.get(&key) {
            if let Some(Some(Entry::Text(known))) = dirty.entries.get_mut(place) {
                known.seq = growth.seq;
                known.to = growth.to;
            }
            return;
        }
        let place = dirty.entries.len();
        dirty.places.insert(key, place);
        dirty.entries.push(Some(Entry::Text(growth.clone())));
        drop(dirty);
        self.bell.notify_one();
    }

    /// Forgets what is there about a session's messages: a snapshot that holds it comes instead, or
    /// nobody watches any more.
    pub(crate) fn forget(&self, session: &Fid) {
        let mut dirty = lock(&self.dirty);
        let Dirty { entries, places, superseded, .. } = &mut *dirty;
        for entry in entries.iter_mut() {
            if entry.as_ref().is_some_and(|entry| entry.is_of(session)) {
                *entry = None;
                *superseded += 1;
            }
        }
        places.retain(|_, place| entries[*place].is_some());
    }

    fn take(&self) -> (Vec<Event>, bool) {
        let (entries, closed) = {
            let mut dirty = lock(&self.dirty);
            dirty.places.clear();
            dirty.superseded = 0;
            (std::mem::take(&mut dirty.entries), dirty.closed)
        };
        let events = entries
            .into_iter()
            .flatten()
            .map(|entry| match entry {
                Entry::Event(event) => *event,
                Entry::Text(growth) => {
                    let text = growth.text.between(growth.from, growth.to);
                    let event = SessionEvent::TextAdded {
                        message: growth.message,
                        part: growth.part,
                        kind: growth.kind,
                        range: growth.from..growth.to,
                        text,
                    };
                    Event::Session { fid: growth.fid, seq: growth.seq, event }
                }
            })
            .collect();
        (events, closed)
    }
}

/// Takes the lock even if its holder panicked: the guarded value is only ever replaced as a whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
