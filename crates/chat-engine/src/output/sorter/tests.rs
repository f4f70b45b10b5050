//! Tests how output is split, however the text is cut.

use super::*;
use crate::prompt::template::Template;

/// All pieces of one kind joined, so that it does not matter how the text was cut.
fn sorted(expected: &Expected, text: &str) -> Vec<Piece> {
    let whole = joined(expected, std::iter::once(text));
    let mut buffers = Vec::new();
    for char in text.chars() {
        buffers.push(char.to_string());
    }
    assert_eq!(joined(expected, buffers.iter().map(String::as_str)), whole);
    whole
}

fn joined<'a>(expected: &Expected, texts: impl Iterator<Item = &'a str>) -> Vec<Piece> {
    let mut sorter = Sorter::new(expected.clone());
    let mut pieces = Vec::new();
    for text in texts {
        sorter.take(text, &mut pieces);
    }
    sorter.end(&mut pieces);
    let mut out: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (out.last_mut(), piece) {
            (Some(Piece::Text(before)), Piece::Text(more))
            | (Some(Piece::Thinking(before)), Piece::Thinking(more)) => *before += &more,
            (
                Some(Piece::Arguments { index: a, text: before }),
                Piece::Arguments { index: b, text: more },
            ) if *a == b => *before += &more,
            (_, piece) => out.push(piece),
        }
    }
    out
}

fn text(text: &str) -> Piece {
    Piece::Text(text.to_owned())
}

fn thought(text: &str) -> Piece {
    Piece::Thinking(text.to_owned())
}

fn call(index: usize, name: &str, arguments: &str) -> [Piece; 2] {
    let arguments = Piece::Arguments { index, text: arguments.to_owned() };
    [Piece::Call { index, name: name.to_owned() }, arguments]
}

fn tool(name: &str) -> Tool {
    let value = minijinja::Value::UNDEFINED;
    Tool { name: name.to_owned(), parameters: "{}".to_owned(), value }
}

fn with(calls: Style) -> Expected {
    let tools = vec![tool("look"), tool("wait")];
    Expected { calls: Some(calls), tools, ..Expected::default() }
}

#[test]
fn thoughts_are_told_from_the_answer() {
    let all = sorted(&Expected::default(), "\n<think>\nHm <b>.</think>\n\nYes <i>");
    assert_eq!(all, [thought("Hm <b>."), text("Yes <i>")]);
    let inside = Expected { thinking: true, ..Expected::default() };
    assert_eq!(sorted(&inside, "Hm</think>Yes"), [thought("Hm"), text("Yes")]);
    // Broken off, they are thoughts all the same; in mid-text the tag is text.
    assert_eq!(sorted(&inside, "Hm</thi"), [thought("Hm</thi")]);
    assert_eq!(sorted(&Expected::default(), "A <think> B"), [text("A <think> B")]);
}

#[test]
fn calls_between_tags_are_found_and_what_stands_around_them() {
    let all = sorted(
        &with(Style::Tagged),
        "Well.\n<tool_call>\n{\"name\": \"look\", \"arguments\": {\"a\": 1}}\n</tool_call>\n\
         <tool_call>{\"name\":\"wait\",\"arguments\":{}}</tool_call>",
    );
    let mut expected = vec![text("Well.\n")];
    expected.extend(call(0, "look", "{\"a\": 1}"));
    expected.extend(call(1, "wait", "{}"));
    assert_eq!(all, expected);
}

#[test]
fn calls_as_tags_are_found() {
    let one =
        "<tool_call>\n<function=look>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>";
    let all = sorted(&with(Style::Tags), &format!("Well.\n{one}\n{one}"));
    let mut expected = vec![text("Well.\n")];
    expected.extend(call(0, "look", "{\"a\":1}"));
    expected.extend(call(1, "look", "{\"a\":1}"));
    assert_eq!(all, expected);
    assert_eq!(sorted(&with(Style::Tags), "<tool_call>oh"), [text("oh")]);
}

#[test]
fn calls_by_name_are_found() {
    let all = sorted(
        &with(Style::Named),
        "Well.[TOOL_CALLS]look[ARGS]{\"a\": [1]}[TOOL_CALLS]wait[CALL_ID]1[ARGS]{}",
    );
    let mut expected = vec![text("Well.")];
    expected.extend(call(0, "look", "{\"a\": [1]}"));
    expected.extend(call(1, "wait", "{}"));
    assert_eq!(all, expected);
}

#[test]
fn gemmas_calls_and_thoughts_are_found() {
    let template = Template::new("<|channel>thought<channel|>", "", "").unwrap();
    let reasoning_tags = ReasoningTags::of(&template);
    let expected = Expected { reasoning_tags, ..with(Style::Gemma) };
    let one = "<|tool_call>call:look{a:<|\"|>b<|\"|>}<tool_call|>";
    let all = sorted(&expected, &format!("<|channel>thought\nHm.<channel|>Well.{one}{one}"));
    let mut pieces = vec![thought("Hm."), text("Well.")];
    pieces.extend(call(0, "look", "{\"a\":\"b\"}"));
    pieces.extend(call(1, "look", "{\"a\":\"b\"}"));
    assert_eq!(all, pieces);
    assert_eq!(sorted(&expected, "<|tool_call>oh<tool_call|>!"), [text("oh<tool_call|>!")]);
    assert!(expected.words().contains(&"<|channel>") && expected.words().contains(&"<|tool_call>"));
}

#[test]
fn calls_in_a_list_are_found() {
    let style = Style::Listed { mark: "[TOOL_CALLS]" };
    let text = "[TOOL_CALLS][{\"name\":\"look\",\"arguments\":{}}, {\"name\":\"wait\",\"arguments\":{\"s\":2}}]";
    let expected = [call(0, "look", "{}"), call(1, "wait", "{\"s\":2}")].concat();
    assert_eq!(sorted(&with(style), text), expected);
}

#[test]
fn a_bare_object_is_a_call_only_where_it_names_a_tool() {
    let yes = "{\"name\": \"look\", \"parameters\": {\"a\": 1}}";
    assert_eq!(sorted(&with(Style::Bare), yes), call(0, "look", "{\"a\": 1}"));
    for no in ["{\"name\": \"Ann\", \"age\": 3}", "{\"age\": 3}", "{ \"na"] {
        assert_eq!(sorted(&with(Style::Bare), no), [text(no)]);
    }
}

#[test]
fn a_forced_call_is_all_there_is() {
    let forced = Expected { forced: true, tools: vec![tool("look")], ..Expected::default() };
    let json = "{\"name\": \"look\", \"arguments\": {\"q\": \"ü\"}}";
    assert_eq!(sorted(&forced, json), call(0, "look", "{\"q\": \"ü\"}"));
}

#[test]
fn what_is_no_call_stays_in_the_answer() {
    assert_eq!(sorted(&with(Style::Tagged), "<tool_call>oh"), [text("oh")]);
    assert_eq!(sorted(&with(Style::Tagged), "a <tool_c b"), [text("a <tool_c b")]);
}
