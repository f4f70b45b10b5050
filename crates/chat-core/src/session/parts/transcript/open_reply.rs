//! Holds the reply that is being written, and what the journal has of it.

use std::sync::Arc;

use crate::agent::ReplyEnd;
use crate::chat::{ReplyBuilder, TextKind};
use crate::message::provider::{forget_all, forget_cut};
use crate::message::{Ending, Message, Part, Usage};
use crate::store::{Segment, SegmentKind};

/// A reply that is being written.
pub(super) struct OpenReply {
    pub began: Arc<Message>,
    pub builder: ReplyBuilder,
    /// What the journal has of each text.
    pub journaled: Vec<Journaled>,
}

/// What the journal has of a text.
#[derive(Clone, Copy, Default)]
pub(super) struct Journaled {
    pub bytes: usize,
    /// Whether it has what the server wants back with it.
    pub provider: bool,
}

impl OpenReply {
    /// What the journal does not have yet.
    pub fn unjournaled(&self) -> Vec<Segment> {
        let mut segments = Vec::new();
        for (part, (kind, text, provider)) in self.builder.texts().enumerate() {
            let known = self.journaled.get(part).copied().unwrap_or_default();
            let mut add = |kind, text| {
                segments.push(Segment { message: self.began.id, part, kind, text });
            };
            let kind = match kind {
                TextKind::Text => SegmentKind::Text,
                TextKind::Thinking => SegmentKind::Thinking,
            };
            let text = text.since(known.bytes);
            if !text.is_empty() {
                add(kind, text);
            }
            if let Some(data) = provider.filter(|_| !known.provider)
                && let Ok(json) = serde_json::to_string(data)
            {
                add(SegmentKind::Provider, json);
            }
        }
        segments
    }

    /// The message as far as it has come.
    pub fn message(&self) -> Message {
        Message { parts: self.builder.text_parts(), ..Message::clone(&self.began) }
    }

    /// The message as it ended.
    pub fn end(mut self, ReplyEnd { ended, error }: ReplyEnd) -> Message {
        let (mut parts, mut usage) = self.builder.build();
        if matches!(ended, Ending::Failed | Ending::Interrupted) {
            // What it cost is not known.
            usage = Usage::default();
        }
        // A reply with running tools has ended before.
        if ended != Ending::Complete {
            let is_call = |part: &Part| matches!(part, Part::ToolCall(_));
            // They may be cut, and are not executed.
            if parts.iter().any(is_call) {
                parts.retain(|part| !is_call(part));
                forget_all(&mut parts);
            }
            forget_cut(&mut parts);
        }
        let began = Message::clone(&self.began);
        Message { parts, ended: Some(ended), error, usage: Some(usage), ..began }
    }
}
