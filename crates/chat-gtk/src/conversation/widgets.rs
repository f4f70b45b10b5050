//! Draws the parts of a conversation, each by itself: prose, code, tables, tool calls and what stands around them.

pub mod answer_errors;
pub mod card;
pub mod code;
pub mod common_prefix;
pub mod context;
pub mod details;
pub mod diff_text;
pub mod expander;
pub mod fitted;
pub mod floating;
pub mod footer;
pub mod formula;
pub mod highlight;
pub mod laid_out;
pub mod link;
pub mod position;
pub mod prose;
pub mod report;
pub mod rich_text;
pub mod style_tags;
pub mod table;
pub mod tags;
pub mod tail;
pub mod tool;
pub mod user;
pub mod waiting;
