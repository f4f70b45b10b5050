//! Defines the command line and its help.

use std::ffi::OsString;
use std::path::PathBuf;

use chat_core::message::Thinking;
use chat_core::permission::{Mode, Rule};
use chat_core::settings::ConnectionKind;
use chat_edge::words;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;
use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

/// Talk to language models on your own machine or on any server.
#[derive(Debug, Parser)]
#[command(name = "natter-cli", version, subcommand_required = true, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// Reads the command line. Ends the program where it cannot be meant or help was asked for.
    pub fn read() -> Self {
        let line: Vec<_> = std::env::args_os().collect();
        Self::parse_line(&line).unwrap_or_else(|error| with_hint(error).exit())
    }

    /// Parses a command line, its first word being the program.
    fn parse_line(line: &[impl Into<OsString> + Clone]) -> Result<Self, clap::Error> {
        let cli = Self::try_parse_from(line.iter().cloned())?;
        if let Command::Sessions(Sessions { search: Some(text), .. }) = &cli.command
            && text.starts_with("--")
        {
            // What begins with one hyphen is searched for, and an option only behind an equals sign.
            strict().try_get_matches_from(line.iter().cloned())?;
        }
        Ok(cli)
    }
}

/// The command line where no option takes another one for its value.
fn strict() -> clap::Command {
    let search = |arg: clap::Arg| arg.allow_hyphen_values(false);
    Cli::command().mut_subcommand("sessions", |sessions| sessions.mut_arg("search", search))
}

/// Says where chats are searched to somebody who looks for a command of that name.
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
    /// Hold a conversation
    Chat(Request),
    /// List the chats, the latest first
    Sessions(Sessions),
    /// Print a chat
    Show(Show),
    /// Give a chat a title
    Rename {
        /// The chat, as `sessions` names it
        fid: String,
        /// Its new title
        #[arg(allow_hyphen_values = true)]
        title: String,
    },
    /// Delete chats
    Delete {
        /// The chats, as `sessions` names them
        #[arg(required = true)]
        fid: Vec<String>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Write a chat to a file, with everything that is stored of it
    Export(Export),
    /// List, add, test and remove servers
    #[command(args_conflicts_with_subcommands = true)]
    Connections {
        /// What to do with them; without it they are listed.
        #[command(subcommand)]
        action: Option<Connections>,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// List models, and bring some to this computer
    #[command(args_conflicts_with_subcommands = true)]
    Models {
        /// What to do with them; without it they are listed.
        #[command(subcommand)]
        action: Option<Models>,
        #[command(flatten)]
        list: ListModels,
    },
    /// List what was allowed and denied for longer, take it back, write it down
    #[command(args_conflicts_with_subcommands = true)]
    Rules {
        /// What to do with the rules; without it they are listed.
        #[command(subcommand)]
        action: Option<Rules>,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write all of them into a folder
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
    /// What to ask; `-` reads it from standard input
    pub prompt: String,
}

/// How questions are to be answered.
#[derive(Clone, Debug, Default, Args)]
pub struct Request {
    /// The server to use, by its name
    #[arg(short, long, value_name = "NAME")]
    pub connection: Option<String>,
    /// The model: its name, or CONNECTION/MODEL
    #[arg(short, long)]
    pub model: Option<String>,
    /// The agent
    #[arg(short, long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Go on with this chat
    #[arg(short, long, value_name = "FID")]
    pub session: Option<String>,
    /// Attach a text file or a picture; may be given several times
    #[arg(short, long = "file", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Work in this folder: the model gets tools for its files and for commands
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub project: Option<PathBuf>,
    /// What tools may do there without asking
    #[arg(long, value_parser = mode_parser())]
    pub mode: Option<Mode>,
    /// Allow this without asking, in this chat: `run:cargo *`, `write:src/**`, `read:/etc/hosts`,
    /// `network:*.example.org`; may be given several times
    #[arg(long, value_name = "RULE", value_parser = parse_rule)]
    pub allow: Vec<Rule>,
    /// How much the model is to think
    #[arg(long, value_name = "LEVEL", value_parser = thinking_parser())]
    pub thinking: Option<Thinking>,
    /// Sampling temperature, from 0 to 2
    #[arg(long, value_name = "NUMBER", value_parser = parse_temperature)]
    pub temperature: Option<f64>,
    /// Context window, in tokens
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(256..))]
    pub context_window: Option<u32>,
    /// Print one JSON object a line for each event
    #[arg(long)]
    pub json: bool,
}

