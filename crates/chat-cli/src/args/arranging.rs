//! Defines the commands that arrange the list of chats.

use clap::Subcommand;

/// What to do with chats in the list.
#[derive(Debug, Subcommand)]
pub enum Arrange {
    /// Keep chats on top of the list
    Pin {
        /// The chats’ FIDs, as listed by `sessions`
        #[arg(required = true)]
        fid: Vec<String>,
    },
    /// Unpin chats
    Unpin {
        /// The chats’ FIDs, as listed by `sessions --pinned`
        #[arg(required = true)]
        fid: Vec<String>,
    },
    /// Move chats out of the list; searches still find them
    Archive {
        /// The chats’ FIDs, as listed by `sessions`
        #[arg(required = true)]
        fid: Vec<String>,
    },
    /// Move archived chats back to the list
    Unarchive {
        /// The chats’ FIDs, as listed by `sessions --archived`
        #[arg(required = true)]
        fid: Vec<String>,
    },
    /// Copy a chat with all its branches, and print the copy’s FID
    Duplicate {
        /// The chat’s FID, as listed by `sessions`
        fid: String,
        /// The title of the copy
        #[arg(long)]
        title: Option<String>,
    },
}
