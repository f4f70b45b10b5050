//! Sends what was written, in the order in which Enter was pressed, to the chat that it was for.
//!
//! Keys come before the widget's own messages, and who types fast is ahead of it: so the composer
//! hands a text over the moment that Enter is pressed.

use std::collections::{HashMap, VecDeque};

use chat_core::error::Result;
use chat_core::manager::Sent;
use chat_core::message::{ChatRequest, Delivery, Fid, MessageId};
use chat_core::permission::Mode;
use chat_presentation::slash_commands::{self, SlashCommand};

use super::{ChatComposer, Msg, Output, is_new};
use crate::composer::{Along, Written};

/// What left the composer, for the engine.
#[derive(Debug)]
pub(in super::super) struct Outgoing {
    pub(in super::super) written: Written,
    /// What of the open files does not go along.
    pub(in super::super) without: Vec<Along>,
    /// When it reaches the model where a reply runs, if not as the settings say.
    pub(in super::super) delivery: Option<Delivery>,
    /// The mode from this message on, if it names one.
    pub(in super::super) mode: Option<Mode>,
}

/// What was sent and is not on disk yet.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// What is to be sent in the chat that is shown, once that can be.
    waiting: VecDeque<Outgoing>,
    /// What left for the engine, with its chat, by the number of its sending.
    on_its_way: HashMap<u64, (Option<Fid>, Outgoing)>,
    /// A message that waited is edited in this chat: it goes back before the one that waits after it.
    place: Option<(Fid, MessageId)>,
    /// How many were sent.
    count: u64,
    /// The generation in which a message was sent that is not on disk yet.
    sending: Option<u64>,
}

impl Outbox {
    pub(super) fn is_any_on_its_way(&self) -> bool {
        !self.on_its_way.is_empty()
    }

    /// What left for the engine, by chat: nobody waits for it any more.
    pub(super) fn take_on_its_way(&mut self) -> impl Iterator<Item = (Option<Fid>, Written)> {
        let taken = std::mem::take(&mut self.on_its_way);
        taken.into_values().map(|(fid, outgoing)| (fid, outgoing.written))
    }
}

impl ChatComposer {
    /// What was written waits to be sent, without this.
    pub(in super::super) fn enqueue(
        &mut self,
        written: Written,
        without: Vec<Along>,
        delivery: Option<Delivery>,
    ) {
        self.outbox.waiting.push_back(Outgoing { written, without, delivery, mode: None });
    }

    /// What is sent next in this chat waits before this message, if that still waits then.
    pub(in super::super) fn set_place(&mut self, fid: &Fid, before: Option<MessageId>) {
        self.outbox.place = before.map(|before| (fid.clone(), before));
    }

    /// Takes the next message, if it can be sent now: for [`Self::send`].
    pub(in super::super) fn next_to_send(&mut self) -> Option<Outgoing> {
        let must_wait = self.is_switching || self.outbox.sending == Some(self.generation);
        if must_wait || self.is_ending() || self.manager.is_none() {
            return None;
        }
        self.outbox.waiting.pop_front()
    }

    /// Whether something waits to be sent.
    pub(in super::super) fn has_waiting(&self) -> bool {
        !self.outbox.waiting.is_empty()
    }

    /// What was taken to be sent cannot be sent yet.
    pub(in super::super) fn put_back(&mut self, outgoing: Outgoing) {
        self.outbox.waiting.push_front(outgoing);
    }

    /// Sends a message with this request, and the text of the command with which it begins, given with its arguments.
    pub(in super::super) fn send(
        &mut self,
        outgoing: Outgoing,
        mut request: ChatRequest,
        command: Option<(SlashCommand, String)>,
    ) {
        let Some(manager) = self.manager.clone() else { return };
        let generation = self.generation;
        self.outbox.sending = Some(generation);
        self.outbox.count += 1;
        let number = self.outbox.count;
        self.outbox.on_its_way.insert(number, (self.fid.clone(), outgoing));
        let is_here = |place: &mut (Fid, _)| request.session.as_ref() == Some(&place.0);
        let place = self.outbox.place.take_if(is_here);
        self.handle.spawn(async move {
            let attached = match &command {
                Some((command, arguments)) => {
                    slash_commands::attach(&manager, command, arguments, &mut request).await
                }
                None => Ok(()),
            };
            let result = match attached {
                Ok(()) => manager.send(request).await,
                Err(error) => Err(error),
            };
            if let (Ok(Sent { message, queued: true, .. }), Some((fid, before))) = (&result, place)
            {
                // Where that fails it waits after the others.
                let moved = manager.sessions().move_waiting(&fid, *message, Some(before)).await;
                if let Err(error) = moved {
                    tracing::warn!(%error, "a message did not go back to its place");
                }
            }
            Msg::Sent { generation, number, result }
        });
    }

    /// What waits to be sent becomes a draft of this chat.
    pub(in super::super) fn give_back_waiting(&mut self, fid: Option<&Fid>) {
        while let Some(outgoing) = self.outbox.waiting.pop_back() {
            self.drafts.give_back(fid, &outgoing.written);
        }
    }

    /// Takes what waits to be sent, for [`Self::put_waiting`].
    pub(in super::super) fn take_waiting(&mut self) -> VecDeque<Outgoing> {
        std::mem::take(&mut self.outbox.waiting)
    }

    /// What waited in a new chat is for the one that became of it.
    pub(in super::super) fn put_waiting(&mut self, waiting: VecDeque<Outgoing>) {
        self.outbox.waiting = waiting;
    }

    /// The message is on disk, or was not taken: then its text comes back.
    pub(super) fn sent(
        &mut self,
        generation: u64,
        number: u64,
        result: Result<Sent>,
    ) -> Option<Output> {
        let (from, Outgoing { written, without, .. }) = self.outbox.on_its_way.remove(&number)?;
        self.outbox.sending = self.outbox.sending.filter(|sending| *sending != generation);
        let is_there = generation == self.generation;
        match result {
            Ok(sent) => {
                self.stored(from.as_ref(), &written, is_there, &sent.fid);
                Some(Output::Stored { fid: sent.fid, is_new: is_new(from.as_ref()), is_there })
            }
            Err(error) => {
                if is_there {
                    self.give_back_waiting(from.as_ref());
                }
                self.give_back(from.as_ref(), &written);
                let without = if is_there { without } else { Vec::new() };
                let fid = from.filter(|fid| !is_new(Some(fid)));
                Some(Output::Refused { fid, error, without })
            }
        }
    }

    /// What was sent is no draft any more.
    fn stored(&mut self, from: Option<&Fid>, written: &Written, is_there: bool, fid: &Fid) {
        let typed = if is_there { self.field.content() } else { Written::default() };
        if self.drafts.get(from) == written || is_there {
            self.drafts.set(from, &Written::default());
        }
        if is_there && is_new(from) {
            // What was typed since is for the chat that became of the new one.
            self.drafts.set(Some(fid), &typed);
            self.field.set_content(&Written::default());
        } else if !is_there
            && !self.is_switching
            && self.fid.as_ref() == from
            && self.field.content() == *written
        {
            // Who went away and came back was shown the text while it was on its way.
            self.field.set_content(&Written::default());
        }
    }
}