/// Which chats to list.
#[derive(Debug, Args)]
pub struct Sessions {
    /// Only those whose title or messages hold this
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub search: Option<String>,
    /// At most so many
    #[arg(short = 'n', long, value_name = "NUMBER")]
    pub limit: Option<usize>,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// Which chat to print, and how.
#[derive(Debug, Args)]
pub struct Show {
    /// The chat, as `sessions` names it
    pub fid: String,
    /// Print it as one JSON object
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Print it as Markdown, with thinking and files
    #[arg(long)]
    pub markdown: bool,
}

/// Which chat to write, and where to.
#[derive(Debug, Args)]
pub struct Export {
    /// The chat, as `sessions` names it
    pub fid: String,
    /// Write Markdown instead of JSON
    #[arg(long)]
    pub markdown: bool,
    /// The file; without it standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write over a file that is there
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// What to do with connections.
#[derive(Debug, Subcommand)]
pub enum Connections {
    /// List them
    List {
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Add a server
    Add {
        /// Its name, for you; without a slash
        name: String,
        /// Its address
        #[arg(long, help = "Its address: http://127.0.0.1:11434, https://openrouter.ai/api/v1")]
        url: String,
        /// What it speaks; found out where it is left away
        #[arg(long, value_parser = kind_parser())]
        kind: Option<ConnectionKind>,
        /// Read its key from standard input, for the keyring
        #[arg(long, conflicts_with = "key_env")]
        key_stdin: bool,
        /// Take its key from this environment variable, each time
        #[arg(long, value_name = "VARIABLE")]
        key_env: Option<String>,
        /// A model that it has and does not list; may be given several times
        #[arg(long = "model", value_name = "MODEL")]
        models: Vec<String>,
    },
    /// Give a server another key: typed without being shown, or one line of standard input
    Key {
        /// Its name
        name: String,
        /// Take the key from this environment variable, each time
        #[arg(long, value_name = "VARIABLE", conflicts_with = "remove")]
        env: Option<String>,
        /// Forget its key
        #[arg(long)]
        remove: bool,
    },
    /// Ask a server for its models
    Test {
        /// Its name
        name: String,
    },
    /// Forget a server and its key
    Remove {
        /// Its name
        name: String,
    },
}

/// What to do with rules.
#[derive(Debug, Subcommand)]
pub enum Rules {
    /// List them
    List {
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Forget a rule: what it allowed is asked for again, what it denied is possible again
    Remove {
        /// The rule, as `rules` lists it
        #[arg(value_parser = parse_boxed_rule)]
        rule: Box<Rule>,
        /// Only where it holds for this folder
        #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        project: Option<PathBuf>,
    },
    /// Print them as TOML, as they stand in the settings
    Export,
}

/// What to do with models.
#[derive(Debug, Subcommand)]
pub enum Models {
    /// List those that can be talked to, on all servers
    List(ListModels),
    /// Tell what is known of a model: one that is installed, one of the catalogue, a repository
    /// at Hugging Face, or a GGUF file
    Info {
        /// Its name, OWNER/REPOSITORY, or a file
        model: String,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Search Hugging Face for models
    Search {
        /// What to look for
        words: String,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Download a model, or go on with a download that was stopped
    Pull {
        /// Its name in the catalogue, or OWNER/REPOSITORY at Hugging Face
        model: String,
        /// Which file of the repository: its name, or a pattern such as `*Q8_0.gguf`
        #[arg(short, long, value_name = "PATTERN")]
        file: Option<String>,
        /// Print one JSON object a line for each event
        #[arg(long)]
        json: bool,
    },
    /// Add a GGUF file that is on this computer; it stays where it is
    Add {
        /// The file; of a model in several files any of them
        file: PathBuf,
        /// Move it to where Natter keeps its models: removing the model deletes it then
        #[arg(long = "move")]
        take: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Take a model off the list, and delete its file where it is Natter’s own
    Remove {
        /// Its name
        model: String,
    },
}

/// Which models to list.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "options on the command line are flags")]
pub struct ListModels {
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
    /// Only those on this computer, and those on their way here
    #[arg(long, group = "which")]
    pub installed: bool,
    /// Those of the catalogue, which can be downloaded
    #[arg(long, group = "which")]
    pub offered: bool,
    /// Those that other programs have on this computer, which can be added
    #[arg(long, group = "which")]
    pub found: bool,
}

fn thinking_parser() -> impl clap::builder::TypedValueParser<Value = Thinking> {
    PossibleValuesParser::new(words::thinking_levels().map(words::thinking_name))
        .map(|name| words::thinking_from_name(&name).unwrap_or_default())
}

fn mode_parser() -> impl clap::builder::TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::name))
        .map(|name| name.parse().unwrap_or_default())
}

/// The same for what would make its command the largest.
fn parse_boxed_rule(text: &str) -> Result<Box<Rule>, String> {
    parse_rule(text).map(Box::new)
}

fn parse_rule(text: &str) -> Result<Rule, String> {
    text.parse().map_err(|bad| words::bad_rule(&bad))
}

fn kind_parser() -> impl clap::builder::TypedValueParser<Value = ConnectionKind> {
    PossibleValuesParser::new(ConnectionKind::ALL.map(ConnectionKind::name)).try_map(|name| {
        ConnectionKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or(name)
    })
}

fn parse_temperature(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=2.0).contains(&number) => Ok(number),
        _ => Err("it must be a number from 0 to 2".to_owned()),
    }
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
        assert!(parse("--mode", "plan"));
        assert!(!parse("--mode", "wild"));
    }
}
