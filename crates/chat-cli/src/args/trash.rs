//! Defines the commands for the trash.

use clap::Subcommand;

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
