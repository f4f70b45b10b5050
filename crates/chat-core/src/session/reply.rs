//! A reply while it is being written.

use std::sync::Arc;
use std::time::Instant;

use super::Session;
use crate::agent::ReplyEnd;
use crate::event::{Growth, LiveText, Stage, TextKind};
use crate::message::thoughts::sort_thoughts;
use crate::message::{Message, MessageId, Part};
use crate::store::{Segment, SegmentKind};

/// A reply being written: the message as it began, and its texts as they grow.
pub(super) struct LiveReply {
    began: Arc<Message>,
    parts: Vec<LivePart>,
}

struct LivePart {
    kind: TextKind,
    text: Arc<LiveText>,
    /// How many bytes of it the journal has.
    journaled: usize,
    since: Instant,
    /// How long it took, once another part follows.
    took: Option<std::time::Duration>,
}

/// Where a piece of text went.
pub(super) struct Grown {
    pub part: usize,
    pub from: usize,
    pub text: Arc<LiveText>,
}

impl LiveReply {
    pub(super) fn new(began: Arc<Message>) -> Self {
        Self { began, parts: Vec::new() }
    }

    pub(super) fn id(&self) -> MessageId {
        self.began.id
    }

    /// Whether anything has come.
    pub(super) fn has_begun(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Appends to the last part, or begins one where the kind changes.
    pub(super) fn push(&mut self, kind: TextKind, more: &str) -> Grown {
        if self.parts.last().is_none_or(|part| part.kind != kind) {
            if let Some(last) = self.parts.last_mut() {
                last.took = Some(last.since.elapsed());
            }
            self.parts.push(LivePart {
                kind,
                text: Arc::default(),
                journaled: 0,
                since: Instant::now(),
                took: None,
            });
        }
        let part = self.parts.len() - 1;
        let text = Arc::clone(&self.parts[part].text);
        Grown { part, from: text.push(more), text }
    }

    /// What the journal does not have yet, and how to say that it has it.
    pub(super) fn unjournaled(&self) -> Vec<Segment> {
        let new =
            self.parts.iter().enumerate().filter(|(_, part)| part.text.len() > part.journaled);
        new.map(|(index, part)| Segment {
            message: self.began.id,
            part: index,
            kind: match part.kind {
                TextKind::Text => SegmentKind::Text,
                TextKind::Thinking => SegmentKind::Thinking,
            },
            text: part.text.since(part.journaled),
        })
        .collect()
    }

    /// The journal has these.
    pub(super) fn journaled(&mut self, segments: &[Segment]) {
        for segment in segments {
            if let Some(part) = self.parts.get_mut(segment.part) {
                part.journaled += segment.text.len();
            }
        }
    }

    /// The message as far as it has come.
    pub(super) fn message(&self) -> Message {
        let parts = self.parts.iter().map(|part| match part.kind {
            TextKind::Text => Part::Text(part.text.whole()),
            TextKind::Thinking => Part::Thinking { text: part.text.whole(), took: part.took },
        });
        Message { parts: parts.collect(), ..Message::clone(&self.began) }
    }

    /// The message as it ended.
    pub(super) fn end(mut self, end: ReplyEnd) -> Message {
        if let Some(last) = self.parts.last_mut() {
            last.took.get_or_insert(last.since.elapsed());
        }
        let mut message = self.message();
        sort_thoughts(&mut message.parts);
        message.parts.extend(end.calls.into_iter().map(Part::ToolCall));
        message.ended = Some(end.ended);
        message.error = end.error;
        message.usage = Some(end.usage);
        message
    }
}

impl Session {
    /// The reply that is being written grew.
    pub(super) fn grow(&self, kind: TextKind, text: &str) {
        let mut state = self.lock();
        let seq = state.next_seq();
        let Some(live) = &mut state.live else { return };
        if chat_sabotage::is_sabotaged("drop_delta") && live.has_begun() {
            return;
        }
        let message = live.id();
        let grown = live.push(kind, text);
        let growth = Growth {
            fid: self.fid.clone(),
            seq,
            message,
            part: grown.part,
            kind,
            from: grown.from,
            to: grown.from + text.len(),
            text: grown.text,
        };
        for mailbox in state.watchers() {
            mailbox.grow(&growth);
        }
        let turned = state.stage != Stage::Looping && state.set_stage(Stage::Streaming);
        drop(state);
        if turned {
            self.tell_changed();
        }
        self.unwritten.notify_one();
    }
}
