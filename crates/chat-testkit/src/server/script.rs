//! Defines a script: the pieces of one answer, and how it ends.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use super::Gate;

/// One answer. Pieces are sent in order; by default it ends like a complete reply, with its finish
/// reason, its usage and the end marker of the protocol.
#[derive(Clone, Debug, Default)]
pub struct Script {
    pub(super) status: Option<(u16, String)>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) steps: Vec<Step>,
    pub(super) split: Split,
    pub(super) finish: Option<String>,
    pub(super) usage: Option<(u64, u64)>,
    pub(super) reasoning: Option<String>,
    pub(super) signature: Option<String>,
    pub(super) first: Option<Gate>,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Text(String),
    Thinking(String),
    ToolCall {
        id: Option<String>,
        name: String,
        arguments: Value,
    },
    Raw(Bytes),
    /// This many bytes without a line break.
    LongLine(u64),
    Gate(Gate),
    Pause(Duration),
    /// Pieces of text or thinking, this many per second, or as fast as possible.
    Pieces {
        pieces: Arc<[String]>,
        per_second: Option<f64>,
        thinking: bool,
    },
    /// The last step of its script, like all below.
    Error {
        message: String,
        code: u16,
    },
    Cut,
    Reset,
    Stall,
    /// Ends the body properly, but without the end marker of the protocol.
    End,
}

/// Where the bytes of an answer are split on their way.
#[derive(Clone, Debug, Default)]
pub enum Split {
    /// One chunk for each piece.
    #[default]
    Pieces,
    /// After every byte, even inside UTF-8 and JSON.
    EveryByte,
    /// Before these bytes of the body, counted from 0.
    At(Vec<u64>),
    /// At random positions, the same for the same seed.
    Random(u64),
}

impl Script {
    /// A complete reply without any text.
    pub fn new() -> Self {
        Self::default()
    }

    /// A refusal: a status with a body, which is sent as JSON if it looks like it.
    pub fn status(status: u16, body: &str) -> Self {
        Self { status: Some((status, body.to_owned())), ..Self::default() }
    }

    /// A body of exactly these bytes with status 200, for example a recorded one.
    pub fn raw(bytes: impl Into<Bytes>) -> Self {
        Self::new().step(Step::Raw(bytes.into())).step(Step::End)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends a piece of text.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.step(Step::Text(text.to_owned()))
    }

    /// Sends pieces of text, one after the other.
    #[must_use]
    pub fn texts<T: AsRef<str>>(self, pieces: impl IntoIterator<Item = T>) -> Self {
        pieces.into_iter().fold(self, |script, piece| script.text(piece.as_ref()))
    }

    /// Sends a piece of thinking.
    #[must_use]
    pub fn thinking(self, text: &str) -> Self {
        self.step(Step::Thinking(text.to_owned()))
    }

    /// Calls a tool: in one piece on Ollama, its arguments in several pieces on other protocols.
    #[must_use]
    pub fn tool_call(self, id: &str, name: &str, arguments: Value) -> Self {
        self.step(Step::ToolCall { id: Some(id.to_owned()), name: name.to_owned(), arguments })
    }

    /// Calls a tool without an id, as older servers do.
    #[must_use]
    pub fn tool_call_without_id(self, name: &str, arguments: Value) -> Self {
        self.step(Step::ToolCall { id: None, name: name.to_owned(), arguments })
    }

    /// Sends these bytes between the others.
    #[must_use]
    pub fn bytes(self, bytes: impl Into<Bytes>) -> Self {
        self.step(Step::Raw(bytes.into()))
    }

    /// Sends this many bytes of one line that never ends.
    #[must_use]
    pub fn long_line(self, bytes: u64) -> Self {
        self.step(Step::LongLine(bytes))
    }

    /// Waits here until the test opens the gate.
    #[must_use]
    pub fn gate(self, gate: &Gate) -> Self {
        self.step(Step::Gate(gate.clone()))
    }

    /// Waits at a gate before anything is answered, even the status, like a server that loads a
    /// model.
    #[must_use]
    pub fn gate_first(mut self, gate: &Gate) -> Self {
        self.first = Some(gate.clone());
        self
    }

    /// Waits this long.
    #[must_use]
    pub fn pause(self, time: Duration) -> Self {
        self.step(Step::Pause(time))
    }

    /// Sends pieces of text as fast as possible.
    #[must_use]
    pub fn flat_out(self, pieces: impl Into<Arc<[String]>>) -> Self {
        let pieces = pieces.into();
        self.step(Step::Pieces { pieces, per_second: None, thinking: false })
    }

    /// Sends pieces of text, this many per second.
    #[must_use]
    pub fn paced(self, pieces: impl Into<Arc<[String]>>, per_second: f64) -> Self {
        let pieces = pieces.into();
        self.step(Step::Pieces { pieces, per_second: Some(per_second), thinking: false })
    }

    /// Sends pieces of thinking, this many per second, or as fast as possible.
    #[must_use]
    pub fn thinking_pieces(
        self,
        pieces: impl Into<Arc<[String]>>,
        per_second: Option<f64>,
    ) -> Self {
        self.step(Step::Pieces { pieces: pieces.into(), per_second, thinking: true })
    }

    /// Ends with an error object in the middle of the stream, with status 200.
    #[must_use]
    pub fn error(self, message: &str) -> Self {
        self.step(Step::Error { message: message.to_owned(), code: 500 })
    }

    /// The same with the code that OpenAI's protocol includes.
    #[must_use]
    pub fn error_code(self, message: &str, code: u16) -> Self {
        self.step(Step::Error { message: message.to_owned(), code })
    }

    /// Ends by closing the connection in the middle of the body.
    #[must_use]
    pub fn cut(self) -> Self {
        self.step(Step::Cut)
    }

    /// Ends by resetting the connection.
    #[must_use]
    pub fn reset(self) -> Self {
        self.step(Step::Reset)
    }

    /// Sends nothing more and never ends.
    #[must_use]
    pub fn stall(self) -> Self {
        self.step(Step::Stall)
    }

    /// Ends the body properly, but without finish reason and the end marker of the protocol.
    #[must_use]
    pub fn end_early(self) -> Self {
        self.step(Step::End)
    }

    /// Splits the bytes.
    #[must_use]
    pub fn split(mut self, split: Split) -> Self {
        self.split = split;
        self
    }

    /// The finish reason, for example `length`. By default it is `stop` (`end_turn` on Anthropic's
    /// protocol), or `tool_calls` (`tool_use`) if tools are called on another protocol than Ollama's.
    #[must_use]
    pub fn finish(mut self, reason: &str) -> Self {
        self.finish = Some(reason.to_owned());
        self
    }

    /// The reported usage: the tokens of the prompt and of the reply.
    #[must_use]
    pub fn usage(mut self, prompt: u64, completion: u64) -> Self {
        self.usage = Some((prompt, completion));
        self
    }

    /// The field for thinking on OpenAI's protocol; the default is `reasoning_content`.
    #[must_use]
    pub fn reasoning_field(mut self, field: &str) -> Self {
        self.reasoning = Some(field.to_owned());
        self
    }

    /// The signature of the thinking on Anthropic's protocol; there is none by default.
    #[must_use]
    pub fn signature(mut self, signature: &str) -> Self {
        self.signature = Some(signature.to_owned());
        self
    }

    /// Gives each of these pieces out as a piece of its own: `Hello, world!` in words, say.
    pub fn echo(text: &str) -> Self {
        Self::new().text("You said: ").texts(text.split_inclusive(' '))
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}
