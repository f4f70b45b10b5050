//! Defines the commands that change the messages of a chat.

use chat_core::message::Thinking;
use clap::{Args, Subcommand};

use super::Request;
use super::values::thinking_parser;

/// What to do with the messages of a chat.
#[derive(Debug, Subcommand)]
pub enum Messages {
    /// Send another version of a message of yours, and print the reply; the old one stays as a branch
    Edit(Box<Edit>),
    /// Have a message of yours answered again; the earlier reply stays as a branch
    Regenerate(Regenerate),
    /// List the messages that have other versions, or show one of these
    Branches {
        /// The chat’s FID, as listed by `sessions`
        fid: String,
        /// Show the branch with this message from now on
        #[arg(long, value_name = "MESSAGE", conflicts_with = "json")]
        show: Option<String>,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Fork a chat, and print the new one’s FID
    Fork {
        /// The chat’s FID, as listed by `sessions`
        fid: String,
        /// The last message to take over: its number in `show`, or its id; default: all
        message: Option<String>,
        /// Print the new chat as a JSON object
        #[arg(long)]
        json: bool,
    },
    /// Continue a reply that was cut off
    Resume {
        /// The chat’s FID, as listed by `sessions`
        fid: String,
        /// Print one JSON object per line for each event
        #[arg(long)]
        json: bool,
    },
}

/// Another version of a message.
#[derive(Debug, Args)]
pub struct Edit {
    /// The chat’s FID, as listed by `sessions`
    #[arg(conflicts_with = "session")]
    pub fid: String,
    /// The message: its number in `show`, or its id
    pub message: String,
    /// The new text; without it, or with `-`, it is read from standard input
    #[arg(default_value = "-", hide_default_value = true)]
    pub text: String,
    /// How it is to be answered.
    #[command(flatten)]
    pub request: Request,
}

/// Which reply is written again, and with what.
#[derive(Debug, Args)]
pub struct Regenerate {
    /// The chat’s FID, as listed by `sessions`
    pub fid: String,
    /// The reply: its number in `show`, or its id; default: the last one
    pub message: Option<String>,
    /// The model to use: MODEL or CONNECTION/MODEL
    #[arg(short, long)]
    pub model: Option<String>,
    /// Name of the agent to use
    #[arg(short, long, value_name = "NAME")]
    pub agent: Option<String>,
    /// How much the model thinks before it answers
    #[arg(long, value_name = "LEVEL", value_parser = thinking_parser())]
    pub thinking: Option<Thinking>,
    /// Print one JSON object per line for each event
    #[arg(long)]
    pub json: bool,
}
