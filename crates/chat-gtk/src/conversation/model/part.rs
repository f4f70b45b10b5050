//! Holds a part of a reply as it is now: its text, its thinking, or a tool call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chat_core::message::Part;

use super::reply::ReplyText;
use super::tool::state::ToolState;

/// A part of a reply.
pub enum PartState {
    /// Text, as Markdown.
    Text(Box<ReplyText>),
    /// Thinking, as plain text.
    Thinking { text: String, took: Option<Duration>, since: Option<Instant> },
    /// A tool call and what came of it.
    Tool(Box<ToolState>),
    /// A picture.
    Picture(Arc<[u8]>),
    /// What has no row of its own.
    Other,
}

impl PartState {
    /// A part as a message has it. `live`: whether that is still being written.
    pub fn new(part: &Part, live: bool) -> Self {
        match part {
            Part::Text(text) => {
                let mut reply = Box::<ReplyText>::default();
                reply.push(text);
                Self::Text(reply)
            }
            // The model keeps these thoughts to itself.
            Part::Thinking { text, .. } if text.is_empty() => Self::Other,
            Part::Thinking { text, took, .. } => {
                let since = (live && took.is_none()).then(Instant::now);
                Self::Thinking { text: text.clone(), took: *took, since }
            }
            Part::ToolCall(call) => Self::Tool(Box::new(ToolState::new(call.clone()))),
            Part::Image { data, .. } => Self::Picture(Arc::clone(data)),
            _ => Self::Other,
        }
    }

    /// Takes what a message says of this part, if it is the same part, perhaps grown.
    pub fn take(&mut self, part: &Part) -> bool {
        match (self, part) {
            (Self::Text(reply), Part::Text(text)) => {
                let Some(more) = text.get(reply.len()..) else { return false };
                reply.push(more);
                true
            }
            (Self::Thinking { text, took, since }, Part::Thinking { text: now, took: new, .. }) => {
                if text != now {
                    text.clone_from(now);
                }
                if new.is_some() {
                    *took = *new;
                    *since = None;
                }
                true
            }
            (Self::Tool(tool), Part::ToolCall(now)) if tool.call().id == now.id => {
                tool.set_call(now);
                true
            }
            (Self::Other, Part::Thinking { text, .. }) if text.is_empty() => true,
            (Self::Picture(data), Part::Image { data: now, .. }) => data == now,
            (
                Self::Other,
                Part::Text(_) | Part::Thinking { .. } | Part::ToolCall(_) | Part::Image { .. },
            ) => false,
            (Self::Other, _) => true,
            _ => false,
        }
    }

    /// How many bytes of text it has.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(reply) => reply.len(),
            Self::Thinking { text, .. } => text.len(),
            _ => 0,
        }
    }

    /// It is being thought no longer.
    pub fn stop_clock(&mut self) {
        if let Self::Thinking { since, took, .. } = self
            && let Some(since) = since.take()
        {
            took.get_or_insert_with(|| since.elapsed());
        }
    }
}
