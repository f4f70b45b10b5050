//! Defines what a conversation holds: its messages, replies, tool calls, and the files that they name.
//! Nothing here knows a widget.

pub mod agent_book;
pub mod ansi;
pub mod answer_drafts;
pub mod copies;
pub mod diff;
pub mod entry;
pub mod files;
pub mod grid_text;
pub mod hits;
pub mod message_edits;
pub mod notice;
pub mod one_time_note;
pub mod part;
pub mod piece_source;
pub mod reply;
pub mod row_kind;
pub mod row_text;
pub mod run_source;
pub mod said;
pub mod selected_text;
pub mod selection;
pub mod sgr;
pub mod shown_line;
pub mod steps;
pub mod styled_text;
pub mod tool;
pub mod transcript;
