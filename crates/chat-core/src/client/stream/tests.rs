//! Tests both decoders as pure machines: whatever a reply holds and wherever its bytes are torn, the
//! same deltas come out; and no bytes make them panic.

mod anthropic;

use proptest::prelude::*;
use serde_json::{Value, json};

use self::anthropic::{anthropic, anthropic_reply, without_provider_data};
use super::{Decoder, Decoding, Progress};
use crate::client::batch::Batch;
use crate::client::frames::Framing;
use crate::client::ollama::OllamaReply;
use crate::client::openai::OpenAiReply;
use crate::client::refusal::SentRequest;
use crate::client::{Delta, Finish};
use crate::error::{Kind, Result};
use crate::message::{Origin, Usage};

/// A decoder of what comes from a server.
fn openai_reply() -> OpenAiReply {
    let origin = Origin {
        protocol: "openai".to_owned(),
        connection: "test".to_owned(),
        server: None,
        model: "m".to_owned(),
    };
    OpenAiReply::new(origin, SentRequest::default())
}

/// What a model says, before a protocol makes bytes of it.
#[derive(Clone, Debug)]
enum ReplyPiece {
    Text(String),
    Thinking(String),
    Call { name: String, arguments: Value },
}

fn said() -> impl Strategy<Value = Vec<ReplyPiece>> {
    // Quotes, escapes, line breaks that are none in JSON, and characters of every length.
    let text = "([a-z \"\\\\\n\r\t\u{2028}éß日本🦀\u{0}]|data: |\\[DONE\\]){1,12}";
    prop::collection::vec(
        prop_oneof![
            4 => text.prop_map(ReplyPiece::Text),
            2 => text.prop_map(ReplyPiece::Thinking),
            1 => ("[a-z_]{1,9}", text).prop_map(|(name, value)| ReplyPiece::Call {
                name,
                arguments: json!({ "value": value, "n": 7 }),
            }),
        ],
        0..12,
    )
}

fn ollama(said: &[ReplyPiece], line_end: &str) -> String {
    let mut calls = 0;
    let mut lines: Vec<Value> = said
        .iter()
        .map(|said| match said {
            ReplyPiece::Text(text) => json!({ "message": { "content": text } }),
            ReplyPiece::Thinking(text) => json!({ "message": { "content": "", "thinking": text } }),
            ReplyPiece::Call { name, arguments } => {
                let id = format!("id{calls}");
                calls += 1;
                let function = json!({ "name": name, "arguments": arguments });
                json!({ "message": { "tool_calls": [{ "id": id, "function": function }] } })
            }
        })
        .collect();
    lines.push(json!({ "done": true, "done_reason": "stop", "eval_count": 3 }));
    lines.iter().flat_map(|line| [line.to_string(), line_end.to_owned()]).collect()
}

fn openai(said: &[ReplyPiece], line_end: &str) -> String {
    let mut calls = 0;
    let mut deltas = Vec::new();
    for said in said {
        match said {
            ReplyPiece::Text(text) => deltas.push(json!({ "content": text })),
            ReplyPiece::Thinking(text) => deltas.push(json!({ "reasoning_content": text })),
            ReplyPiece::Call { name, arguments } => {
                let id = format!("id{calls}");
                let function = json!({ "name": name, "arguments": "" });
                let first = json!({ "index": calls, "id": id, "function": function });
                deltas.push(json!({ "tool_calls": [first] }));
                for piece in arguments.to_string().split_inclusive(':') {
                    let more = json!({ "index": calls, "function": { "arguments": piece } });
                    deltas.push(json!({ "tool_calls": [more] }));
                }
                calls += 1;
            }
        }
    }
    let mut events: Vec<Value> = deltas
        .into_iter()
        .map(|delta| json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] }))
        .collect();
    events.push(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] }));
    events.push(json!({ "choices": [], "usage": { "completion_tokens": 3 } }));
    let events = events.iter().map(|event| format!("data: {event}"));
    let mut lines = vec![": a comment".to_owned()];
    lines.extend(events);
    lines.push("data: [DONE]".to_owned());
    lines.push(String::new());
    lines.join(&line_end.repeat(2))
}

/// What must come out.
fn expected(said: &[ReplyPiece]) -> Vec<Delta> {
    let mut out = Batch::default();
    let mut calls = 0;
    for said in said {
        match said {
            ReplyPiece::Text(text) => out.text(text),
            ReplyPiece::Thinking(text) => out.thinking(text),
            ReplyPiece::Call { name, arguments } => {
                out.call(calls, format!("id{calls}"), name.clone());
                out.arguments(calls, &arguments.to_string());
                calls += 1;
            }
        }
    }
    out.push(Delta::Usage(Usage { completion_tokens: Some(3), ..Usage::default() }));
    out.push(Delta::Finish(if calls == 0 { Finish::Stop } else { Finish::ToolCalls }));
    out.into_deltas()
}

