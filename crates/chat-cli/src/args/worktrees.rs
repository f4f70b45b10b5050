//! Defines the commands for worktrees.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum, ValueHint};

/// What to do with worktrees.
#[derive(Debug, Subcommand)]
pub enum Worktrees {
    /// List worktrees, with those that no chat uses any more
    List {
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Print what a worktree changes
    Show {
        /// The worktree’s name, branch or folder, as listed by `worktrees`
        name: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Commit, merge, or discard the work in a worktree
    Finish {
        /// The worktree’s name, branch or folder, as listed by `worktrees`
        name: String,
        /// What to do
        action: Finish,
        /// The message of the commit
        #[arg(short, long, value_name = "TEXT")]
        message: Option<String>,
        /// Merge or discard without asking
        #[arg(short, long)]
        yes: bool,
    },
    /// List snapshots of worktrees that were removed, latest first
    Snapshots {
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Restore a worktree from a snapshot
    Restore {
        /// The snapshot, as listed by `worktrees snapshots`
        snapshot: String,
        /// The project folder; default: the one that it belonged to
        #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        project: Option<PathBuf>,
    },
    /// Delete a snapshot for good
    DeleteSnapshot {
        /// The snapshot, as listed by `worktrees snapshots`
        snapshot: String,
        /// Delete it without asking
        #[arg(short, long)]
        yes: bool,
    },
}

/// How to finish a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Finish {
    /// Commit everything on its own branch
    Commit,
    /// Commit everything, merge it into the branch that it began with, and remove the worktree
    Merge,
    /// Remove the worktree with its branch, after storing a snapshot
    Discard,
}
