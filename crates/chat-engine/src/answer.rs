//! An answer as it comes about: the model is loaded, the prompt is read, the text is told apart.

use std::collections::VecDeque;

use tokio::sync::mpsc::{self, UnboundedReceiver};

use crate::failure::Failure;
use crate::inference::{Facts, Finish, Grammar, Job, Order, Progress, Said, Timings};
use crate::models::Use;
use crate::output::{Expected, Piece, Sorter};
use crate::prompt::template::Given;
use crate::prompt::thoughts::Thoughts;
use crate::prompt::tools::{self, Calls, Style};
use crate::request::{ChatBody, Format, Message, Sampling};

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
    said: Option<UnboundedReceiver<Said>>,
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
                self.hear(said.unwrap_or(Said::Failed(Failure::Gone)));
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
                if let Err(failure) = self.ask(&facts, request) {
                    self.ready.push_back(Event::Failed(failure));
                }
            }
            Progress::Failed(failure) => self.ready.push_back(Event::Failed(failure)),
            Progress::Loading(part) => {
                self.ready.push_back(Event::Loading(part));
                if self.model.progress.changed().await.is_err() {
                    self.ready.push_back(Event::Failed(Failure::Gone));
                }
            }
        }
    }

    fn ask(&mut self, facts: &Facts, request: Box<(ChatBody, Sampling)>) -> Result<(), Failure> {
        let (body, sampling) = *request;
        let asked = Asked::new(facts, &body)?;
        let spoken = asked.expected.words();
        self.sorter = Sorter::new(asked.expected);
        let (said, hear) = mpsc::unbounded_channel();
        let job = Job {
            prompt: asked.prompt,
            window: self.model.window.min(facts.trained_window),
            max_tokens: body.max_tokens,
            sampling,
            grammar: asked.grammar,
            stop: body.stop.map(crate::request::Stop::texts).unwrap_or_default(),
            spoken,
            said,
        };
        facts.orders.send(Order::Write(Box::new(job))).map_err(|_| Failure::Gone)?;
        self.said = Some(hear);
        Ok(())
    }

    fn hear(&mut self, said: Said) {
        let mut pieces = Vec::new();
        match said {
            Said::Read { done, total, cached } => {
                self.ready.push_back(Event::Reading { done, total, cached });
            }
            Said::Text(text) => self.sorter.take(&text, &mut pieces),
            Said::End { finish, timings } => {
                self.sorter.end(&mut pieces);
                let reason = match finish {
                    Finish::Length => "length",
                    Finish::Stop if self.sorter.has_calls() => "tool_calls",
                    Finish::Stop => "stop",
                };
                self.ready.extend(pieces.drain(..).map(Event::Piece));
                self.ready.push_back(Event::End { reason, timings });
            }
            Said::Failed(failure) => self.ready.push_back(Event::Failed(failure)),
        }
        self.ready.extend(pieces.into_iter().map(Event::Piece));
    }
}

/// What a request becomes for one model.
struct Asked {
    prompt: String,
    expected: Expected,
    grammar: Option<Grammar>,
}

impl Asked {
    fn new(facts: &Facts, body: &ChatBody) -> Result<Self, Failure> {
        let template = facts.template.as_ref().map_err(Clone::clone)?;
        let calls = Calls::of(tools::read(&body.tools)?, body.tool_choice.as_ref())?;
        let mut messages: Vec<Message> = body.messages.clone();
        for message in &mut messages {
            facts.guard.mark(message);
        }
        let style = Style::of(template);
        let told = template.takes_tools();
        if let (Calls::Must(tools), false) = (&calls, told) {
            tools::tell(&mut messages, tools);
        }
        let mut kwargs = body.chat_template_kwargs.clone();
        if let Some(effort) = &body.reasoning_effort {
            kwargs.insert("reasoning_effort".to_owned(), effort.as_str().into());
            kwargs.entry("enable_thinking".to_owned()).or_insert_with(|| (effort != "none").into());
        }
        let values = calls.tools().iter().map(|tool| tool.value.clone());
        let tools = if told { values.collect() } else { Vec::new() };
        let prompt = template.render(&Given { messages: &messages, tools, kwargs })?;
        let grammar = grammar(&calls, style.filter(|_| told), body.response_format.as_ref())?;
        let thoughts = Thoughts::of(template);
        let expected = Expected {
            thinking: prompt.trim_end().ends_with(thoughts.begin),
            thoughts,
            forced: matches!(calls, Calls::Must(_)),
            calls: style.filter(|_| matches!(calls, Calls::May(_)) && told),
            tools: calls.tools().to_vec(),
        };
        Ok(Self { prompt, expected, grammar })
    }
}

/// What holds an answer to its shape.
fn grammar(
    calls: &Calls,
    style: Option<Style>,
    format: Option<&Format>,
) -> Result<Option<Grammar>, Failure> {
    match calls {
        Calls::Must(tools) => return Grammar::of_schema(&tools::schema(tools)).map(Some),
        Calls::May(tools) if style == Some(Style::Tagged) => {
            let calls = Grammar::of_schema(&tools::schema(tools))?;
            return Ok(Some(calls.after("<tool_call>", r#"space "</tool_call>" space"#)));
        }
        Calls::May(_) | Calls::None => {}
    }
    let Some(format) = format else { return Ok(None) };
    let schema = format.json_schema.as_ref().map(|named| &named.schema).or(format.schema.as_ref());
    match (format.r#type.as_str(), schema) {
        ("json_schema" | "json_object", Some(schema)) => Grammar::of_schema(schema.get()).map(Some),
        ("json_object", None) => Grammar::of_schema(r#"{"type":"object"}"#).map(Some),
        ("json_schema", None) => Err(Failure::Request("there is no schema".to_owned())),
        _ => Ok(None),
    }
}
