//! Defines the command line and its help.

mod agents;
mod arranging;
mod connections;
mod import;
mod mcp;
mod messages;
mod models;
mod sessions;
mod trash;
mod trust;
mod values;
mod worktrees;

use std::ffi::OsString;
use std::path::PathBuf;

use chat_core::message::{OptionName, Thinking};
use chat_core::permission::{Mode, Rule};
use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

pub use self::agents::{Agents, ListAgents};
pub use self::arranging::Arrange;
pub use self::connections::{AddConnection, Connections};
pub use self::import::Import;
pub use self::mcp::{AddServer, Mcp};
pub use self::messages::{Edit, Messages, Regenerate};
pub use self::models::{ListModels, Models};
pub use self::sessions::Sessions;
pub use self::trash::{Delete, Trash};
pub use self::trust::Trust;
use self::values::{
    mode_parser, parse_boxed_rule, parse_option, parse_rule, parse_temperature, thinking_parser,
};
pub use self::worktrees::{Finish, Worktrees};

/// Chat with language models on this computer or on any server.
#[derive(Debug, Parser)]
#[command(name = "natter-cli", version, subcommand_required = true, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// Reads the command line. Ends the program if it is invalid or help was requested.
    pub fn read() -> Self {
        let line: Vec<_> = std::env::args_os().collect();
        Self::parse_line(&line).unwrap_or_else(|error| with_hint(error).exit())
    }

    /// Parses a command line whose first word is the program.
    fn parse_line(line: &[impl Into<OsString> + Clone]) -> Result<Self, clap::Error> {
        let cli = Self::try_parse_from(line.iter().cloned())?;
        if let Command::Sessions(Sessions { search: Some(text), .. }) = &cli.command
            && text.starts_with("--")
        {
            // An argument that begins with a hyphen is searched for, so an option's value must
            // follow an equals sign.
            strict().try_get_matches_from(line.iter().cloned())?;
        }
        Ok(cli)
    }
}

/// The command line in which no option takes another option as its value.
fn strict() -> clap::Command {
    let search = |arg: clap::Arg| arg.allow_hyphen_values(false);
    Cli::command().mut_subcommand("sessions", |sessions| sessions.mut_arg("search", search))
}

