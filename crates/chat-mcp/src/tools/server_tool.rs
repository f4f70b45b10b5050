//! A server's tool: asks for permission, calls, and gives what came of it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chat_core::message::{FormAnswer, Preview};
use chat_core::tool::{Denied, Tool, ToolContext, ToolFailure, ToolInfo, ToolOutput};
use chat_permission::{Request, ToolApproval};
use rmcp::model::{CallToolRequestParams, ElicitRequestParams, ElicitResult};
use serde_json::{Map, Value};

use super::approved::Approval;
use super::offer::Loaded;
use super::{Approved, Definition, result};
use crate::client::{Answer, Asked, CallFault, Client, Fault, Progress};
use crate::connection::StartFault;
use crate::form::{self, form};
use crate::http::HttpFault;
use crate::transport::CutOff;

/// The server of a tool, as the tool reaches it.
#[async_trait]
pub(crate) trait Called: Send + Sync + std::fmt::Debug {
    /// The server's name.
    fn server(&self) -> &str;

    /// How its tool of this name is described now; none if it has none any more.
    async fn now(&self, tool: &str) -> Option<Arc<Definition>>;

    /// How long a call may take without a sign of life.
    fn limit(&self) -> Duration;

    /// What was allowed before.
    fn approved(&self) -> &Approved;

    /// Waits until the server runs.
    async fn ready(&self) -> Result<Client, StartFault>;
}

/// A tool of a server.
pub(crate) struct ServerTool {
    info: ToolInfo,
    definition: Arc<Definition>,
    called: Arc<dyn Called>,
}

impl ServerTool {
    pub(super) fn new(name: &str, definition: Arc<Definition>, called: Arc<dyn Called>) -> Self {
        Self { info: definition.info(name), definition, called }
    }

    /// What the model is told of a server that does not run.
    fn not_running(&self, why: &StartFault) -> ToolFailure {
        let server = self.called.server();
        let why = match why {
            StartFault::Client(Fault::Unauthorized(_)) => {
                "the user must sign in first, in the preferences, under Tools".to_owned()
            }
            StartFault::Client(Fault::TimedOut) => "it did not start in time".to_owned(),
            StartFault::Ended => "it ended by itself".to_owned(),
            StartFault::Client(fault) => self.words(fault),
            _ => "it cannot be started; the preferences say why, under Tools".to_owned(),
        };
        ToolFailure::new(format!("The server {server} is not running: {why}."))
    }

    /// What the model is told of a call that came to nothing.
    fn failed(&self, fault: &CallFault) -> ToolFailure {
        let server = self.called.server();
        ToolFailure::new(match fault {
            CallFault::Server(fault) => {
                format!("The server {server} did not do it: {}.", self.words(fault))
            }
            CallFault::NoQuestion => {
                format!(
                    "The server {server} asked for something other than an answer of the user's."
                )
            }
            CallFault::EndlessQuestions => {
                format!("The server {server} asked again and again, and was given up.")
            }
        })
    }

    fn words(&self, fault: &Fault) -> String {
        match fault {
            Fault::TimedOut => {
                format!("it did not answer within {} s", self.called.limit().as_secs())
            }
            Fault::Closed(None) => "the connection broke. It may be back in a moment".to_owned(),
            Fault::Closed(Some(CutOff::TooLong(bytes))) => {
                format!("it sent a message of more than {} MiB, and was cut off", bytes >> 20)
            }
            Fault::Closed(Some(CutOff::Flood)) => "it sent too much, and was cut off".to_owned(),
            Fault::Closed(Some(CutOff::NoMessages)) => {
                "what it sent was no message of the protocol, and it was cut off".to_owned()
            }
            Fault::Closed(Some(CutOff::NotReading)) => {
                "it did not read what it was sent, and was cut off".to_owned()
            }
            Fault::Refused { code, message } => {
                let message: String = message.chars().take(2000).collect();
                format!("it refused with error {code}: {message}")
            }
            Fault::Unauthorized(_) => "the user must sign in first".to_owned(),
            Fault::Invalid => "its answer could not be understood".to_owned(),
            Fault::Http(HttpFault::TooLarge) => "its answer was too large to read".to_owned(),
            Fault::Http(HttpFault::TimedOut) => "it did not answer in time".to_owned(),
            Fault::Http(HttpFault::NotMcp) => {
                "its answer was no message of the protocol".to_owned()
            }
            Fault::Http(HttpFault::Status(status)) => format!("it answered with status {status}"),
            Fault::Http(_) => "it could not be reached".to_owned(),
            Fault::Stopped => "the call was stopped".to_owned(),
        }
    }
}

