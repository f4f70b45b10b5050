//! Puts together the blocks of a reply from their pieces.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::batch::Batch;
use crate::client::json::{Joiner, Text};
use crate::client::reasoning_parser::ReasoningParser;
use crate::message::ToolCallId;

/// A block as it begins, or whole.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct WireBlock<'a> {
    #[serde(borrow)]
    r#type: Text<'a>,
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    signature: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    partial_json: Option<Text<'a>>,
}

impl WireBlock<'_> {
    pub fn of(json: &RawValue) -> serde_json::Result<WireBlock<'_>> {
        serde_json::from_str(json.get())
    }
}

/// A block that is not over.
#[derive(Debug)]
struct Open {
    /// The server's number.
    index: u64,
    kind: OpenKind,
}

#[derive(Debug)]
enum OpenKind {
    /// What of its JSON texts stands between the quotes, as it came: so it goes back.
    Thinking {
        thinking: String,
        signature: String,
    },
    Call {
        call: usize,
        torn: Joiner,
        input: String,
        has_pieces: bool,
    },
    /// Text, or what nobody knows.
    Other,
}

/// The blocks of one reply.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    open: Vec<Open>,
    calls: usize,
}

impl Blocks {
    /// How many calls have begun.
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// A block begins. Gives what is to go back where it came whole.
    pub fn begin(
        &mut self,
        index: u64,
        json: &RawValue,
        parser: &mut ReasoningParser,
        out: &mut Batch,
    ) -> serde_json::Result<Option<String>> {
        let block = WireBlock::of(json)?;
        let kind = match &*block.r#type.text {
            "redacted_thinking" => {
                parser.flush(out);
                return Ok(Some(json.get().to_owned()));
            }
            "thinking" => OpenKind::Thinking { thinking: String::new(), signature: String::new() },
            "tool_use" => {
                parser.flush(out);
                let call = self.calls;
                self.calls += 1;
                let said = |text: Option<Text<'_>>| text.map(Text::alone).unwrap_or_default();
                let (id, name) = (said(block.id.clone()), said(block.name.clone()));
                let made = || ToolCallId::generate().as_str().to_owned();
                out.call(call, if id.is_empty() { made() } else { id }, name);
                // A whole reply has its input here, a streamed one an empty object.
                let input = block.input.map_or("{}", RawValue::get).to_owned();
                OpenKind::Call { call, torn: Joiner::default(), input, has_pieces: false }
            }
            _ => OpenKind::Other,
        };
        self.open.push(Open { index, kind });
        self.take(index, block, parser, out);
        Ok(None)
    }

    /// More of a block.
    pub fn piece(
        &mut self,
        index: u64,
        json: &RawValue,
        parser: &mut ReasoningParser,
        out: &mut Batch,
    ) -> serde_json::Result<()> {
        let piece = WireBlock::of(json)?;
        self.take(index, piece, parser, out);
        Ok(())
    }

    fn take(
        &mut self,
        index: u64,
        piece: WireBlock<'_>,
        parser: &mut ReasoningParser,
        out: &mut Batch,
    ) {
        // Of a block that nobody knows its text counts all the same.
        if let Some(text) = piece.text {
            parser.take_text(text, out);
        }
        let open = self.open.iter_mut().rev().find(|open| open.index == index);
        let kind = open.map(|open| &mut open.kind);
        let thought = piece.thinking.map(|more| serde_json::from_str::<Text<'_>>(more.get()));
        if let Some(Ok(text)) = thought {
            parser.take_thinking(text, out);
        }
        match kind {
            Some(OpenKind::Thinking { thinking, signature }) => {
                thinking.push_str(inside(piece.thinking));
                signature.push_str(inside(piece.signature));
            }
            Some(OpenKind::Call { call, torn, has_pieces, .. }) => {
                if let Some(json) = piece.partial_json.filter(|json| !json.is_empty()) {
                    *has_pieces = true;
                    out.arguments(*call, &torn.join(json));
                }
            }
            _ => {}
        }
    }

    /// A block is over. Gives what is to go back with it.
    pub fn end(&mut self, index: u64, out: &mut Batch) -> Option<String> {
        let at = self.open.iter().rposition(|open| open.index == index)?;
        match self.open.remove(at).kind {
            OpenKind::Thinking { thinking, signature } => {
                let signed = if signature.is_empty() {
                    String::new()
                } else {
                    format!(",\"signature\":\"{signature}\"")
                };
                let empty = thinking.is_empty() && signature.is_empty();
                (!empty).then(|| {
                    format!("{{\"type\":\"thinking\",\"thinking\":\"{thinking}\"{signed}}}")
                })
            }
            OpenKind::Call { call, mut torn, input, has_pieces } => {
                if let Some(lone) = torn.finish() {
                    out.arguments(call, lone.encode_utf8(&mut [0; 4]));
                }
                if !has_pieces {
                    out.arguments(call, &input);
                }
                None
            }
            OpenKind::Other => None,
        }
    }

    /// The thoughts that are not over.
    pub fn open_thoughts(&self) -> Vec<u64> {
        let thoughts = |open: &&Open| matches!(open.kind, OpenKind::Thinking { .. });
        self.open.iter().filter(thoughts).map(|open| open.index).collect()
    }

    /// The blocks that are not over: some servers do not say that they are.
    pub fn open(&self) -> Vec<u64> {
        self.open.iter().map(|open| open.index).collect()
    }
}

/// What stands between the quotes of a JSON text.
fn inside(json: Option<&RawValue>) -> &str {
    let text = json.map(RawValue::get).unwrap_or_default();
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default()
}
