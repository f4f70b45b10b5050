//! Defines the command that imports chats.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Which exports to import.
#[derive(Debug, Args)]
pub struct Import {
    #[arg(
        required = true,
        value_name = "FILE",
        value_hint = ValueHint::AnyPath,
        help = "Exports of ChatGPT, Claude, OLLMchat or Natter: files, ZIP archives or folders"
    )]
    pub files: Vec<PathBuf>,
    /// Only print what would be imported
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
