//! Defines the commands for agents.

use clap::{Args, Subcommand};

/// Which agents to list, and how.
#[derive(Debug, Args)]
pub struct ListAgents {
    /// Only the agents of this chat
    #[arg(short, long, value_name = "FID")]
    pub session: Option<String>,
    /// Print an agent again each time it changes, until Ctrl+C
    #[arg(short, long)]
    pub watch: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// What to do with agents.
#[derive(Debug, Subcommand)]
pub enum Agents {
    /// List agents and what they do
    List(ListAgents),
    /// Close agents, so that their chat can start others; their own chats stay
    Close {
        /// The agent’s name, or the FID of its chat, as listed by `agents`
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        name: Option<String>,
        /// The chat that the agent works for
        #[arg(short, long, value_name = "FID")]
        session: Option<String>,
        /// Close all agents of the chat
        #[arg(long, requires = "session")]
        all: bool,
    },
}
