//! Makes an answer: loads the model, reads the prompt, and splits the text into its parts.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{self, UnboundedReceiver};

use crate::draft::DraftLimits;
use crate::failure::Failure;
use crate::inference::{Facts, Finish, Grammar, Job, JobEvent, Order, Progress, Timings};
use crate::models::Use;
use crate::output::{Expected, Piece, Sorter};
use crate::prompt::reasoning_tags::ReasoningTags;
use crate::prompt::template::RenderInput;
use crate::prompt::tools::{self, Calls, Style};
use crate::request::{ChatBody, Format, Message, Sampling, Stop};

/// While a model is loaded, so often is told how far it is, be it the same: who waits knows that the
/// engine lives.
const PULSE: Duration = Duration::from_secs(5);

/// What happens on the way to an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// So much of the model is loaded, of 1.
    Loading(f32),
    /// So much of the prompt is read.
    Reading {
        /// Tokens that are read.
        done: usize,
        /// Tokens of the whole prompt.
        total: usize,
        /// Tokens that were known.
        cached: usize,
    },
    /// Others are answered first.
    Queued,
    /// Nothing to tell, and yet something is done.
    Working,
    /// More of the answer.
    Piece(Piece),
    /// It is complete.
    End {
        /// Why.
        reason: &'static str,
        /// How long it took.
        timings: Timings,
    },
    /// It failed.
    Failed(Failure),
}

/// An answer at work. Dropping it gives it up.
#[derive(Debug)]
pub struct Answer {
    model: Use,
    request: Option<Box<(ChatBody, Sampling)>>,
    said: Option<UnboundedReceiver<JobEvent>>,
    sorter: Sorter,
    ready: VecDeque<Event>,
    over: bool,
}

impl Answer {
    /// Begins; nothing is asked of the model before the first [`next`](Self::next).
    pub fn new(model: Use, body: ChatBody, sampling: Sampling) -> Self {
        Self {
            model,
            request: Some(Box::new((body, sampling))),
            said: None,
            sorter: Sorter::new(Expected::default()),
            ready: VecDeque::new(),
            over: false,
        }
    }

    /// What happens next; nothing after the end or a failure.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.over = matches!(event, Event::End { .. } | Event::Failed(_));
                return Some(event);
            }
            if self.over {
                return None;
            }
            if let Some(said) = &mut self.said {
                let said = said.recv().await;
                self.hear(said.unwrap_or(JobEvent::Failed(Failure::Gone)));
            } else {
                self.load().await;
            }
        }
    }

    /// Waits for the model, and asks it once it is there.
    async fn load(&mut self) {
        let progress = self.model.progress.borrow_and_update().clone();
        match progress {
            Progress::Ready(facts) => {
                let Some(request) = self.request.take() else { return };
                // A template comes with a file from anywhere, and may take its time.
                let model = Arc::clone(&facts);
                let asked =
                    tokio::task::spawn_blocking(move || PreparedRequest::new(&model, *request))
                        .await;
                let asked = asked.unwrap_or(Err(Failure::Gone));
                if let Err(failure) = asked.and_then(|asked| self.ask(&facts, asked)) {
                    self.ready.push_back(Event::Failed(failure));
                }
            }
            Progress::Failed(failure) => self.ready.push_back(Event::Failed(failure)),
            Progress::Loading(part) => {
                self.ready.push_back(Event::Loading(part));
                let changed = tokio::time::timeout(PULSE, self.model.progress.changed()).await;
                if matches!(changed, Ok(Err(_))) {
                    self.ready.push_back(Event::Failed(Failure::Gone));
                }
            }
        }
    }

    fn ask(&mut self, facts: &Facts, asked: PreparedRequest) -> Result<(), Failure> {
        let spoken = asked.expected.words();
        self.sorter = Sorter::new(asked.expected);
        let (said, hear) = mpsc::unbounded_channel();
        let job = Job {
            prompt: asked.prompt,
            window: self.model.window.min(facts.trained_window),
            max_tokens: asked.max_tokens,
            sampling: asked.sampling,
            grammar: asked.grammar,
            stop: asked.stop,
            drafts: asked.drafts,
            spoken,
            said,
        };
        facts.orders.send(Order::Write(Box::new(job))).map_err(|_| Failure::Gone)?;
        self.said = Some(hear);
        Ok(())
    }

    fn hear(&mut self, said: JobEvent) {
        let mut pieces = Vec::new();
        match said {
            JobEvent::Read { done, total, cached } => {
                self.ready.push_back(Event::Reading { done, total, cached });
            }
            JobEvent::Queued => self.ready.push_back(Event::Queued),
            JobEvent::Working => self.ready.push_back(Event::Working),
            JobEvent::Text(text) => self.sorter.take(&text, &mut pieces),
            JobEvent::End { finish, timings } => {
                self.sorter.end(&mut pieces);
                let reason = match finish {
                    Finish::Length => "length",
                    Finish::Stop if self.sorter.has_calls() => "tool_calls",
                    Finish::Stop => "stop",
                };
                self.ready.extend(pieces.drain(..).map(Event::Piece));
                self.ready.push_back(Event::End { reason, timings });
            }
            JobEvent::Failed(failure) => self.ready.push_back(Event::Failed(failure)),
        }
        self.ready.extend(pieces.into_iter().map(Event::Piece));
    }
}

