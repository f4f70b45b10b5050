//! Defines agents, and the handlers that they make for each request.

mod code_assistant;
mod compaction;
mod compactor;
mod context_size;
mod execution;
mod file_agent;
mod fitting;
mod handler;
mod history;
mod just_ask;
mod prompt_context;
mod registry;
mod sink;
mod summary;
mod surroundings;
mod template;
mod tool_loop_detection;
mod truncation;
mod turn;

use std::sync::Arc;

use chat_permission::Mode;

use crate::client::ToolChoice;
use crate::message::{Message, Options};
use crate::tool::Registry;

pub use code_assistant::{CODE_ASSISTANT, CodeAssistant, EDITOR_PANEL};
pub(crate) use compactor::{Compactor, limit as compaction_limit};
pub(crate) use context_size::{
    ContextSize, Scale, result_bytes, scale_of, skill_list_bytes, tool_bytes,
};
pub(crate) use file_agent::FileAgent;
pub use handler::{AgentHandler, Outcome};
pub(crate) use history::says_something;
pub use history::{outgoing, system};
pub use just_ask::JustAsk;
pub(crate) use prompt_context::todos;
pub use prompt_context::{KnownContext, PromptContext};
pub use registry::AgentRegistry;
pub use sink::{NextReply, ReplyEnd, ReplySink, TurnContext, TurnProgress};
pub(crate) use surroundings::system as system_name;
pub use surroundings::{ProjectStart, RuleFile, Surroundings};
pub use turn::{Turn, TurnInput};

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

    /// The panel that it brings, by name: front ends have the widget for it.
    fn panel(&self) -> Option<&'static str> {
        None
    }

    /// What its tools may do unasked at most, whatever the chat's mode is; none where it leaves that to the chat.
    fn ceiling(&self) -> Option<Mode> {
        None
    }

    /// The model that it uses where the user chose none, as `connection/model` or by its name alone.
    fn model(&self) -> Option<&str> {
        None
    }

    /// The options that it uses where the user set none.
    fn options(&self) -> Options {
        Options::default()
    }

    /// Its instructions, filled again for every request of the person; none where it has none.
    fn system_prompt(&self, around: &Surroundings) -> Option<String>;

    /// What the user has open, for the model. Stored with the person's
    /// message, so that history goes out the same ever after.
    fn context(&self, context: &PromptContext<'_>) -> Vec<String>;

    /// The tools that it offers, of those that there are, and whether one must be called.
    fn configure_tools(&self, registry: &Registry) -> (Registry, ToolChoice);

    /// The messages to send for a conversation: the system prompt, then what may go out of its
    /// history.
    fn build_messages(&self, history: &[Arc<Message>], around: &Surroundings) -> Vec<Arc<Message>> {
        let prompt = around.with_instructions(self.system_prompt(around));
        let system = prompt.map(|prompt| Arc::new(system(&prompt)));
        system.into_iter().chain(outgoing(history)).collect()
    }

    /// Makes the handler of a turn that answers in this session.
    fn create_handler(
        &self,
        input: TurnInput,
        session: Arc<dyn ReplySink>,
    ) -> Box<dyn AgentHandler> {
        Box::new(Turn::new(input, session))
    }
}
