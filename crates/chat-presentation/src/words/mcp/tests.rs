//! Tests that everything that can be wrong with servers has a sentence of its own.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use chat_core::definitions::{Origin, ValueType};
use chat_mcp::config::{McpConfig, PathBase};

use super::*;

/// One of each kind, and of each shape that has words of its own.
fn all_problems() -> Vec<ProblemKind> {
    let owned = str::to_owned;
    let key = "args";
    vec![
        ProblemKind::Unreadable,
        ProblemKind::LeadsOut,
        ProblemKind::TooLarge { limit: 1024 * 1024 },
        ProblemKind::NotUtf8,
        ProblemKind::Syntax,
        ProblemKind::NotAFileOfServers,
        ProblemKind::FormOfVsCode,
        ProblemKind::TooManyServers { limit: 200 },
        ProblemKind::InvalidName,
        ProblemKind::DuplicateName,
        ProblemKind::NotAnObject { key: None },
        ProblemKind::NotAnObject { key: Some("natter") },
        ProblemKind::NoTransport,
        ProblemKind::TwoTransports,
        ProblemKind::UnknownType { word: owned("ws") },
        ProblemKind::OldTransport,
        ProblemKind::Missing { key },
        ProblemKind::DuplicateKey { key: owned("env") },
        ProblemKind::ForeignKey { key: owned("alwaysAllow") },
        ProblemKind::UnsupportedKey { key: owned("envFile") },
        ProblemKind::UnknownKey { key: owned("sanbox"), meant: Some("sandbox") },
        ProblemKind::UnknownKey { key: owned("zzz"), meant: None },
        ProblemKind::WrongType { key, expected: ValueType::List },
        ProblemKind::Empty { key },
        ProblemKind::TooLong { key, limit: 500 },
        ProblemKind::OutOfRange { key: "timeLimit", lowest: 1, highest: 86_400 },
        ProblemKind::ForbiddenCharacters { key },
        ProblemKind::InvalidVariable { name: owned("A=B") },
        ProblemKind::InvalidHeader { name: owned("A B") },
        ProblemKind::ReservedHeader { name: owned("Host") },
        ProblemKind::InvalidUrl,
        ProblemKind::CredentialsInUrl,
        ProblemKind::UnknownReference { text: owned("${input:key}") },
        ProblemKind::MisplacedReference { key: "cwd" },
        ProblemKind::InvalidFolder { path: owned("../x") },
        ProblemKind::Untranslatable { text: owned("${workspaceFolder}") },
    ]
}

/// Whether every place in a sentence was filled, but for those that show how references are written.
fn is_filled(sentence: &str) -> bool {
    let references = ["${env:NAME}", "${keyring:NAME}", "${input:key}", "${workspaceFolder}"];
    let rest = references.iter().fold(sentence.to_owned(), |rest, it| rest.replace(it, ""));
    !rest.contains('{')
}

#[test]
fn every_problem_has_a_sentence_of_its_own() {
    let all = all_problems();
    let sentences: BTreeSet<_> = all.iter().map(mcp_problem_sentence).collect();
    assert_eq!(sentences.len(), all.len());
    for sentence in sentences {
        assert!(sentence.ends_with('.') || sentence.ends_with('?'), "{sentence}");
        assert!(is_filled(&sentence), "{sentence}");
    }
}

#[test]
fn what_is_wrong_with_a_form_has_sentences_of_its_own() {
    use chat_mcp::draft::DraftProblem::{Invalid, Missing, NameTaken, OpenQuote, Unnamed};
    assert_eq!(mcp_draft_problem(&Missing), None, "it is only not filled in yet");
    let taken = NameTaken { name: "notes".to_owned() };
    let all = [OpenQuote, Unnamed, taken, Invalid(ProblemKind::InvalidUrl)];
    let sentences: BTreeSet<_> = all.iter().filter_map(mcp_draft_problem).collect();
    assert_eq!(sentences.len(), all.len());
    assert!(sentences.iter().all(|it| it.ends_with('.') && is_filled(it)), "{sentences:?}");
}

#[test]
fn a_problem_says_where_it_is() {
    let problem = |server: Option<&str>, line| {
        mcp_problem(&Problem {
            server: server.map(str::to_owned),
            line,
            kind: ProblemKind::Missing { key: "url" },
        })
    };
    assert_eq!(
        problem(Some("a\u{202e}"), Some(3)),
        "Server “a⟨U+202E⟩”, line 3: “url” is missing."
    );
    assert_eq!(problem(Some("a"), None), "Server “a”: “url” is missing.");
    assert_eq!(problem(None, Some(3)), "Line 3: “url” is missing.");
    assert_eq!(problem(None, None), "“url” is missing.");
}

