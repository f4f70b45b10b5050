//! A subscriber's mailbox: what is new and not yet taken.
//!
//! It is a set of what is dirty, in the order in which it became so: one entry for each thing that
//! an event can be about, and for a growing text the place up to which it was taken. So it is
//! bounded by what there is to show, nothing is lost, and a slow subscriber slows nobody.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::Notify;

use super::{Event, LiveText, TextKind};
use crate::message::{Fid, MessageId, ToolCallId};

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

/// The subscribers, as those see them who tell.
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
    closed: bool,
}

#[derive(Debug)]
enum Entry {
    Event(Event),
    Text(Growth),
}

/// A piece of text that was told of and not yet taken.
#[derive(Clone, Debug)]
pub(crate) struct Growth {
    pub fid: Fid,
    pub seq: u64,
    pub message: MessageId,
    pub part: usize,
    pub kind: TextKind,
    /// The byte from which it is new.
    pub from: usize,
    pub text: Arc<LiveText>,
}

/// What an entry is about.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Session(Fid),
    Added(MessageId),
    Changed(MessageId),
    Text(MessageId, usize),
    Reset(Fid),
    Tool(ToolCallId),
    Queue(Fid),
    Stage(Fid),
    Finished(Fid),
    Models,
    Connections,
    Agents,
    Settings,
    Notice(&'static str, Option<Fid>),
}

fn key(event: &Event) -> Key {
    match event {
        Event::SessionAdded(row) | Event::SessionChanged(row) => Key::Session(row.fid.clone()),
        Event::SessionRemoved { fid } => Key::Session(fid.clone()),
        Event::MessageAdded { message, .. } => Key::Added(message.id),
        Event::MessageChanged { message, .. } => Key::Changed(message.id),
        Event::TextAdded { message, part, .. } => Key::Text(*message, *part),
        Event::SessionReset { fid } => Key::Reset(fid.clone()),
        Event::ToolCallChanged { call, .. } => Key::Tool(call.clone()),
        Event::QueueChanged { fid, .. } => Key::Queue(fid.clone()),
        Event::StageChanged { fid, .. } => Key::Stage(fid.clone()),
        Event::RequestFinished { fid, .. } => Key::Finished(fid.clone()),
        Event::ModelsChanged => Key::Models,
        Event::ConnectionsChanged => Key::Connections,
        Event::AgentsChanged => Key::Agents,
        Event::SettingsChanged => Key::Settings,
        Event::Notice(failure) => Key::Notice(failure.error.kind.name(), failure.session.clone()),
    }
}

impl Mailbox {
    /// Puts an event in; an earlier one about the same is superseded.
    pub(crate) fn put(&self, mut event: Event) {
        let mut dirty = lock(&self.dirty);
        let place = dirty.entries.len();
        if let Some(old) = dirty.places.insert(key(&event), place) {
            let old = dirty.entries[old].take();
            // Whoever has not heard of a session must hear of it as added.
            if let (Some(Entry::Event(Event::SessionAdded(_))), Event::SessionChanged(row)) =
                (old, &event)
            {
                event = Event::SessionAdded(row.clone());
            }
        }
        dirty.entries.push(Some(Entry::Event(event)));
        drop(dirty);
        self.bell.notify_one();
    }

    /// Notes that a text grew. What is not yet taken of it stays one entry, at its first place.
    pub(crate) fn grow(&self, growth: &Growth) {
        let mut dirty = lock(&self.dirty);
        let key = Key::Text(growth.message, growth.part);
        if let Some(&place) = dirty.places.get(&key) {
            if let Some(Some(Entry::Text(known))) = dirty.entries.get_mut(place) {
                known.seq = growth.seq;
            }
            return;
        }
        let place = dirty.entries.len();
        dirty.places.insert(key, place);
        dirty.entries.push(Some(Entry::Text(growth.clone())));
        drop(dirty);
        self.bell.notify_one();
    }

    fn take(&self) -> (Vec<Event>, bool) {
        let (entries, closed) = {
            let mut dirty = lock(&self.dirty);
            dirty.places.clear();
            (std::mem::take(&mut dirty.entries), dirty.closed)
        };
        let events = entries
            .into_iter()
            .flatten()
            .map(|entry| match entry {
                Entry::Event(event) => event,
                Entry::Text(growth) => {
                    let text = growth.text.since(growth.from);
                    Event::TextAdded {
                        fid: growth.fid,
                        seq: growth.seq,
                        message: growth.message,
                        part: growth.part,
                        kind: growth.kind,
                        range: growth.from..growth.from + text.len(),
                        text,
                    }
                }
            })
            .collect();
        (events, closed)
    }
}

/// A lock whose holder panicked is taken all the same: what it guards is only ever replaced whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn growth(text: &Arc<LiveText>, message: MessageId, from: usize) -> Growth {
        Growth {
            fid: Fid::new("a"),
            seq: 0,
            message,
            part: 0,
            kind: TextKind::Text,
            from,
            text: Arc::clone(text),
        }
    }

    #[test]
    fn a_later_event_supersedes_an_earlier_one_about_the_same() {
        let hub = Hub::default();
        let mut subscription = hub.subscribe();
        hub.tell(&Event::ModelsChanged);
        hub.tell(&Event::SettingsChanged);
        hub.tell(&Event::ModelsChanged);
        let events = subscription.take();
        assert!(matches!(events[..], [Event::SettingsChanged, Event::ModelsChanged]), "{events:?}");
        assert!(subscription.take().is_empty());
    }

    #[tokio::test]
    async fn a_subscription_ends_with_its_hub() {
        let hub = Hub::default();
        let mut subscription = hub.subscribe();
        hub.tell(&Event::AgentsChanged);
        drop(hub);
        assert_eq!(subscription.next().await.map(|events| events.len()), Some(1));
        assert!(subscription.next().await.is_none());
    }

    proptest! {
        /// However often it is taken: the pieces joined are the whole text, and their ranges meet.
        #[test]
        fn no_text_is_lost(pieces in prop::collection::vec((".{0,8}", any::<bool>()), 0..60)) {
            let mailbox = Arc::new(Mailbox::default());
            let mut subscription = Subscription { mailbox: Arc::clone(&mailbox) };
            let text = Arc::new(LiveText::default());
            let message = MessageId::new();
            let mut whole = String::new();
            let mut seen = String::new();
            let mut read = |subscription: &mut Subscription| {
                for event in subscription.take() {
                    let Event::TextAdded { range, text, .. } = event else { panic!("only text") };
                    assert_eq!(range, seen.len()..seen.len() + text.len());
                    seen.push_str(&text);
                }
            };
            for (piece, take) in &pieces {
                let from = text.push(piece);
                whole.push_str(piece);
                mailbox.grow(&growth(&text, message, from));
                if *take {
                    read(&mut subscription);
                }
            }
            read(&mut subscription);
            prop_assert_eq!(whole, seen);
        }
    }
}
