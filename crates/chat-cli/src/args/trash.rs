//! Defines the commands for the trash.

use clap::{Args, Subcommand};

/// What to do with deleted chats.
#[derive(Debug, Subcommand)]
pub enum Trash {
    /// List deleted chats, last deleted first
    List {
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Restore deleted chats
    Restore {
        /// The chats’ FIDs, as listed by `trash`
        #[arg(required = true)]
        fid: Vec<String>,
    },
    /// Delete chats in the trash for good
    Delete {
        /// The chats’ FIDs, as listed by `trash`
        #[arg(required = true)]
        fid: Vec<String>,
        /// Delete without asking
        #[arg(short, long)]
        yes: bool,
    },
    /// Delete all chats in the trash for good
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
