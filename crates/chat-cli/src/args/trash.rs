//! Defines the commands for the trash.

use clap::{Args, Subcommand};

/// What to do with deleted chats and messages.
#[derive(Debug, Subcommand)]
pub enum Trash {
    /// List deleted chats and messages, last deleted first
    List {
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Restore deleted chats or messages
    Restore {
        /// The IDs in the first column of `trash`
        #[arg(required = true)]
        id: Vec<String>,
    },
    /// Delete chats or messages in the trash for good
    Delete {
        /// The IDs in the first column of `trash`
        #[arg(required = true)]
        id: Vec<String>,
        /// Delete without asking
        #[arg(short, long)]
        yes: bool,
    },
    /// Delete everything in the trash for good
    Empty {
        /// Delete without asking
        #[arg(short, long)]
        yes: bool,
    },
}

/// What to delete.
#[derive(Debug, Args)]
pub struct Delete {
    /// The chats’ FIDs, as listed by `sessions`
    #[arg(required = true)]
    pub fid: Vec<String>,
    /// Delete only this message of the chat, with the replies to it: its number in `show`, or its id
    #[arg(long)]
    pub message: Option<String>,
    /// Delete all messages that follow it, too
    #[arg(long, requires = "message")]
    pub branch: bool,
    /// Delete without asking
    #[arg(short, long)]
    pub yes: bool,
}