#[test]
fn what_a_file_says_shows_its_hidden_characters() {
    let sentence =
        mcp_problem_sentence(&ProblemKind::ForeignKey { key: "a\u{202e}\nb".to_owned() });
    assert_eq!(sentence, "“a⟨U+202E⟩⏎b” is unknown and ignored.");
}

#[test]
fn what_cannot_be_saved_or_started_says_what_to_do() {
    let name = || "notes".to_owned();
    let written = [
        WriteError::Changed,
        WriteError::Broken,
        WriteError::NameTaken { name: name() },
        WriteError::NoServer { name: name() },
        WriteError::StillSignedIn { name: name() },
        WriteError::InvalidName { name: name() },
        WriteError::TooLarge,
        WriteError::Io(io::ErrorKind::StorageFull.into()),
    ];
    let started = [
        ExpandError::NoVariable { name: name() },
        ExpandError::NoSecret { name: name() },
        ExpandError::NoKeyring { name: name() },
        ExpandError::InvalidUrl,
        ExpandError::ForbiddenCharacters { field: name() },
    ];
    let sentences: BTreeSet<_> =
        written.iter().map(mcp_write_error).chain(started.iter().map(mcp_expand_error)).collect();
    assert_eq!(sentences.len(), written.len() + started.len());
    assert!(sentences.iter().all(|sentence| sentence.ends_with('.') && is_filled(sentence)));
}

fn start_lines(server: &str) -> Vec<String> {
    let file = format!("{{\"mcpServers\": {{\"notes\": {server}}}}}");
    let config = McpConfig::parse(file.as_bytes(), Origin::Project);
    let base =
        PathBase { home: "/home/ada".into(), project: Some(Path::new("/projects/app").into()) };
    mcp_start_lines(&config.servers[0].start_summary(&base))
}

#[test]
fn the_question_whether_to_trust_says_everything_but_values() {
    let program = r#"{"command": "npx", "args": ["-y", "a b\u202e", ""], "env": {"B": "sk-1", "A": "${HOME}"},
        "natter": {"network": true, "folders": ["~/notes", "data"], "readFolders": ["/srv"]}}"#;
    assert_eq!(
        start_lines(program),
        [
            "Runs npx -y “a b⟨U+202E⟩” “”",
            "Starts in /projects/app",
            "Runs in the sandbox, with network access",
            "Can change files in /home/ada/notes, /projects/app/data",
            "Can read files in /projects/app, /srv",
            "Sets variables: A, B",
            "Gets variables of your environment: HOME",
        ]
    );
    let inside = start_lines(r#"{"command": "x"}"#);
    assert_eq!(inside[2], "Runs in the sandbox, without network access");
    assert_eq!(inside[3..], ["Can read files in /projects/app"]);
    let outside =
        start_lines(r#"{"command": "x", "natter": {"sandbox": false, "folders": ["a"]}}"#);
    assert_eq!(outside[2..], ["Runs outside the sandbox, and can do whatever you can do"]);
    let address =
        r#"{"url": "https://example.org", "headers": {"A": "${keyring:k}", "B": "sk-2"}}"#;
    assert_eq!(
        start_lines(address),
        [
            "Connects to https://example.org",
            "Sends headers: A, B",
            "Gets secrets from your keyring: k"
        ]
    );
}

#[test]
fn what_is_added_says_what_it_gets_and_sends() {
    let summary = |server: &str| {
        let file = format!("{{\"mcpServers\": {{\"notes\": {server}}}}}");
        let config = McpConfig::parse(file.as_bytes(), Origin::User);
        let base = PathBase { home: "/home/ada".into(), project: None };
        config.servers[0].start_summary(&base)
    };
    let known = BTreeSet::from(["github/token\u{202e}".to_owned()]);
    let address = summary(
        r#"{"url": "https://x.example", "headers": {"A": "${keyring:input}", "B": "${HOME}"}}"#,
    );
    assert_eq!(
        mcp_adding_lines(&address, &known),
        [
            "Sends headers: A, B",
            "Gets variables of your environment: HOME",
            "Gets secrets from your keyring: github/token⟨U+202E⟩"
        ]
    );
    let program = summary(r#"{"command": "x", "cwd": "~/x", "env": {"C": "d"}}"#);
    let lines = mcp_adding_lines(&program, &BTreeSet::new());
    assert_eq!(lines, ["Starts in /home/ada/x", "Sets variables: C"]);
}

#[test]
fn a_server_that_is_not_added_says_why() {
    let taken = WriteError::NameTaken { name: "notes".to_owned() };
    assert_eq!(
        mcp_add_error(&AddError::from(taken)),
        mcp_write_error(&WriteError::NameTaken { name: "notes".to_owned() })
    );
    let keyring = chat_core::error::Error::new(chat_core::error::Kind::KeyUnavailable);
    assert_eq!(mcp_add_error(&AddError::from(keyring.clone())), sentence(&keyring));
}