/// What a request becomes for one model.
struct PreparedRequest {
    prompt: String,
    expected: Expected,
    grammar: Option<Grammar>,
    max_tokens: Option<u32>,
    sampling: Sampling,
    stop: Vec<String>,
    drafts: DraftLimits,
}

impl PreparedRequest {
    fn new(facts: &Facts, request: (ChatBody, Sampling)) -> Result<Self, Failure> {
        let (body, mut sampling) = request;
        let template = facts.template.as_ref().map_err(Clone::clone)?;
        let calls = Calls::of(tools::read(&body.tools)?, body.tool_choice.as_ref())?;
        let mut messages: Vec<Message> = body.messages;
        for message in &mut messages {
            facts.guard.mark(message);
        }
        let style = Style::of(template);
        let told = template.takes_tools();
        if let (Calls::Must(tools), false) = (&calls, told) {
            tools::tell(&mut messages, tools);
        }
        let mut kwargs = body.chat_template_kwargs;
        if let Some(effort) = &body.reasoning_effort {
            kwargs.insert("reasoning_effort".to_owned(), effort.as_str().into());
            kwargs.entry("enable_thinking".to_owned()).or_insert_with(|| (effort != "none").into());
        }
        let values = calls.tools().iter().map(|tool| tool.value.clone());
        let tools = if told { values.collect() } else { Vec::new() };
        let prompt = template.render(&RenderInput { messages: &messages, tools, kwargs })?;
        let (style, own) = (style.filter(|_| told), sampling.grammar.take());
        let grammar = grammar(&calls, style, body.response_format.as_ref(), own)?;
        // What holds an answer from its first word leaves no room for thoughts.
        let held = grammar.as_ref().is_some_and(Grammar::holds_all);
        let reasoning_tags = ReasoningTags::of(template);
        let expected = Expected {
            thinking: !held && prompt.trim_end().ends_with(reasoning_tags.begin),
            reasoning_tags,
            forced: matches!(calls, Calls::Must(_)),
            calls: style.filter(|_| matches!(calls, Calls::May(_)) && !held),
            tools: calls.tools().to_vec(),
        };
        let stop = body.stop.map(Stop::texts).unwrap_or_default();
        let max_tokens = body.max_tokens;
        let drafts = DraftLimits { least: body.drafts_least, most: body.drafts_most };
        Ok(Self { prompt, expected, grammar, max_tokens, sampling, stop, drafts })
    }
}

/// What holds an answer to its shape: a call that must be made, the request's own grammar or format,
/// or else the calls that may be made.
fn grammar(
    calls: &Calls,
    style: Option<Style>,
    format: Option<&Format>,
    own: Option<String>,
) -> Result<Option<Grammar>, Failure> {
    let both = |words: &str| Err(Failure::Request(words.to_owned()));
    match (calls, own) {
        (Calls::Must(_), Some(_)) => both("a grammar cannot hold a call that must be made"),
        (Calls::Must(tools), None) => Grammar::of_schema(&tools::schema(tools)).map(Some),
        (_, own) => match (own, of_format(format)?) {
            (Some(_), Some(_)) => both("a grammar and a format cannot both hold the answer"),
            (Some(own), None) => Grammar::new(own).map(Some),
            (None, Some(format)) => Ok(Some(format)),
            (None, None) => Ok(offered(calls, style)),
        },
    }
}

