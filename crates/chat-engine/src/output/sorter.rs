//! Tells apart what a model writes, while it writes.

use super::call::CallReader;
use super::stop::begun;
use super::{Piece, tagged};
use crate::prompt::tools::{Style, Tool};

/// What may come.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// Whether the prompt ended inside the thoughts.
    pub thinking: bool,
    /// How calls are written, where the model may call.
    pub calls: Option<Style>,
    /// Whether all of it is one call: a grammar holds it to that.
    pub forced: bool,
    /// The tools that there are.
    pub tools: Vec<Tool>,
}

/// Sorts one answer.
#[derive(Debug)]
pub struct Sorter {
    expected: Expected,
    state: State,
    /// What is not sorted yet.
    held: String,
    /// Calls that began.
    calls: usize,
}

#[derive(Debug)]
enum State {
    /// Nothing but white space came.
    Start,
    /// Thoughts are to come: the line break before them belongs to nobody.
    BeforeThinking,
    Thinking,
    /// The white space after the thoughts belongs to nobody.
    AfterThinking,
    Text,
    Call(Box<Call>),
    /// In a call that is written as tags.
    Tags,
    /// Between the calls of a list.
    List,
}

#[derive(Debug, Default)]
struct Call {
    reader: CallReader,
    /// All of it, in case that it is none.
    raw: String,
    told: bool,
}

const THINK: &str = "<think>";
const THOUGHT: &str = "</think>";
const CALLED: &str = "</tool_call>";

impl Sorter {
    /// For an answer in which this may come.
    pub fn new(expected: Expected) -> Self {
        let state = match (expected.forced, expected.thinking) {
            (true, _) => State::Call(Box::default()),
            (false, true) => State::BeforeThinking,
            (false, false) => State::Start,
        };
        Self { expected, state, held: String::new(), calls: 0 }
    }

    /// Whether a tool was called.
    pub fn has_calls(&self) -> bool {
        self.calls > 0
    }

    /// Sorts more text.
    pub fn take(&mut self, text: &str, out: &mut Vec<Piece>) {
        self.held.push_str(text);
        while self.step(out) {}
    }

    /// Nothing follows: what was held back is what it is.
    pub fn end(&mut self, out: &mut Vec<Piece>) {
        while self.step(out) {}
        let held = std::mem::take(&mut self.held);
        match std::mem::replace(&mut self.state, State::Text) {
            State::Thinking => push(out, Piece::Thinking, held),
            State::Call(call) if !call.told => push(out, Piece::Text, call.raw + &held),
            State::Tags => self.tags(held, out),
            State::Call(_) | State::List => {}
            State::Start | State::BeforeThinking | State::AfterThinking | State::Text => {
                push(out, Piece::Text, held);
            }
        }
    }

    /// Sorts one piece. Gives whether there may be more.
    fn step(&mut self, out: &mut Vec<Piece>) -> bool {
        if self.held.is_empty() {
            return false;
        }
        match &mut self.state {
            State::Start => self.start(),
            State::BeforeThinking => self.skip_space(State::Thinking),
            State::Thinking => self.until(THOUGHT, Piece::Thinking, State::AfterThinking, out),
            State::AfterThinking => self.skip_space(State::Start),
            State::Text => {
                if let Some(mark) = self.expected.calls.and_then(Style::trigger) {
                    let next = self.begun_call();
                    return self.until(mark, Piece::Text, next, out);
                }
                push(out, Piece::Text, std::mem::take(&mut self.held));
                false
            }
            State::Call(_) => self.call(out),
            State::Tags => {
                let Some(at) = self.held.find(tagged::END) else { return false };
                let rest = self.held.split_off(at + tagged::END.len());
                let text = std::mem::replace(&mut self.held, rest);
                self.state = State::List;
                self.tags(text, out);
                true
            }
            State::List => self.between_calls(),
        }
    }

    fn skip_space(&mut self, next: State) -> bool {
        let kept = self.held.trim_start().len();
        self.held.drain(..self.held.len() - kept);
        if kept > 0 {
            self.state = next;
        }
        kept > 0
    }

