//! Words what is wrong with servers of tools, and why they cannot be saved or started.

mod draft;
mod reaching;
mod start;

use std::collections::BTreeSet;
use std::path::PathBuf;

use chat_mcp::config::{
    ExpandError, Problem, ProblemKind, Reference, StartAction, StartSummary, WriteError,
};
use chat_mcp::servers::AddError;
use gettextrs::{gettext, ngettext};

use super::definitions::{of_key, wrong_type};
use super::{bytes, fill, one_line, sentence, visible_line};

pub use self::draft::mcp_draft_problem;
pub use self::reaching::{mcp_http_fault, mcp_oauth_fault};
pub use start::{
    mcp_command_line, mcp_context_share, mcp_sign_in_wanted, mcp_start_fault, mcp_state,
    mcp_tool_count,
};

/// What is wrong in a file of servers, with the server and the line.
pub fn mcp_problem(problem: &Problem) -> String {
    let sentence = mcp_problem_sentence(&problem.kind);
    let line = problem.line.map(|line| line.to_string());
    let server = problem.server.as_deref().map(one_line);
    let (text, server, line) = match (server, line) {
        (Some(server), Some(line)) => {
            (gettext("Server “{server}”, line {line}: {problem}"), server, line)
        }
        (Some(server), None) => (gettext("Server “{server}”: {problem}"), server, String::new()),
        (None, Some(line)) => (gettext("Line {line}: {problem}"), String::new(), line),
        (None, None) => return sentence,
    };
    fill(&text, &[("server", &server), ("line", &line), ("problem", &sentence)])
}

/// What is wrong, without where.
pub fn mcp_problem_sentence(problem: &ProblemKind) -> String {
    match problem {
        ProblemKind::Unreadable => gettext("The file can’t be read."),
        ProblemKind::LeadsOut => {
            gettext("The link isn’t followed because it leads out of the project or nowhere.")
        }
        ProblemKind::TooLarge { limit } => {
            fill(&gettext("The file is larger than {size}."), &[("size", &bytes(*limit as u64))])
        }
        ProblemKind::NotUtf8 => gettext("The file isn’t UTF-8 text."),
        ProblemKind::Syntax => gettext("This isn’t valid JSON."),
        ProblemKind::NotAFileOfServers => {
            gettext("No servers found. They must be in an object under “mcpServers”.")
        }
        ProblemKind::FormOfVsCode => gettext(
            "The servers are under “servers”, as in VS Code. Rename the key to “mcpServers”.",
        ),
        ProblemKind::TooManyServers { limit } => fill(
            &gettext("There are too many servers. Only the first {n} are used."),
            &[("n", &limit.to_string())],
        ),
        ProblemKind::InvalidName => gettext(
            "The name can’t be used. Use up to 64 letters, digits, hyphens, underscores, periods, and @.",
        ),
        ProblemKind::DuplicateName => {
            gettext("Another server has this name. Only the first one is used.")
        }
        ProblemKind::NotAnObject { key: None } => {
            gettext("The server must be an object, written in braces.")
        }
        ProblemKind::NotAnObject { key: Some(key) } => {
            of_key(&gettext("“{key}” must be an object, written in braces."), key)
        }
        ProblemKind::NoTransport => {
            gettext("Set “command” to start a program, or “url” to connect to an address.")
        }
        ProblemKind::TwoTransports => {
            gettext("“command” and “url” are both set. Remove one, or set “type”.")
        }
        ProblemKind::UnknownType { word } => fill(
            &gettext("“{word}” isn’t a valid value of “{key}”."),
            &[("word", &one_line(word)), ("key", "type")],
        ),
        ProblemKind::OldTransport => gettext(
            "The old transport “sse” isn’t supported. Use the server’s address for “http” instead.",
        ),
        ProblemKind::Missing { key } => of_key(&gettext("“{key}” is missing."), key),
        ProblemKind::DuplicateKey { key } => {
            of_key(&gettext("“{key}” is set twice."), &one_line(key))
        }
        ProblemKind::ForeignKey { key } | ProblemKind::UnknownKey { key, meant: None } => {
            of_key(&gettext("“{key}” is unknown and ignored."), &one_line(key))
        }
        ProblemKind::UnsupportedKey { key } => {
            of_key(&gettext("“{key}” isn’t supported and has no effect."), &one_line(key))
        }
        ProblemKind::UnknownKey { key, meant: Some(meant) } => fill(
            &gettext("“{key}” is unknown. Did you mean “{other}”?"),
            &[("key", &one_line(key)), ("other", meant)],
        ),
        ProblemKind::WrongType { key, expected } => of_key(&wrong_type(*expected), key),
        ProblemKind::Empty { key } => of_key(&gettext("“{key}” is empty."), key),
        ProblemKind::TooLong { key, limit } => fill(
            &gettext("“{key}” is too long. The limit is {n}."),
            &[("key", key), ("n", &limit.to_string())],
        ),
        ProblemKind::OutOfRange { key, lowest, highest } => fill(
            &gettext("“{key}” must be between {lowest} and {highest}."),
            &[("key", key), ("lowest", &lowest.to_string()), ("highest", &highest.to_string())],
        ),
        ProblemKind::ForbiddenCharacters { key } => {
            of_key(&gettext("“{key}” must not contain invisible characters."), key)
        }
        ProblemKind::InvalidVariable { name } => {
            of_name(&gettext("“{name}” isn’t a valid name of a variable."), name)
        }
        ProblemKind::InvalidHeader { name } => {
            of_name(&gettext("“{name}” isn’t a valid name of a header."), name)
        }
        ProblemKind::ReservedHeader { name } => {
            of_name(&gettext("Natter sets the header “{name}” itself. Remove it."), name)
        }
        ProblemKind::InvalidUrl => {
            gettext("The address isn’t valid. It must begin with http:// or https://.")
        }
        ProblemKind::CredentialsInUrl => {
            gettext("The address contains a user name or a password. Use a header instead.")
        }
        ProblemKind::UnknownReference { text } => fill(
            &gettext("“{text}” isn’t a valid reference. Use ${env:NAME} or ${keyring:NAME}."),
            &[("text", &one_line(text))],
        ),
        ProblemKind::MisplacedReference { key } => {
            of_key(&gettext("“{key}” must not contain references such as ${env:NAME}."), key)
        }
        ProblemKind::InvalidFolder { path } => fill(
            &gettext("“{path}” can’t be used. Begin the path with / or ~/, and don’t use “..”."),
            &[("path", &one_line(path))],
        ),
        ProblemKind::Untranslatable { text } => fill(
            &gettext("Only the program it comes from knows what “{text}” means. Replace it there."),
            &[("text", &one_line(text))],
        ),
    }
}

