//! Words how servers are, and why they do not run.

use std::path::Path;

use chat_mcp::client::Fault;
use chat_mcp::config::{ServerConfig, Transport};
use chat_mcp::connection::{StartFault, State};
use chat_mcp::transport::CutOff;
use gettextrs::{gettext, ngettext};

use super::super::{bytes, fill, grouped, one_line, visible_line};
use super::{mcp_expand_error, mcp_http_fault, of_name, quoted};

/// How many bytes of a description a token is, in English and JSON.
const BYTES_PER_TOKEN: u64 = 4;

/// How a server is, with the number of its tools if that is known.
pub fn mcp_state(state: &State, tools: Option<usize>) -> String {
    match state {
        State::Stopped => gettext("Not started"),
        State::Starting => gettext("Starting…"),
        State::Running => match tools {
            Some(tools) => {
                fill(&gettext("Running · {tools}"), &[("tools", &mcp_tool_count(tools))])
            }
            None => gettext("Running"),
        },
        State::Failed { why, is_retried: false } => mcp_start_fault(why),
        State::Failed { why, is_retried: true } => fill(
            &gettext("{problem} Natter will try again."),
            &[("problem", &mcp_start_fault(why))],
        ),
    }
}

/// A number of tools.
pub fn mcp_tool_count(tools: usize) -> String {
    let count = u32::try_from(tools).unwrap_or(u32::MAX);
    fill(&ngettext("{n} tool", "{n} tools", count), &[("n", &grouped(u64::from(count)))])
}

/// How much of the context the tools of a server take.
pub fn mcp_context_share(bytes: u64) -> String {
    let tokens = bytes.div_ceil(BYTES_PER_TOKEN);
    // More digits would claim to know more.
    let rounded = if tokens < 1000 { tokens.div_ceil(10) * 10 } else { tokens.div_ceil(100) * 100 };
    fill(&gettext("about {n} tokens of the context"), &[("n", &grouped(rounded))])
}

/// What a server is: the program with its arguments, or the address. Nothing is cut.
pub fn mcp_command_line(config: &ServerConfig) -> String {
    match &config.transport {
        Transport::Stdio(server) => {
            let words = std::iter::once(&server.command).chain(&server.args);
            words.map(|word| quoted(word.source())).collect::<Vec<_>>().join(" ")
        }
        Transport::Http(server) => visible_line(server.url.source()),
    }
}

/// Why a server does not run, and what to do.
pub fn mcp_start_fault(fault: &StartFault) -> String {
    match fault {
        StartFault::Expand(error) => mcp_expand_error(error),
        StartFault::NoSandbox => gettext(
            "There’s no sandbox on this computer. Install bubblewrap, or let the server run outside the sandbox.",
        ),
        StartFault::NoProgram(program) => of_name(
            &gettext("The program “{name}” wasn’t found. Install it, or check the command."),
            program,
        ),
        StartFault::HiddenProgram(path) => of_path(
            &gettext("The sandbox hides “{path}”. Let the server read the folder it’s in."),
            path,
        ),
        StartFault::Folder(path) => {
            of_path(&gettext("The folder “{path}” can’t be used. Check that it exists."), path)
        }
        StartFault::LeadsOut(path) => of_path(
            &gettext("A link at “{path}” leads out of the project, so the server isn’t started."),
            path,
        ),
        StartFault::TooWide(path) => of_path(
            &gettext("“{path}” would show the server too much. Choose a folder inside it."),
            path,
        ),
        StartFault::NotStarted(words) => fill(
            &gettext("The program couldn’t be started: {words}"),
            &[("words", &one_line(words))],
        ),
        StartFault::Ended => gettext("The program ended by itself. Its log may say why."),
        StartFault::NoNetwork => gettext(
            "The program didn’t start. It may need network access to download the server. Its log may say more.",
        ),
        StartFault::Client(fault) => client(fault),
    }
}

/// That a server wants the user to sign in.
pub fn mcp_sign_in_wanted() -> String {
    gettext("The server wants you to sign in.")
}