    fn start(&mut self) -> bool {
        let words = self.held.trim_start();
        if words.is_empty() {
            return false;
        }
        if let Some(thoughts) = words.strip_prefix(THINK) {
            self.held = thoughts.to_owned();
            self.state = State::BeforeThinking;
        } else if THINK.starts_with(words) {
            return false;
        } else if self.expected.calls == Some(Style::Bare) && words.starts_with('{') {
            self.state = State::Call(Box::default());
        } else {
            self.state = State::Text;
        }
        true
    }

    /// Gives everything before a mark, and goes on after it in another state.
    fn until(
        &mut self,
        mark: &str,
        piece: fn(String) -> Piece,
        next: State,
        out: &mut Vec<Piece>,
    ) -> bool {
        if let Some(at) = self.held.find(mark) {
            let rest = self.held.split_off(at + mark.len());
            self.held.truncate(at);
            let text = std::mem::replace(&mut self.held, rest);
            push(out, piece, text);
            self.state = next;
            return true;
        }
        let sure = self.held.len() - begun(&self.held, mark);
        let rest = self.held.split_off(sure);
        push(out, piece, std::mem::replace(&mut self.held, rest));
        false
    }

    fn call(&mut self, out: &mut Vec<Piece>) -> bool {
        let State::Call(call) = &mut self.state else { return false };
        let taken = call.reader.take(&self.held);
        let text: String = self.held.drain(..taken).collect();
        if !call.told {
            call.raw.push_str(&text);
            let Some(name) = call.reader.name() else {
                // An object without a name is the answer itself, and no call.
                if call.reader.is_done() {
                    push(out, Piece::Text, std::mem::take(&mut call.raw));
                    self.state = State::Text;
                    return true;
                }
                return false;
            };
            let known = self.expected.tools.iter().any(|tool| tool.name == name);
            if self.expected.calls == Some(Style::Bare) && !self.expected.forced && !known {
                push(out, Piece::Text, std::mem::take(&mut call.raw));
                self.state = State::Text;
                return true;
            }
            call.told = true;
            out.push(Piece::Call { index: self.calls, name: name.to_owned() });
            self.calls += 1;
        }
        let index = self.calls - 1;
        push(out, |text| Piece::Arguments { index, text }, call.reader.arguments());
        if call.reader.is_done() {
            self.state = State::List;
            return true;
        }
        false
    }

    /// What follows the mark of a call.
    fn begun_call(&self) -> State {
        match self.expected.calls {
            Some(Style::Tags) => State::Tags,
            _ => State::Call(Box::default()),
        }
    }

    /// A whole call as tags, or what only looked like one.
    fn tags(&mut self, text: String, out: &mut Vec<Piece>) {
        let Some((name, arguments)) = tagged::read(&text, &self.expected.tools) else {
            push(out, Piece::Text, text);
            return;
        };
        let index = self.calls;
        self.calls += 1;
        out.push(Piece::Call { index, name });
        out.push(Piece::Arguments { index, text: arguments });
    }

    /// After a call: its closing mark, another call, or more of the answer.
    fn between_calls(&mut self) -> bool {
        let skipped = |char: char| char.is_whitespace() || matches!(char, ',' | ']' | '[' | ';');
        let rest = self.held.trim_start_matches(skipped);
        if rest.is_empty() {
            self.held.clear();
            return false;
        }
        let mark = self.expected.calls.and_then(Style::trigger).unwrap_or(CALLED);
        for known in [CALLED, "<|/tool_call|>", mark] {
            if let Some(behind) = rest.strip_prefix(known) {
                self.held = behind.to_owned();
                if known == mark && mark != CALLED {
                    self.state = self.begun_call();
                }
                return true;
            }
            if known.starts_with(rest) {
                return false;
            }
        }
        let listed = rest.starts_with('{');
        self.held = rest.to_owned();
        self.state = if listed { State::Call(Box::default()) } else { State::Text };
        true
    }
}

fn push(out: &mut Vec<Piece>, piece: impl FnOnce(String) -> Piece, text: String) {
    if !text.is_empty() {
        out.push(piece(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let one = "<tool_call>\n<function=look>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>";
        let all = sorted(&with(Style::Tags), &format!("Well.\n{one}\n{one}"));
        let mut expected = vec![text("Well.\n")];
        expected.extend(call(0, "look", "{\"a\":1}"));
        expected.extend(call(1, "look", "{\"a\":1}"));
        assert_eq!(all, expected);
        assert_eq!(sorted(&with(Style::Tags), "<tool_call>oh"), [text("oh")]);
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
}