/// Why the file of servers was not changed, and what to do.
pub fn mcp_write_error(error: &WriteError) -> String {
    match error {
        WriteError::Changed => gettext(
            "The file was changed by another program, so nothing was saved. Check it and try again.",
        ),
        WriteError::Broken => {
            gettext("The file of servers can’t be read, so nothing was saved. Fix it first.")
        }
        WriteError::NameTaken { name } => {
            of_name(&gettext("A server named “{name}” already exists. Choose another name."), name)
        }
        WriteError::NoServer { name } => {
            of_name(&gettext("The server “{name}” no longer exists."), name)
        }
        WriteError::StillSignedIn { name } => of_name(
            &gettext(
                "Your sign-in to “{name}” can’t be removed from the keyring, so nothing was saved. Unlock the keyring and try again.",
            ),
            name,
        ),
        WriteError::InvalidName { .. } => mcp_problem_sentence(&ProblemKind::InvalidName),
        WriteError::TooLarge => {
            gettext("There are too many servers. Remove some that you don’t need.")
        }
        WriteError::Io(_) => gettext(
            "The file of servers can’t be saved. Check its permissions and the free disk space.",
        ),
    }
}

/// Why a server was not added, and what to do.
pub fn mcp_add_error(error: &AddError) -> String {
    match error {
        AddError::Write(error) => mcp_write_error(error),
        AddError::Keyring(error) => sentence(error),
    }
}

/// That which servers of projects are trusted could not be saved, and what to do.
pub fn mcp_trust_not_saved() -> String {
    gettext("This can’t be saved, so nothing was changed. Check the free disk space.")
}

/// Says that a project brings so many servers that nobody trusts yet.
pub fn mcp_project_notice(count: usize) -> String {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let text = ngettext(
        "This project brings {n} server of tools.",
        "This project brings {n} servers of tools.",
        count,
    );
    fill(&text, &[("n", &count.to_string())])
}

/// Why a server cannot start with what its references stand for, and what to do.
pub fn mcp_expand_error(error: &ExpandError) -> String {
    match error {
        ExpandError::NoVariable { name } => of_name(
            &gettext("The environment variable {name} isn’t set. Set it and restart Natter."),
            name,
        ),
        ExpandError::NoSecret { name } => of_name(
            &gettext(
                "The keyring has no secret named “{name}”. Add it and start the server again.",
            ),
            name,
        ),
        ExpandError::NoKeyring { name } => of_name(
            &gettext("The secret “{name}” can’t be read. Unlock the keyring and try again."),
            name,
        ),
        ExpandError::InvalidUrl => gettext(
            "The address isn’t valid after its references are replaced. Check their values.",
        ),
        ExpandError::ForbiddenCharacters { field } => fill(
            &gettext("The value of “{field}” contains a line break or another control character."),
            &[("field", &one_line(field))],
        ),
    }
}

