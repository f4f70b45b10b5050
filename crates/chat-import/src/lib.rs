//! Reads the chats that other programs export. Knows neither the engine nor a front end: it gives plain data,
//! one chat at a time, so that an export of any size takes no more memory than its largest chat.

mod archive;
mod chat;
mod chatgpt;
mod claude;
mod fault;
mod media;
mod natter;
mod ollmchat;
mod reader;
mod recognize;
mod source;
mod split;
mod tree;

pub use chat::{ImportedChat, ImportedMessage, ImportedPart, ImportedRole, Missing};
pub use fault::{ChatFault, ExportFault};
pub use natter::{EXPORT_VERSION, NatterChat};
pub use reader::{BrokenFile, Found, Item, read};
pub use recognize::Program;