/// Adds a hint how to search chats for users who try a command of that name.
fn with_hint(mut error: clap::Error) -> clap::Error {
    let name = error.get(ContextKind::InvalidSubcommand);
    if name == Some(&ContextValue::String("search".to_owned())) {
        error.remove(ContextKind::SuggestedSubcommand);
        let hint = "to search chats, use 'natter-cli sessions --search TEXT'".into();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint]));
    }
    error
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Ask one question and print the answer
    Ask(Ask),
    /// Start an interactive chat
    Chat(Request),
    /// List chats, newest first
    Sessions(Sessions),
    /// List agents and what they do, and close them
    #[command(args_conflicts_with_subcommands = true)]
    Agents {
        /// What to do with them; without it they are listed.
        #[command(subcommand)]
        action: Option<Agents>,
        #[command(flatten)]
        list: ListAgents,
    },
    /// Print a chat
    Show(Show),
    /// Rename a chat
    Rename {
        /// The chat’s FID, as listed by `sessions`
        fid: String,
        /// The new title
        #[arg(allow_hyphen_values = true)]
        title: String,
    },
    #[command(flatten)]
    Arrange(Arrange),
    #[command(flatten)]
    Messages(Messages),
    /// Move chats to the trash, where they stay for 30 days, or delete a message
    Delete(Delete),
    /// List deleted chats and messages, restore them, or delete them for good
    #[command(args_conflicts_with_subcommands = true)]
    Trash {
        /// What to do with them; without it they are listed.
        #[command(subcommand)]
        action: Option<Trash>,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Export a chat with everything stored about it, or all chats
    Export(Export),
    /// Import chats from other programs, or from another computer
    Import(Import),
    /// List, add, test, and remove connections to servers
    #[command(args_conflicts_with_subcommands = true)]
    Connections {
        /// What to do with them; without it they are listed.
        #[command(subcommand)]
        action: Option<Connections>,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// List, download, and manage models
    #[command(args_conflicts_with_subcommands = true)]
    Models {
        /// What to do with them; without it they are listed.
        #[command(subcommand)]
        action: Option<Models>,
        #[command(flatten)]
        list: ListModels,
    },
    /// List, remove, and export permission rules
    #[command(args_conflicts_with_subcommands = true)]
    Rules {
        /// What to do with the rules; without it they are listed.
        #[command(subcommand)]
        action: Option<Rules>,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// List trusted projects, and stop trusting one
    #[command(args_conflicts_with_subcommands = true)]
    Trust {
        /// What to do with them; without it they are listed.
        #[command(subcommand)]
        action: Option<Trust>,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// List, add, test, and remove servers of tools (MCP)
    #[command(args_conflicts_with_subcommands = true)]
    Mcp {
        /// What to do with them; without it they are listed.
        #[command(subcommand)]
        action: Option<Mcp>,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// List and finish worktrees, in which agents work on branches of their own
    #[command(args_conflicts_with_subcommands = true)]
    Worktrees {
        /// What to do with them; without it they are listed.
        #[command(subcommand)]
        action: Option<Worktrees>,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Print a shell completion script
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the man page, or write all man pages to a folder
    #[command(hide = true)]
    Man {
        /// The folder
        folder: Option<PathBuf>,
    },
}

/// One question.
#[derive(Debug, Args)]
pub struct Ask {
    /// How it is to be answered.
    #[command(flatten)]
    pub request: Request,
    /// The prompt; use `-` to read it from standard input
    pub prompt: String,
}

/// How questions are to be answered.
#[derive(Clone, Debug, Default, Args)]
pub struct Request {
    /// Name of the connection to use
    #[arg(short, long, value_name = "NAME")]
    pub connection: Option<String>,
    /// The model to use: MODEL or CONNECTION/MODEL
    #[arg(short, long)]
    pub model: Option<String>,
    /// Name of the agent to use
    #[arg(short, long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Continue this chat
    #[arg(short, long, value_name = "FID")]
    pub session: Option<String>,
    /// Keep a new chat in memory alone: nothing of it is saved
    #[arg(long, conflicts_with = "session")]
    pub temporary: bool,
    /// Attach a file: text, image, PDF, Word, Excel, PowerPoint, CSV or HTML; can be used several times
    #[arg(short, long = "file", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Work in this folder, with tools to read and edit its files and run commands
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub project: Option<PathBuf>,
    /// What tools may do without asking
    #[arg(long, value_parser = mode_parser())]
    pub mode: Option<Mode>,
    /// Allow this to this chat and its agents without asking: `run:cargo *`, `write:src/**`, `read:/etc/hosts`,
    /// `network:*.example.org`; can be used several times
    #[arg(long, value_name = "RULE", value_parser = parse_rule)]
    pub allow: Vec<Rule>,
    /// How much the model thinks before it answers
    #[arg(long, value_name = "LEVEL", value_parser = thinking_parser())]
    pub thinking: Option<Thinking>,
    /// Sampling temperature, from 0 to 2
    #[arg(long, value_name = "NUMBER", value_parser = parse_temperature)]
    pub temperature: Option<f64>,
    /// Context window, in tokens
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(256..))]
    pub context_window: Option<u32>,
    /// Another option of the model, such as `top_k=40`; can be used several times
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = parse_option)]
    pub options: Vec<(OptionName, String)>,
    /// What to tell the model in this chat, besides the instructions for all chats and for the project
    #[arg(long, value_name = "TEXT")]
    pub instructions: Option<String>,
    /// Print one JSON object per line for each event
    #[arg(long)]
    pub json: bool,
}

/// Which chat to print, and how.
#[derive(Debug, Args)]
pub struct Show {
    /// The chat’s FID, as listed by `sessions`
    pub fid: String,
    /// Print the chat as one JSON object
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Print the chat as Markdown, with reasoning and attached files
    #[arg(long)]
    pub markdown: bool,
}

/// Which chat to write, and where to.
#[derive(Debug, Args)]
pub struct Export {
    /// The chat’s FID, as listed by `sessions`
    #[arg(required_unless_present = "all")]
    pub fid: Option<String>,
    /// Export all chats, archived ones too, each to a file in the folder given by --output
    #[arg(long, conflicts_with = "fid", requires = "output")]
    pub all: bool,
    /// Write Markdown instead of JSON
    #[arg(long)]
    pub markdown: bool,
    /// Output file, or with --all a folder; default: standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// What to do with rules.
#[derive(Debug, Subcommand)]
pub enum Rules {
    /// List rules
    List {
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Remove a rule, so that it no longer allows or denies anything
    Remove {
        /// The rule, as listed by `rules`
        #[arg(value_parser = parse_boxed_rule)]
        rule: Box<Rule>,
        /// Remove it only for this project folder
        #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        project: Option<PathBuf>,
    },
    /// Print the rules as TOML, as in the settings file
    Export,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_begins_with_a_hyphen_is_searched_for_and_titles_a_chat() {
        let parse = |line: &[&str]| Cli::parse_line(&[&["natter-cli"], line].concat());
        let searched = parse(&["sessions", "--search", "->", "--json"]).unwrap().command;
        let Command::Sessions(Sessions { search, json: true, .. }) = searched else {
            panic!("{searched:?}")
        };
        assert_eq!(search.as_deref(), Some("->"));
        let renamed = parse(&["rename", "a-chat", "--help is no title", "-> arrows"]);
        assert!(renamed.is_err(), "one title is enough");
        let renamed = parse(&["rename", "a-chat", "-> arrows"]).unwrap().command;
        assert!(matches!(&renamed, Command::Rename { title, .. } if title == "-> arrows"));
        let help = parse(&["rename", "--help"]).unwrap_err();
        assert_eq!(help.kind(), clap::error::ErrorKind::DisplayHelp);
    }

    /// All options that take a value, with the commands that lead to them.
    fn options_with_a_value(command: &clap::Command, path: &[String]) -> Vec<Vec<String>> {
        let options = command.get_arguments().filter(|arg| arg.get_action().takes_values());
        let options = options.filter_map(|arg| Some(format!("--{}", arg.get_long()?)));
        let mut found: Vec<_> = options.map(|long| [path, &[long]].concat()).collect();
        for below in command.get_subcommands() {
            let path = [path, &[below.get_name().to_owned()]].concat();
            found.extend(options_with_a_value(below, &path));
        }
        found
    }

    #[test]
    fn no_option_takes_another_for_its_value() {
        let options = options_with_a_value(&Cli::command(), &["natter-cli".to_owned()]);
        assert!(options.len() > 10, "{options:?}");
        for line in options {
            let option = line.last().unwrap().clone();
            let refused = Cli::parse_line(&[line, vec!["--help".to_owned()]].concat()).unwrap_err();
            let said = refused.to_string();
            let missing = format!("error: a value is required for '{option} <");
            assert!(said.starts_with(&missing), "{option}: {said}");
        }
        let searched = Cli::parse_line(&["natter-cli", "sessions", "--search=--json"]).unwrap();
        let Command::Sessions(Sessions { search, json: false, .. }) = searched.command else {
            panic!("{searched:?}")
        };
        assert_eq!(search.as_deref(), Some("--json"));
    }

    #[test]
    fn who_looks_for_a_command_to_search_is_told_the_option() {
        let error = |name: &str| with_hint(Cli::try_parse_from(["natter-cli", name]).unwrap_err());
        let told = error("search").to_string();
        assert!(told.contains("natter-cli sessions --search TEXT"), "{told}");
        assert!(!error("serve").to_string().contains("--search"));
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        let parse = |option: &str, value: &str| {
            Cli::try_parse_from(["natter-cli", "ask", option, value, "hello"]).is_ok()
        };
        assert!(parse("--temperature", "0.7"));
        for wrong in ["-1", "3", "NaN", "warm"] {
            assert!(!parse("--temperature", wrong), "{wrong}");
        }
        assert!(parse("--context-window", "8192"));
        assert!(!parse("--context-window", "0"));
        assert!(parse("--thinking", "high"));
        assert!(!parse("--thinking", "much"));
        // The old name of the default is still accepted.
        for name in ["default", "habit"] {
            assert!(parse("--thinking", name), "{name}");
        }
        assert!(parse("--mode", "plan"));
        assert!(!parse("--mode", "wild"));
    }
}