fn client(fault: &Fault) -> String {
    match fault {
        Fault::TimedOut => {
            gettext("The server didn’t answer in time. Check its log, and start it again.")
        }
        Fault::Closed(None) => gettext("The connection to the server was lost. Start it again."),
        Fault::Closed(Some(CutOff::TooLong(limit))) => fill(
            &gettext("The server sent a message larger than {size}, so it was disconnected."),
            &[("size", &bytes(*limit as u64))],
        ),
        Fault::Closed(Some(CutOff::Flood)) => {
            gettext("The server sent too many messages, so it was disconnected.")
        }
        Fault::Closed(Some(CutOff::NoMessages)) => gettext(
            "The program doesn’t seem to be an MCP server. Check the command and its arguments.",
        ),
        Fault::Closed(Some(CutOff::NotReading)) => {
            gettext("The server stopped reading messages, so it was disconnected.")
        }
        Fault::Refused { message, .. } => fill(
            &gettext("The server refused the connection: {words}"),
            &[("words", &one_line(message))],
        ),
        Fault::Unauthorized(_) => mcp_sign_in_wanted(),
        Fault::Invalid => {
            gettext("The server’s answer can’t be understood. Check that it’s an MCP server.")
        }
        Fault::Http(fault) => mcp_http_fault(fault),
        Fault::Stopped => gettext("The server was stopped."),
    }
}

fn of_path(sentence: &str, path: &Path) -> String {
    fill(sentence, &[("path", &one_line(&path.to_string_lossy()))])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use chat_core::definitions::Origin;
    use chat_mcp::config::{ExpandError, McpConfig};

    use super::*;

    fn all_faults() -> Vec<StartFault> {
        let path = || "/srv/a\u{202e}".into();
        let refused = Fault::Refused { code: -1, message: "No.".to_owned() };
        let clients = [
            Fault::TimedOut,
            Fault::Closed(None),
            Fault::Closed(Some(CutOff::TooLong(16 << 20))),
            Fault::Closed(Some(CutOff::Flood)),
            Fault::Closed(Some(CutOff::NoMessages)),
            Fault::Closed(Some(CutOff::NotReading)),
            refused,
            Fault::Unauthorized("Bearer".to_owned()),
            Fault::Invalid,
            Fault::Stopped,
        ];
        let mut all = vec![
            StartFault::Expand(ExpandError::InvalidUrl),
            StartFault::NoSandbox,
            StartFault::NoProgram("npx".to_owned()),
            StartFault::HiddenProgram(path()),
            StartFault::Folder(path()),
            StartFault::LeadsOut(path()),
            StartFault::TooWide(path()),
            StartFault::NotStarted("Out of memory.".to_owned()),
            StartFault::Ended,
            StartFault::NoNetwork,
        ];
        all.extend(clients.map(StartFault::Client));
        all
    }

    #[test]
    fn every_fault_has_a_sentence_of_its_own() {
        let all = all_faults();
        let sentences: BTreeSet<_> = all.iter().map(mcp_start_fault).collect();
        assert_eq!(sentences.len(), all.len());
        for sentence in sentences {
            assert!(sentence.ends_with('.') && !sentence.contains(['{', '\u{202e}']), "{sentence}");
        }
    }

    #[test]
    fn a_state_says_how_many_tools_there_are_and_whether_natter_tries_again() {
        assert_eq!(mcp_state(&State::Running, Some(1)), "Running · 1 tool");
        assert_eq!(mcp_state(&State::Running, Some(1200)), "Running · 1,200 tools");
        let failed = State::Failed { why: StartFault::Ended, is_retried: true };
        assert!(mcp_state(&failed, Some(3)).ends_with("Natter will try again."));
    }

    #[test]
    fn what_tools_take_of_the_context_is_rounded() {
        assert_eq!(mcp_context_share(4642), "about 1,200 tokens of the context");
        assert_eq!(mcp_context_share(41), "about 20 tokens of the context");
    }

    #[test]
    fn what_a_server_is_shows_its_hidden_characters() {
        let file = "{\"mcpServers\": {\"a\": {\"command\": \"npx\", \"args\": [\"a b\\u202e\"]}}}";
        let config = McpConfig::parse(file.as_bytes(), Origin::User);
        assert_eq!(mcp_command_line(&config.servers[0].config), "npx “a b⟨U+202E⟩”");
    }
}