/// What comes out of these reads.
fn decoded<'a, D: Decoder>(
    framing: Framing,
    decoder: D,
    reads: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Delta>, Result<()>) {
    let mut out = Batch::default();
    let mut decoding = Decoding::new(framing, decoder);
    for read in reads {
        if let Err(error) = decoding.feed(read, &mut out) {
            return (out.into_deltas(), Err(error));
        }
    }
    let ended = match decoding.decoder.progress() {
        Progress::Over => Ok(()),
        _ => decoding.end(&mut out),
    };
    (out.into_deltas(), ended)
}

/// The bytes in pieces that end at these places.
fn torn<'a>(bytes: &'a [u8], places: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut ends: Vec<usize> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    let mut from = 0;
    let mut out = Vec::new();
    for end in ends {
        out.push(&bytes[from..end]);
        from = end;
    }
    out
}

proptest! {
    #[test]
    fn any_split_gives_the_same_deltas(
        said in said(),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        line_end in prop_oneof![Just("\n"), Just("\r\n")],
    ) {
        let expected = expected(&said);
        let bytes = ollama(&said, line_end);
        for reads in [torn(bytes.as_bytes(), &places), bytes.as_bytes().chunks(1).collect()] {
            let (deltas, ended) = decoded(Framing::Lines, OllamaReply::new(SentRequest::default()), reads);
            prop_assert_eq!(&deltas, &expected);
            prop_assert_eq!(ended, Ok(()));
        }
        let bytes = openai(&said, line_end);
        for reads in [torn(bytes.as_bytes(), &places), bytes.as_bytes().chunks(1).collect()] {
            let (deltas, ended) = decoded(Framing::Events, openai_reply(), reads);
            prop_assert_eq!(&deltas, &expected);
            prop_assert_eq!(ended, Ok(()));
        }
        let bytes = anthropic(&said, line_end);
        for reads in [torn(bytes.as_bytes(), &places), bytes.as_bytes().chunks(1).collect()] {
            let (deltas, ended) = decoded(Framing::Events, anthropic_reply(), reads);
            prop_assert_eq!(without_provider_data(deltas), expected.clone());
            prop_assert_eq!(ended, Ok(()));
        }
    }

    #[test]
    fn what_is_cut_before_its_end_is_never_whole(
        said in said(),
        place in any::<prop::sample::Index>(),
    ) {
        let bytes = ollama(&said, "\n");
        let end = bytes.find("\"done\"").unwrap();
        let cut = &bytes.as_bytes()[..place.index(end)];
        let (deltas, ended) =
            decoded(Framing::Lines, OllamaReply::new(SentRequest::default()), [cut]);
        prop_assert_eq!(ended.map_err(|error| error.kind), Err(Kind::Cut));
        prop_assert!(!deltas.iter().any(|delta| matches!(delta, Delta::Finish(_))));

        let bytes = anthropic(&said, "\n");
        let end = bytes.find("\"stop_reason\"").unwrap();
        let cut = &bytes.as_bytes()[..place.index(end)];
        let (deltas, ended) = decoded(Framing::Events, anthropic_reply(), [cut]);
        prop_assert_eq!(ended.map_err(|error| error.kind), Err(Kind::Cut));
        prop_assert!(!deltas.iter().any(|delta| matches!(delta, Delta::Finish(_))));

        let bytes = openai(&said, "\n");
        let end = bytes.find("\"finish_reason\":\"stop\"").unwrap();
        let cut = &bytes.as_bytes()[..place.index(end)];
        let (deltas, ended) = decoded(Framing::Events, openai_reply(), [cut]);
        prop_assert_eq!(ended.map_err(|error| error.kind), Err(Kind::Cut));
        prop_assert!(!deltas.iter().any(|delta| matches!(delta, Delta::Finish(_))));
    }

    #[test]
    fn no_bytes_make_them_panic(
        said in said(),
        noise in prop::collection::vec(any::<u8>(), 1..20),
        place in any::<prop::sample::Index>(),
    ) {
        for body in [ollama(&said, "\n"), openai(&said, "\n"), anthropic(&said, "\n")] {
            let mut bytes = body.into_bytes();
            let at = place.index(bytes.len());
            let end = (at + noise.len()).min(bytes.len());
            bytes.splice(at..end, noise.iter().copied());
            for framing in [Framing::Lines, Framing::Events, Framing::Whole] {
                let _ = decoded(framing, OllamaReply::new(SentRequest::default()), [&bytes[..]]);
                let _ = decoded(framing, openai_reply(), [&bytes[..]]);
                let _ = decoded(framing, anthropic_reply(), [&bytes[..]]);
            }
        }
    }
}

