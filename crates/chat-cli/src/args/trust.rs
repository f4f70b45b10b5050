//! Defines the commands for trusted projects.

use std::path::PathBuf;

use clap::{Subcommand, ValueHint};

/// What to do with trusted projects.
#[derive(Debug, Subcommand)]
pub enum Trust {
    /// List the projects whose agents, commands, and skills you trust
    List {
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Show what a project’s agents, commands, and skills may do, what they say, and what has changed
    Show {
        /// The project folder
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, default_value = ".")]
        project: PathBuf,
    },
    /// Stop trusting a project, so that its agents, commands, and skills are no longer used
    Remove {
        /// The project folder, as listed by `trust`
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        project: PathBuf,
    },
}