/// What holds the whole answer to a format.
fn of_format(format: Option<&Format>) -> Result<Option<Grammar>, Failure> {
    let Some(format) = format else { return Ok(None) };
    let schema = format.json_schema.as_ref().map(|named| &named.schema).or(format.schema.as_ref());
    match (format.r#type.as_str(), schema) {
        ("json_schema" | "json_object", Some(schema)) => Grammar::of_schema(schema.get()).map(Some),
        ("json_object", None) => Grammar::of_schema(r#"{"type":"object"}"#).map(Some),
        ("json_schema", None) => Err(Failure::Request("there is no schema".to_owned())),
        _ => Ok(None),
    }
}

/// What holds calls that the model may make, once it makes one. Where a schema cannot be followed they
/// are made without.
fn offered(calls: &Calls, style: Option<Style>) -> Option<Grammar> {
    let (Calls::May(tools), Some(Style::Tagged)) = (calls, style) else { return None };
    match Grammar::of_schema(&tools::schema(tools)) {
        Ok(calls) => Some(calls.after("<tool_call>", r#"space "</tool_call>" space"#)),
        Err(error) => {
            tracing::warn!(?error, "calls are not held to their schemas");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::prompt::guard::Guard;
    use crate::prompt::template::Template;

    fn tools(parameters: &serde_json::Value) -> Vec<tools::Tool> {
        let raw =
            json!({ "type": "function", "function": { "name": "f", "parameters": parameters } });
        tools::read(&[serde_json::value::to_raw_value(&raw).unwrap()]).unwrap()
    }

    fn format() -> Format {
        serde_json::from_value(json!({ "type": "json_object" })).unwrap()
    }

    #[test]
    fn a_format_or_a_grammar_holds_the_answer_though_tools_are_offered() {
        let calls = || Calls::May(tools(&json!({ "type": "object" })));
        let tagged = Some(Style::Tagged);
        let held = |format: Option<&Format>, own: Option<&str>| {
            grammar(&calls(), tagged, format, own.map(str::to_owned)).unwrap().unwrap().holds_all()
        };
        assert!(held(Some(&format()), None));
        assert!(held(None, Some("root ::= \"a\"")));
        assert!(!held(None, None));
        let both = grammar(&calls(), tagged, Some(&format()), Some(String::new()));
        assert!(matches!(both, Err(Failure::Request(_))));
        let Calls::May(forced) = calls() else { unreachable!() };
        let both = grammar(&Calls::Must(forced), tagged, None, Some(String::new()));
        assert!(matches!(both, Err(Failure::Request(_))));
    }

    #[test]
    fn what_is_held_from_its_first_word_is_no_thought() {
        let template = Template::new("{{ messages[0].content }}<think>", "", "");
        let (orders, _) = std::sync::mpsc::channel();
        let facts = Facts { template, guard: Guard::default(), trained_window: 64, orders };
        let thinking = |more: serde_json::Value| {
            let mut body =
                json!({ "model": "m", "messages": [{ "role": "user", "content": "Hi" }] });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let request = (
                serde_json::from_value(body.clone()).unwrap(),
                serde_json::from_value(body).unwrap(),
            );
            PreparedRequest::new(&facts, request).unwrap().expected.thinking
        };
        assert!(thinking(json!({})));
        assert!(!thinking(json!({ "response_format": { "type": "json_object" } })));
        assert!(!thinking(json!({ "grammar": "root ::= \"a\"" })));
    }

    #[test]
    fn schemas_with_references_hold_calls_and_what_leads_nowhere_is_offered_without() {
        let place = json!({ "type": "object", "properties": { "at": { "$ref": "#/$defs/place" } },
            "$defs": { "place": { "type": "string" } } });
        assert!(offered(&Calls::May(tools(&place)), Some(Style::Tagged)).is_some());
        assert!(grammar(&Calls::Must(tools(&place)), None, None, None).is_ok());
        let nowhere = json!({ "properties": { "at": { "$ref": "#/nowhere" } } });
        assert_eq!(offered(&Calls::May(tools(&nowhere)), Some(Style::Tagged)), None);
        assert!(grammar(&Calls::Must(tools(&nowhere)), None, None, None).is_err());
    }
}
