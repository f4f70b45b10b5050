//! Splits what a model writes, while it writes.

use super::call::CallReader;
use super::stop::begun;
use super::{Piece, gemma, tagged};
use crate::prompt::reasoning_tags::ReasoningTags;
use crate::prompt::tools::{Style, Tool};

/// What may come.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// Whether the prompt ended inside the thoughts.
    pub thinking: bool,
    /// Between which words they stand.
    pub reasoning_tags: ReasoningTags,
    /// How calls are written, where the model may call.
    pub calls: Option<Style>,
    /// Whether all of it is one call: a grammar holds it to that.
    pub forced: bool,
    /// The tools that there are.
    pub tools: Vec<Tool>,
}

impl Expected {
    /// The words that tell one from the other and may be tokens of the model's own.
    pub fn words(&self) -> Vec<&'static str> {
        let calls = self.calls.map(Style::words).unwrap_or_default();
        self.reasoning_tags.words.iter().chain(calls).copied().collect()
    }
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
    /// In a call that is read when all of it is there.
    Whole,
    /// Before the arguments of a call: its name.
    Named,
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
            State::Whole => self.whole(held, out),
            State::Call(_) | State::List => {}
            State::Start
            | State::BeforeThinking
            | State::AfterThinking
            | State::Named
            | State::Text => push(out, Piece::Text, held),
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
            State::Thinking => {
                let end = self.expected.reasoning_tags.end;
                self.until(end, Piece::Thinking, State::AfterThinking, out)
            }
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
            State::Whole => {
                let end = self.whole_end();
                let Some(at) = self.held.find(end) else { return false };
                let rest = self.held.split_off(at + end.len());
                let text = std::mem::replace(&mut self.held, rest);
                self.state = State::List;
                self.whole(text, out);
                true
            }
            State::Named => {
                let Some((name, rest)) = self.held.split_once(Style::ARGUMENTS) else {
                    return false;
                };
                // Some models count their calls between the name and the arguments.
                let name = name.split(Style::CALL_ID).next().unwrap_or_default().trim();
                let call = Call { reader: CallReader::named(name), ..Call::default() };
                self.state = State::Call(Box::new(call));
                self.held = rest.to_owned();
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
        let begin = self.expected.reasoning_tags.begin;
        if let Some(reasoning) = words.strip_prefix(begin) {
            self.held = reasoning.to_owned();
            self.state = State::BeforeThinking;
        } else if begin.starts_with(words) {
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
            Some(Style::Tags | Style::Gemma) => State::Whole,
            Some(Style::Named) => State::Named,
            _ => State::Call(Box::default()),
        }
    }

    /// What ends a call that is read whole.
    fn whole_end(&self) -> &'static str {
        if self.expected.calls == Some(Style::Gemma) { gemma::END } else { tagged::END }
    }

    /// A whole call, or what only looked like one.
    fn whole(&mut self, text: String, out: &mut Vec<Piece>) {
        let read = match self.expected.calls {
            Some(Style::Gemma) => gemma::read(&text),
            _ => tagged::read(&text, &self.expected.tools),
        };
        let Some((name, arguments)) = read else {
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
        // Where calls stand in no list, a bracket begins the next one's mark.
        let listed = self.expected.calls != Some(Style::Named);
        let skipped =
            |char: char| char.is_whitespace() || (listed && matches!(char, ',' | ']' | '[' | ';'));
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
mod tests;