/// What a server would start, a line each, for the question whether to trust it. Nothing is cut.
pub fn mcp_start_lines(summary: &StartSummary) -> Vec<String> {
    let mut lines = match &summary.action {
        StartAction::Program {
            program,
            args,
            variables,
            folder,
            sandbox,
            network,
            folders,
            read_folders,
        } => {
            let words = std::iter::once(program).chain(args).map(|word| quoted(word));
            let bounds = match (sandbox, network) {
                (true, true) => gettext("Runs in the sandbox, with network access"),
                (true, false) => gettext("Runs in the sandbox, without network access"),
                (false, _) => gettext("Runs outside the sandbox, and can do whatever you can do"),
            };
            // Outside of the sandbox there is nothing to grant.
            let granted =
                |folders: &[PathBuf]| if *sandbox { paths(folders) } else { String::new() };
            vec![
                about(&gettext("Runs {what}"), &words.collect::<Vec<_>>().join(" ")),
                about(&gettext("Starts in {what}"), &paths(folder.as_slice())),
                Some(bounds),
                about(&gettext("Can change files in {what}"), &granted(folders)),
                about(&gettext("Can read files in {what}"), &granted(read_folders)),
                about(&gettext("Sets variables: {what}"), &names(variables)),
            ]
        }
        StartAction::Address { url, headers } => vec![
            about(&gettext("Connects to {what}"), &visible_line(url)),
            about(&gettext("Sends headers: {what}"), &names(headers)),
        ],
    };
    let secret = |reference: &Reference| match reference {
        Reference::Variable { .. } => None,
        Reference::Secret { name } => Some(name.clone()),
    };
    lines.push(environment(summary));
    lines.push(secrets(summary.references.iter().filter_map(secret)));
    lines.into_iter().flatten().collect()
}

/// What a server that can be added would get and send, a line each: what neither its command line says nor the user
/// chooses. `known` are the secrets that it would get of those that are in the keyring. Nothing is cut.
pub fn mcp_adding_lines(summary: &StartSummary, known: &BTreeSet<String>) -> Vec<String> {
    let own = match &summary.action {
        StartAction::Program { folder, variables, .. } => [
            about(&gettext("Starts in {what}"), &paths(folder.as_slice())),
            about(&gettext("Sets variables: {what}"), &names(variables)),
        ],
        StartAction::Address { headers, .. } => {
            [about(&gettext("Sends headers: {what}"), &names(headers)), None]
        }
    };
    let got = [environment(summary), secrets(known.iter().cloned())];
    own.into_iter().chain(got).flatten().collect()
}

/// The variables of the user's environment that a server gets, if there are any.
fn environment(summary: &StartSummary) -> Option<String> {
    let variable = |reference: &Reference| match reference {
        Reference::Variable { name, .. } => Some(name.clone()),
        Reference::Secret { .. } => None,
    };
    let mut variables: Vec<_> = summary.references.iter().filter_map(variable).collect();
    // The same variable may have several texts to take if it is not set.
    variables.dedup();
    about(&gettext("Gets variables of your environment: {what}"), &names(&variables))
}

/// The secrets that a server gets, if there are any.
fn secrets(secrets: impl Iterator<Item = String>) -> Option<String> {
    about(&gettext("Gets secrets from your keyring: {what}"), &names(&secrets.collect::<Vec<_>>()))
}

/// A line about something, if there is any.
fn about(text: &str, what: &str) -> Option<String> {
    (!what.is_empty()).then(|| fill(text, &[("what", what)]))
}

fn paths(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths.iter().map(|path| visible_line(&path.to_string_lossy())).collect();
    paths.join(", ")
}

fn names(names: &[String]) -> String {
    names.iter().map(|name| visible_line(name)).collect::<Vec<_>>().join(", ")
}

/// A word of a command, in quotes where its end would not be seen.
fn quoted(word: &str) -> String {
    let seen = visible_line(word);
    if word.is_empty() || word.contains(char::is_whitespace) {
        format!("“{seen}”")
    } else {
        seen
    }
}

fn of_name(sentence: &str, name: &str) -> String {
    fill(sentence, &[("name", &one_line(name))])
}

#[cfg(test)]
mod tests;