#[test]
fn a_reply_that_failed_says_so_in_its_reason_too() {
    let event = br#"data: {"choices":[{"delta":{"content":"half"},"finish_reason":"error"}]}"#;
    let (deltas, ended) = decoded(Framing::Events, openai_reply(), [&event[..]]);
    assert_eq!(deltas, [Delta::Text("half".to_owned())]);
    assert_eq!(ended.unwrap_err().kind, Kind::ServerFailed);
}

#[test]
fn wrong_types_and_missing_fields_are_borne() {
    let body = br#"data: {"choices":null}

data: {"choices":[{"delta":null,"finish_reason":null}],"usage":{}}

data: {}

data: {"choices":[{"delta":{"content":null,"tool_calls":null,"reasoning":null}}],"usage":null}

data: {"choices":[{"delta":{"content":[{"type":"text","text":"from parts"}]}}]}

data: {"choices":[{"index":1,"delta":{"content":"another choice"}}]}

data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}}]}

data: {"choices":[],"usage":{"prompt_tokens":12.0,"completion_tokens":null}}

data: [DONE]"#;
    let (deltas, ended) = decoded(Framing::Events, openai_reply(), [&body[..]]);
    assert_eq!(ended, Ok(()));
    assert_eq!(deltas[0], Delta::Text("from parts".to_owned()));
    assert!(matches!(&deltas[1], Delta::ToolCall { arguments, .. } if arguments == r#"{"a":1}"#));
    let usage = Usage { prompt_tokens: Some(12), ..Usage::default() };
    assert_eq!(deltas[2..], [Delta::Usage(usage), Delta::Finish(Finish::ToolCalls)]);

    let lines = b"{}\n{\"message\":null}\n{\"message\":{\"content\":null,\"tool_calls\":null}}\n\
        {\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":null}}]}}\n\
        {\"done\":true,\"done_reason\":null,\"eval_count\":null}\n";
    let (deltas, ended) =
        decoded(Framing::Lines, OllamaReply::new(SentRequest::default()), [&lines[..]]);
    assert_eq!(ended, Ok(()));
    assert!(matches!(&deltas[0], Delta::ToolCall { arguments, .. } if arguments == "{}"));
    assert_eq!(deltas[2], Delta::Finish(Finish::ToolCalls));
}

#[test]
fn an_empty_list_of_calls_parts_no_thoughts_from_the_answer() {
    // Each piece of text may come with such a list, and the first is often empty.
    let pieces = ["", "<thi", "nk>Hm", "m.</th", "ink>", "Yes."];
    let event = |piece: &&str| {
        let delta = json!({ "content": piece, "tool_calls": [] });
        format!("data: {}\n\n", json!({ "choices": [{ "delta": delta }] }))
    };
    let events =
        format!("{}data: [DONE]\n\n", pieces.iter().map(event).collect::<Vec<_>>().concat());
    let lines: String = pieces
        .iter()
        .map(|piece| {
            json!({ "message": { "content": piece, "tool_calls": [] } }).to_string() + "\n"
        })
        .collect();
    let lines = format!("{lines}{}\n", json!({ "done": true }));
    let openai = decoded(Framing::Events, openai_reply(), [events.as_bytes()]);
    let ollama =
        decoded(Framing::Lines, OllamaReply::new(SentRequest::default()), [lines.as_bytes()]);
    for (deltas, ended) in [openai, ollama] {
        assert_eq!(ended, Ok(()));
        let said = [Delta::Thinking("Hmm.".to_owned()), Delta::Text("Yes.".to_owned())];
        assert_eq!(deltas[..2], said);
        assert_eq!(deltas.last(), Some(&Delta::Finish(Finish::Stop)));
    }
}

/// A text cut between each two of its UTF-16 units, as JSON texts.
fn units(text: &str) -> Vec<String> {
    text.encode_utf16().map(|unit| format!("\"\\u{unit:04x}\"")).collect()
}

