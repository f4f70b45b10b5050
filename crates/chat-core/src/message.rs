//! Defines messages, their parts, and the requests that make them.

mod agent_report;
mod approval;
mod at_words;
mod command_text;
mod content;
mod context;
mod context_usage;
mod deletion;
mod form;
mod id;
mod option_names;
mod option_values;
mod options;
pub(crate) mod provider;
pub(crate) mod reasoning;
mod request;
mod session;
mod tool;
mod tree;

pub use agent_report::{AgentReport, AgentState, FromAgent};
pub use approval::{
    Answer, ApprovalId, ApprovalKind, ApprovalRequest, AskReason, PermissionRequest, Preview,
    Question, ServerToolChange,
};
pub use at_words::{AtResource, AtTarget, AtWord, AtWords, at_words, may_begin_mention};
pub use command_text::CommandText;
pub(crate) use content::as_base64;
pub use content::{Ending, Message, Part, ReplyFailure, Role, Usage};
pub use context::{Context, Excerpt, Mention, OpenFile, Selection};
pub use context_usage::{Compaction, ContextCategory, ContextUsage, PromptPreview};
pub use deletion::{DeleteScope, DeletedMessages};
pub use form::{
    FieldKind, FieldProblem, FieldProblemKind, Form, FormAnswer, FormField, FormOption, FormRecord,
    NumberLimits, TextFormat,
};
pub use id::{Fid, MessageId, ModelRef, ToolCallId};
pub use option_names::{OptionKind, OptionName};
pub use option_values::{InvalidOption, KeepAlive, ReplySchema};
pub use options::{Options, Sampling, Thinking};
pub use provider::{Origin, ProviderData};
pub use request::{Attachment, ChatRequest, Content, Delivery, Queued};
pub use session::{SessionChange, SessionMeta};
pub use tool::{
    BackgroundCommand, CommandExit, CommandLimit, Todo, TodoState, ToolCall, ToolResult, ToolSpec,
    ToolView, Verdict,
};
pub use tree::MessageTree;
