//! How to work: agents, and the handlers that they make for each request.

mod handler;
mod history;
mod just_ask;
mod runner;
mod sink;

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::client::{Client, ToolChoice};
use crate::message::{Context, Message, Options, Thinking};
use crate::tool::Registry;

pub use handler::{AgentHandler, Outcome};
pub(crate) use history::says_something;
pub use history::{outgoing, system};
pub use just_ask::JustAsk;
pub use sink::{ReplyEnd, ReplySink};

/// The name of the default agent, which is always registered.
pub const DEFAULT: &str = "just-ask";

/// How to work: shared, without state and without a client. A handler is made for each request.
pub trait Agent: Send + Sync {
    /// Its name, as stored with sessions.
    fn name(&self) -> &str;

    /// Its title, for people, in English.
    fn title(&self) -> &str;

    /// What it does, in a line, in English.
    fn description(&self) -> &str;

    /// Its instructions, filled anew for every request of the person; none where it has none.
    fn system_prompt(&self, around: &Surroundings) -> Option<String>;

    /// What the model is told of what the person has before them. Stored with the person's
    /// message, so that history goes out the same ever after.
    fn context(&self, context: &Context) -> Option<String>;

    /// The tools that it offers, of those that there are, and whether one must be called.
    fn configure_tools(&self, registry: &Registry) -> (Registry, ToolChoice);

    /// The messages to send for a conversation: the system prompt, then what may go out of its
    /// history.
    fn build_messages(&self, history: &[Arc<Message>], around: &Surroundings) -> Vec<Arc<Message>> {
        let system = self.system_prompt(around).map(|prompt| Arc::new(system(&prompt)));
        system.into_iter().chain(outgoing(history)).collect()
    }

    /// Makes the handler of a request.
    fn create_handler(self: Arc<Self>, work: Work) -> AgentHandler;
}

/// What a request is made in, for an agent's instructions.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The folder to work in, where there is one.
    pub project: Option<PathBuf>,
    /// The tools that are offered.
    pub tools: Registry,
}

/// What a handler works with.
#[derive(Clone)]
pub struct Work {
    /// The client of the request's connection.
    pub client: Arc<dyn Client>,
    /// The model's name on it.
    pub model: String,
    /// How much to think.
    pub thinking: Thinking,
    /// Sampling and window.
    pub options: Options,
    /// What it is made in, with the tools of its first round.
    pub around: Surroundings,
    /// Whether one of these must be called.
    pub choice: ToolChoice,
    /// Where the reply goes.
    pub sink: Arc<dyn ReplySink>,
    /// Fires when the person stops the request.
    pub cancel: CancellationToken,
}