#[test]
fn a_character_that_the_server_cut_in_two_is_whole() {
    let said = "So 😀!";
    let mut events: Vec<String> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for field in ["reasoning_content", "content"] {
        for unit in units(said) {
            events.push(format!(r#"{{"choices":[{{"delta":{{"{field}":{unit}}}}}]}}"#));
            let field = if field == "content" { field } else { "thinking" };
            lines.push(format!(r#"{{"message":{{"{field}":{unit}}}}}"#));
        }
    }
    let call = r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":\""}}"#;
    events.push(format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{call}]}}}}]}}"#));
    for unit in units(said).into_iter().chain([r#""\"}""#.to_owned()]) {
        let piece = format!(r#"{{"index":0,"function":{{"arguments":{unit}}}}}"#);
        events.push(format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{piece}]}}}}]}}"#));
    }
    let events: Vec<_> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let events = events.concat() + "data: [DONE]\n\n";
    let call = r#"{"function":{"name":"f","arguments":{"x":"So \ud83d\ude00!"}}}"#;
    lines.push(format!(r#"{{"message":{{"tool_calls":[{call}]}},"done":true}}"#));
    let lines = lines.join("\n");
    let openai = decoded(Framing::Events, openai_reply(), [events.as_bytes()]);
    let ollama =
        decoded(Framing::Lines, OllamaReply::new(SentRequest::default()), [lines.as_bytes()]);
    for (deltas, ended) in [openai, ollama] {
        assert_eq!(ended, Ok(()));
        let (thinking, text) = (Delta::Thinking(said.to_owned()), Delta::Text(said.to_owned()));
        assert_eq!(deltas[..2], [thinking, text]);
        let Delta::ToolCall { arguments, .. } = &deltas[2] else { panic!("a call: {deltas:?}") };
        assert_eq!(*arguments, json!({ "x": said }).to_string());
    }
}

#[test]
fn half_a_character_alone_costs_nothing_else() {
    let body = r#"data: {"choices":[{"delta":{"reasoning":"hm \ud83d"}}]}

data: {"choices":[{"delta":{"content":"a\ud83d"}}]}

data: {"choices":[{"delta":{"content":"b\ude00c"}}]}

data: {"choices":[{"delta":{"content":"d\ud83d","tool_calls":[{"function":{"name":"f\ud83d",
data: "arguments":"{\"x\":\"\ude00\ud83d"}}]}}]}

data: [DONE]

"#;
    let (deltas, ended) = decoded(Framing::Events, openai_reply(), [body.as_bytes()]);
    assert_eq!(ended, Ok(()));
    assert_eq!(deltas[0], Delta::Thinking("hm \u{fffd}".to_owned()));
    assert_eq!(deltas[1], Delta::Text("a\u{fffd}b\u{fffd}cd\u{fffd}".to_owned()));
    let Delta::ToolCall { name, arguments, .. } = &deltas[2] else { panic!("a call: {deltas:?}") };
    assert_eq!(name.as_deref(), Some("f\u{fffd}"));
    assert_eq!(arguments, "{\"x\":\"\u{fffd}\u{fffd}");

    // Also where the stream breaks behind the first half.
    let cut = br#"{"message":{"content":"a\ud83d"}}"#;
    let (deltas, ended) =
        decoded(Framing::Lines, OllamaReply::new(SentRequest::default()), [&cut[..]]);
    assert_eq!(deltas, [Delta::Text("a\u{fffd}".to_owned())]);
    assert_eq!(ended.unwrap_err().kind, Kind::Cut);
    let error = br#"{"error":"it broke at \ud83d"}"#;
    let (_, ended) =
        decoded(Framing::Lines, OllamaReply::new(SentRequest::default()), [&error[..]]);
    assert_eq!(ended.unwrap_err().detail.as_deref(), Some("it broke at \u{fffd}"));
}

#[test]
fn thinking_in_parts_is_thinking() {
    // As Mistral's reasoning models send it.
    let body = r#"data: {"choices":[{"delta":{"role":"assistant","content":""}}]}

data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm, "}],"closed":true}]}}]}

data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"yes."}]},{"type":"reference","reference_ids":[1]},{"type":"text","text":"It "}]}}]}

data: {"choices":[{"delta":{"content":"is."},"finish_reason":"stop"}]}

data: [DONE]

"#;
    let (deltas, ended) = decoded(Framing::Events, openai_reply(), [body.as_bytes()]);
    assert_eq!(ended, Ok(()));
    let said = [Delta::Thinking("Hm, yes.".to_owned()), Delta::Text("It is.".to_owned())];
    assert_eq!(deltas[..2], said);
}

#[test]
fn a_content_filter_is_told_from_an_end() {
    for reason in ["content_filter", "content_filter: PROHIBITED_CONTENT", "SAFETY", "sensitive"] {
        let body = format!(
            "data: {}\n\ndata: [DONE]\n\n",
            json!({ "choices": [{ "delta": { "content": "Half" }, "finish_reason": reason }] })
        );
        let (deltas, ended) = decoded(Framing::Events, openai_reply(), [body.as_bytes()]);
        assert_eq!(ended, Ok(()));
        assert_eq!(deltas.last(), Some(&Delta::Finish(Finish::Filtered)), "{reason}");
    }
}