#[async_trait]
impl Tool for ServerTool {
    fn server(&self) -> Option<&str> {
        Some(self.called.server())
    }

    fn info(&self) -> &ToolInfo {
        &self.info
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let (server, called) = (self.called.server(), &self.called);
        // It stays offered, though there may be too many to offer all by then.
        context.memory.get::<Loaded>().add([self.info.name().to_owned()]);
        let arguments = match given {
            Value::Object(arguments) => arguments,
            Value::Null => Map::new(),
            _ => return Err(ToolFailure::new("The arguments must be an object.")),
        };
        let tool = &self.definition.tool;
        let client = tokio::select! {
            client = called.ready() => client.map_err(|why| self.not_running(&why))?,
            () = context.cancel.cancelled() => return Err(Denied::Stopped.into()),
        };
        // It may have changed since the model was told of it.
        let Some(now) = called.now(tool).await else {
            return Err(ToolFailure::new(format!(
                "The server {server} has no tool {tool} any more."
            )));
        };
        let (approval, changes) = match called.approved().approval(server, &now).await {
            Approval::Approved => (ToolApproval::Approved, Vec::new()),
            Approval::New => (ToolApproval::New, Vec::new()),
            Approval::Changed(changes) => (ToolApproval::Changed, changes),
        };
        let request = Request::Mcp {
            server: server.to_owned(),
            tool: tool.clone(),
            read_only: now.read_only,
            approval,
        };
        let preview = Preview::ServerTool {
            title: now.title.clone(),
            arguments: serde_json::to_string_pretty(&arguments).unwrap_or_default(),
            changes,
        };
        context.permit(request, preview).await?;
        if let Err(error) = called.approved().remember(server, &now).await {
            tracing::warn!(%error, "how an allowed tool is described is not stored");
        }
        let call = CallToolRequestParams::new(tool.clone()).with_arguments(arguments);
        let host = Arc::clone(&context.host);
        let progress = move |progress: Progress| host.on_output(&shown(&progress), 0);
        let asked = Arc::new(ByUser { server: server.to_owned(), context: context.clone() });
        let answer = client.call(call, called.limit(), &context.cancel, progress, asked).await;
        match answer {
            Ok(Answer::Result(found)) => result::output(*found, &context).await,
            Ok(Answer::Odd(value)) => result::odd(&value, &context).await,
            Err(fault) => Err(self.failed(&fault)),
        }
    }
}

/// Has the user answer what a server asks during a call.
struct ByUser {
    server: String,
    context: ToolContext,
}

#[async_trait]
impl Asked for ByUser {
    fn chat(&self) -> usize {
        // Each session has a memory of its own.
        Arc::as_ptr(&self.context.memory).addr()
    }

    async fn ask(&self, question: &ElicitRequestParams) -> ElicitResult {
        match form(&self.server, question) {
            None => form::result(&FormAnswer::Declined),
            Some(form) => match self.context.fill(form).await {
                Ok(answer) => form::result(&answer),
                Err(_) => form::cancelled(),
            },
        }
    }
}

/// How far a call has come, in one line.
fn shown(progress: &Progress) -> String {
    let number = |number: f64| format!("{}", (number * 100.0).round() / 100.0);
    let message: String = progress.message.iter().flat_map(|it| it.chars()).take(200).collect();
    let far = match progress.total {
        Some(total) => format!("{} / {}", number(progress.done), number(total)),
        None => number(progress.done),
    };
    format!("{far} {message}").trim_end().to_owned()
}
