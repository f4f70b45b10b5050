//! Defines the options of the list of chats.

use clap::Args;

/// Which chats to list.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Sessions {
    /// Only chats whose title or messages contain this text; in:PROJECT, model:NAME, is:pinned, is:archived,
    /// before:DATE and after:DATE narrow the search
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub search: Option<String>,
    /// Maximum number of chats; with --tree, without counting agents
    #[arg(short = 'n', long, value_name = "NUMBER")]
    pub limit: Option<usize>,
    /// List agents below the chat that they work for
    #[arg(long, conflicts_with = "search")]
    pub tree: bool,
    /// Only pinned chats
    #[arg(long)]
    pub pinned: bool,
    /// Only archived chats
    #[arg(long, conflicts_with = "pinned")]
    pub archived: bool,
    /// Only deleted chats
    #[arg(long, conflicts_with_all = ["search", "tree", "pinned", "archived"])]
    pub trash: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}
