//! What a conversation consists of: messages, their parts, and the request that makes them.

mod content;
mod id;
mod options;
mod request;
pub(crate) mod thoughts;
mod tree;

pub use content::{Ending, Message, Part, Role, ToolCall, ToolResult, ToolSpec, Trouble, Usage};
pub(crate) use id::display_name;
pub use id::{Fid, MessageId, ModelRef, ToolCallId};
pub use options::{Options, Thinking};
pub use request::{Attachment, ChatRequest, Content, Context, OpenFile, Queued};
pub use tree::MessageTree;
