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
    /// How many of the entries are none.
    superseded: usize,
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
    /// The byte up to which it was told: more may have been written since, and is told then.
    pub to: usize,
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
    /// Servers give the same ids to calls of different replies.
    Tool(MessageId, ToolCallId),
    Queue(Fid),
    Stage(Fid),
    Models,
    Connections,
    Agents,
    Settings,
    Notice(&'static str, Option<Fid>),
}

/// None where a later event never makes up for an earlier one.
fn key(event: &Event) -> Option<Key> {
    Some(match event {
        Event::SessionAdded(row) | Event::SessionChanged(row) => Key::Session(row.fid.clone()),
        Event::SessionRemoved { fid } => Key::Session(fid.clone()),
        Event::MessageAdded { message, .. } => Key::Added(message.id),
        Event::MessageChanged { message, .. } => Key::Changed(message.id),
        Event::TextAdded { message, part, .. } => Key::Text(*message, *part),
        Event::SessionReset { fid } => Key::Reset(fid.clone()),
        Event::ToolCallChanged { message, call, .. } => Key::Tool(*message, call.clone()),
        Event::QueueChanged { fid, .. } => Key::Queue(fid.clone()),
        Event::StageChanged { fid, .. } => Key::Stage(fid.clone()),
        // Each request ends in its own way, and whoever waits for one waits for that one.
        Event::RequestFinished { .. } => return None,
        Event::ModelsChanged => Key::Models,
        Event::ConnectionsChanged => Key::Connections,
        Event::AgentsChanged => Key::Agents,
        Event::SettingsChanged => Key::Settings,
        Event::Notice(failure) => Key::Notice(failure.error.kind.name(), failure.session.clone()),
    })
}

/// The session that an event is about, where only those who watch it hear of that.
fn watched(event: &Event) -> Option<&Fid> {
    match event {
        Event::MessageAdded { fid, .. }
        | Event::TextAdded { fid, .. }
        | Event::MessageChanged { fid, .. }
        | Event::SessionReset { fid }
        | Event::ToolCallChanged { fid, .. }
        | Event::QueueChanged { fid, .. }
        | Event::StageChanged { fid, .. } => Some(fid),
        _ => None,
    }
}

impl Entry {
    fn is_of(&self, session: &Fid) -> bool {
        match self {
            Self::Event(event) => watched(event) == Some(session),
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
                Entry::Event(event) => event,
                Entry::Text(growth) => {
                    let text = growth.text.between(growth.from, growth.to);
                    Event::TextAdded {
                        fid: growth.fid,
                        seq: growth.seq,
                        message: growth.message,
                        part: growth.part,
                        kind: growth.kind,
                        range: growth.from..growth.to,
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

    fn growth(text: &Arc<LiveText>, message: MessageId, (from, to): (usize, usize)) -> Growth {
        Growth {
            fid: Fid::new("a"),
            seq: 0,
            message,
            part: 0,
            kind: TextKind::Text,
            from,
            to,
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

    #[test]
    fn what_is_written_between_a_piece_and_its_telling_comes_once() {
        let mailbox = Arc::new(Mailbox::default());
        let mut subscription = Subscription { mailbox: Arc::clone(&mailbox) };
        let (text, message) = (Arc::new(LiveText::default()), MessageId::new());
        text.push("first ");
        mailbox.grow(&growth(&text, message, (0, 6)));
        // The session writes first and tells then; the subscriber comes in between.
        text.push("second");
        let mut seen = subscription.take();
        mailbox.grow(&growth(&text, message, (6, 12)));
        seen.extend(subscription.take());
        let pieces: Vec<_> = seen
            .iter()
            .map(|event| match event {
                Event::TextAdded { range, text, .. } => (range.clone(), text.as_str()),
                _ => panic!("only text"),
            })
            .collect();
        assert_eq!(pieces, [(0..6, "first "), (6..12, "second")]);
    }

    fn finished() -> Event {
        Event::RequestFinished {
            fid: Fid::new("a"),
            reason: crate::event::StopReason::Complete,
            usage: crate::message::Usage::default(),
            error: None,
        }
    }

    #[test]
    fn each_request_that_ended_is_told() {
        let hub = Hub::default();
        let mut subscription = hub.subscribe();
        hub.tell(&finished());
        hub.tell(&finished());
        assert_eq!(subscription.take().len(), 2);
    }

    #[test]
    fn calls_of_one_id_in_two_replies_are_two() {
        let hub = Hub::default();
        let mut subscription = hub.subscribe();
        for (fid, running) in [("a", true), ("b", true), ("b", false)] {
            static IDS: std::sync::OnceLock<[MessageId; 2]> = std::sync::OnceLock::new();
            let ids = IDS.get_or_init(|| [MessageId::new(), MessageId::new()]);
            hub.tell(&Event::ToolCallChanged {
                fid: Fid::new(fid),
                seq: 1,
                message: ids[usize::from(fid == "b")],
                call: ToolCallId::new("call_0"),
                running,
            });
        }
        let told: Vec<_> = subscription
            .take()
            .into_iter()
            .map(|event| match event {
                Event::ToolCallChanged { fid, running, .. } => (fid.to_string(), running),
                _ => panic!("only calls"),
            })
            .collect();
        assert_eq!(told, [("a".to_owned(), true), ("b".to_owned(), false)]);
    }

    #[test]
    fn a_subscriber_that_never_takes_does_not_fill_the_memory() {
        let hub = Hub::default();
        let mut subscription = hub.subscribe();
        hub.tell(&finished());
        for _ in 0..100_000 {
            hub.tell(&Event::ModelsChanged);
            hub.tell(&Event::SettingsChanged);
        }
        assert!(lock(&subscription.mailbox.dirty).entries.len() <= 2 * CROWDED);
        let events = subscription.take();
        assert!(
            matches!(
                events[..],
                [Event::RequestFinished { .. }, Event::ModelsChanged, Event::SettingsChanged]
            ),
            "{events:?}"
        );
    }

    #[test]
    fn what_a_snapshot_holds_is_forgotten_and_nothing_else() {
        let mailbox = Arc::new(Mailbox::default());
        let mut subscription = Subscription { mailbox: Arc::clone(&mailbox) };
        let (text, message) = (Arc::new(LiveText::default()), MessageId::new());
        text.push("one");
        mailbox.put(Event::ModelsChanged);
        mailbox.grow(&growth(&text, message, (0, 3)));
        mailbox.put(finished());
        mailbox.forget(&Fid::new("a"));
        text.push("two");
        mailbox.grow(&growth(&text, message, (3, 6)));
        let events = subscription.take();
        assert!(
            matches!(
                &events[..],
                [
                    Event::ModelsChanged,
                    Event::RequestFinished { .. },
                    Event::TextAdded { range: std::ops::Range { start: 3, end: 6 }, .. }
                ]
            ),
            "{events:?}"
        );
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
                mailbox.grow(&growth(&text, message, (from, text.len())));
                if *take {
                    read(&mut subscription);
                }
            }
            read(&mut subscription);
            prop_assert_eq!(whole, seen);
        }
    }
}
