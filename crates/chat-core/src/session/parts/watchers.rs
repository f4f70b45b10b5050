//! Keeps the watchers of a session, and numbers the events that they get.

use std::sync::{Arc, Weak};

use crate::chat::Grown;
use crate::event::{Event, Growth, Mailbox, SessionEvent};
use crate::message::{Fid, MessageId};

/// The mailboxes of those who watch, and the number of the last event.
#[derive(Default)]
pub(crate) struct Watchers {
    seq: u64,
    mailboxes: Vec<Weak<Mailbox>>,
}

impl Watchers {
    /// The number of the last event.
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    /// Adds a mailbox. Events about the session that it has not taken yet are dropped: a snapshot replaces them.
    pub(crate) fn add(&mut self, fid: &Fid, mailbox: &Arc<Mailbox>) {
        self.remove(fid, mailbox);
        self.mailboxes.push(Arc::downgrade(mailbox));
    }

    pub(crate) fn remove(&mut self, fid: &Fid, mailbox: &Arc<Mailbox>) {
        mailbox.forget(fid);
        self.mailboxes
            .retain(|weak| weak.upgrade().is_some_and(|known| !Arc::ptr_eq(&known, mailbox)));
    }

    pub(crate) fn is_empty(&mut self) -> bool {
        self.mailboxes.retain(|weak| weak.strong_count() > 0);
        self.mailboxes.is_empty()
    }

    /// Numbers an event, and mails it.
    pub(crate) fn tell(&mut self, fid: &Fid, event: SessionEvent) {
        let event = Event::Session { fid: fid.clone(), seq: self.next(), event };
        for mailbox in self.mailboxes.iter().filter_map(Weak::upgrade) {
            mailbox.put(event.clone());
        }
    }

    /// Numbers the growth of a text, and mails where it grew.
    pub(crate) fn tell_grown(&mut self, fid: &Fid, message: MessageId, grown: Grown) {
        let Grown { part, kind, from, to, text } = grown;
        let growth =
            Growth { fid: fid.clone(), seq: self.next(), message, part, kind, from, to, text };
        for mailbox in self.mailboxes.iter().filter_map(Weak::upgrade) {
            mailbox.grow(&growth);
        }
    }

    fn next(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }
}
