//! Tests that files are read as they are meant, and that what is wrong is named and hides nothing else.

use std::time::Duration;

use chat_definitions::ValueType;
use proptest::prelude::*;

use super::*;
use crate::config::{Template, Transport};

fn user(json: &str) -> McpConfig {
    McpConfig::parse(json.as_bytes(), Origin::User)
}

/// The file of one server.
fn file(server: &str) -> String {
    format!("{{\n\"mcpServers\": {{\n\"a\":\n{server}\n}}\n}}")
}

/// What is wrong with a server.
fn problems(server: &str) -> Vec<ProblemKind> {
    let config = user(&file(server));
    let is_error = config.problems.iter().any(|problem| problem.severity() == Severity::Error);
    assert_eq!(config.servers.is_empty(), is_error, "{server}: {:?}", config.problems);
    config.problems.into_iter().map(|problem| problem.kind).collect()
}

fn source(template: &Template) -> &str {
    template.source()
}

#[test]
fn a_file_as_people_write_it_is_read_in_its_order() {
    let config = user(
        r#"{
  // mine
  "theme": "dark",
  "mcpServers": {
    "notes": {
      "command": "npx",
      "args": ["-y", "notes", 7, true,],
      "env": { "TOKEN": "${keyring:notes/TOKEN}", "PORT": 3000 },
      "cwd": "~/notes",
      /* ours */
      "natter": { "sandbox": false, "network": true, "folders": ["~/notes"], "readFolders": ["/srv"],
                  "disabledTools": ["delete note"], "timeLimit": 90 },
    },
    "api": { "type": "streamable-http", "url": "https://example.org/mcp", "headers": {"X-Key": "${KEY:-none}"},
             "disabled": true },
  },
}"#,
    );
    assert_eq!(config.problems, []);
    let names: Vec<_> = config.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["notes", "api"]);
    let notes = &config.server("notes").unwrap().config;
    let Transport::Stdio(program) = &notes.transport else { panic!("{notes:?}") };
    assert_eq!(program.command.source(), "npx");
    assert_eq!(program.args.iter().map(source).collect::<Vec<_>>(), ["-y", "notes", "7", "true"]);
    assert_eq!(program.env["PORT"].source(), "3000");
    assert_eq!(program.env["TOKEN"].references().count(), 1);
    assert_eq!(program.cwd.as_deref(), Some("~/notes"));
    assert!(!notes.disabled);
    let options = &notes.options;
    assert_eq!((options.sandbox, options.network), (false, true));
    assert_eq!(
        (&*options.folders, &*options.read_folders),
        (&["~/notes".to_owned()][..], &["/srv".to_owned()][..])
    );
    assert_eq!(options.disabled_tools, ["delete note"]);
    assert_eq!(options.time_limit, Some(Duration::from_secs(90)));
    let api = &config.server("api").unwrap().config;
    let Transport::Http(address) = &api.transport else { panic!("{api:?}") };
    assert_eq!(
        (address.url.source(), address.headers["X-Key"].source()),
        ("https://example.org/mcp", "${KEY:-none}")
    );
    assert!(api.disabled && api.options.sandbox && !api.options.network);
}

#[test]
fn one_bad_server_hides_no_other() {
    let config = user(
        "{\"mcpServers\": {\n\"a\": 1,\n\"b\": {\"command\": \"x\"},\n\"c d\": {\"command\": \"x\"},\n\
         \"b\": {\"command\": \"y\"},\n\"e\": {\"url\": \"ftp://x\"},\n\"f\": {\"url\": \"http://localhost:1/\"}}}",
    );
    let names: Vec<_> = config.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["b", "f"]);
    let problem = |server: &str, line, kind| Problem {
        server: Some(server.to_owned()),
        line: Some(line),
        kind,
    };
    assert_eq!(
        config.problems,
        [
            problem("a", 2, ProblemKind::NotAnObject { key: None }),
            problem("c d", 4, ProblemKind::InvalidName),
            problem("b", 5, ProblemKind::DuplicateName),
            problem("e", 6, ProblemKind::InvalidUrl),
        ]
    );
    let Transport::Stdio(program) = &config.servers[0].config.transport else { panic!() };
    assert_eq!(program.command.source(), "x", "the first one counts");
}

#[test]
fn files_that_are_none_are_named_with_the_line() {
    let one = |json: &[u8]| {
        let mut config = McpConfig::parse(json, Origin::User);
        assert_eq!((config.servers.len(), config.problems.len()), (0, 1), "{json:?}");
        let problem = config.problems.remove(0);
        (problem.line, problem.kind)
    };
    assert_eq!(one(b"{\n\"mcpServers\": {\n}"), (Some(1), ProblemKind::Syntax));
    assert_eq!(one(b"{\n\"mcpServers\": x}"), (Some(2), ProblemKind::Syntax));
    assert_eq!(one(b"[]"), (Some(1), ProblemKind::NotAFileOfServers));
    assert_eq!(one(b"{\n\"mcpServers\": []}"), (Some(2), ProblemKind::NotAFileOfServers));
    assert_eq!(
        one(b"{\"servers\": {\"a\": {\"command\": \"x\"}}}"),
        (Some(1), ProblemKind::FormOfVsCode)
    );
    assert_eq!(one(b"\xff"), (None, ProblemKind::NotUtf8));
    let large = vec![b' '; LARGEST_FILE + 1];
    assert_eq!(one(&large), (None, ProblemKind::TooLarge { limit: LARGEST_FILE }));
    for empty in ["", "  // nothing", "{}", "{\"mcpServers\": {}}", "\u{feff}{}"] {
        assert_eq!(user(empty), McpConfig::default(), "{empty}");
    }
}

#[test]
fn the_transport_follows_from_the_type_or_from_what_is_there() {
    let http = |server: &str| match &user(&file(server)).servers[0].config.transport {
        Transport::Http(_) => true,
        Transport::Stdio(_) => false,
    };
    for (word, is_http) in [
        ("http", true),
        ("streamable-http", true),
        ("streamableHttp", true),
        ("stdio", false),
        ("STDIO", false),
    ] {
        let server =
            format!(r#"{{"type": "{word}", "command": "x", "url": "https://example.org"}}"#);
        assert_eq!(http(&server), is_http, "{word}");
    }
    for (server, kind) in [
        ("{}", ProblemKind::NoTransport),
        (r#"{"command": "x", "url": "https://example.org"}"#, ProblemKind::TwoTransports),
        (r#"{"type": "sse", "url": "https://example.org"}"#, ProblemKind::OldTransport),
        (
            r#"{"type": "ws", "url": "https://example.org"}"#,
            ProblemKind::UnknownType { word: "ws".to_owned() },
        ),
        (r#"{"type": "http", "command": "x"}"#, ProblemKind::Missing { key: "url" }),
        (
            r#"{"type": "stdio", "url": "https://example.org"}"#,
            ProblemKind::Missing { key: "command" },
        ),
    ] {
        assert_eq!(problems(server), [kind], "{server}");
    }
}

#[test]
fn values_that_cannot_be_are_named() {
    let owned = str::to_owned;
    let wrong = |key, expected| ProblemKind::WrongType { key, expected };
    for (server, kind) in [
        (r#"{"command": ["x"]}"#, wrong("command", ValueType::Text)),
        (r#"{"command": "x", "args": "-y"}"#, wrong("args", ValueType::List)),
        (r#"{"command": "x", "args": [null]}"#, wrong("args", ValueType::Text)),
        (r#"{"command": "x", "env": ["A=b"]}"#, wrong("env", ValueType::Map)),
        (r#"{"command": "x", "env": {"A": null}}"#, wrong("env", ValueType::Text)),
        (r#"{"command": "x", "disabled": "yes"}"#, wrong("disabled", ValueType::Flag)),
        (r#"{"command": "x", "natter": []}"#, ProblemKind::NotAnObject { key: Some("natter") }),
        (r#"{"command": "x", "natter": {"sandbox": 0}}"#, wrong("sandbox", ValueType::Flag)),
        (
            r#"{"command": "x", "natter": {"timeLimit": "9"}}"#,
            wrong("timeLimit", ValueType::Number),
        ),
        (r#"{"command": " "}"#, ProblemKind::Empty { key: "command" }),
        (r#"{"url": ""}"#, ProblemKind::Empty { key: "url" }),
        (
            r#"{"command": "x", "natter": {"disabledTools": [""]}}"#,
            ProblemKind::Empty { key: "disabledTools" },
        ),
        (r#"{"command": "x\u0000"}"#, ProblemKind::ForbiddenCharacters { key: "command" }),
        (
            r#"{"command": "x", "cwd": "/a\u202eb"}"#,
            ProblemKind::ForbiddenCharacters { key: "cwd" },
        ),
        (
            r#"{"command": "x", "env": {"A=B": ""}}"#,
            ProblemKind::InvalidVariable { name: owned("A=B") },
        ),
        (
            r#"{"url": "http://x", "headers": {"A B": ""}}"#,
            ProblemKind::InvalidHeader { name: owned("A B") },
        ),
        (
            r#"{"url": "http://x", "headers": {"Host": ""}}"#,
            ProblemKind::ReservedHeader { name: owned("Host") },
        ),
        (
            r#"{"url": "http://x", "headers": {"A": "", "a": ""}}"#,
            ProblemKind::DuplicateKey { key: owned("a") },
        ),
        (
            r#"{"command": "x", "command": "y"}"#,
            ProblemKind::DuplicateKey { key: owned("command") },
        ),
        (
            r#"{"command": "x", "natter": {"sandbox": true, "sandbox": false}}"#,
            ProblemKind::DuplicateKey { key: owned("sandbox") },
        ),
        (r#"{"url": "unix:///run/x"}"#, ProblemKind::InvalidUrl),
        (r#"{"url": "https://ada:pw@example.org"}"#, ProblemKind::CredentialsInUrl),
        (
            r#"{"url": "https://example.org", "headers": {"A": "${input:x}"}}"#,
            ProblemKind::UnknownReference { text: owned("${input:x}") },
        ),
        (r#"{"command": "x", "cwd": "/${A}"}"#, ProblemKind::MisplacedReference { key: "cwd" }),
        (
            r#"{"command": "x", "cwd": "tools"}"#,
            ProblemKind::InvalidFolder { path: owned("tools") },
        ),
        (
            r#"{"command": "x", "natter": {"folders": ["/a/../b"]}}"#,
            ProblemKind::InvalidFolder { path: owned("/a/../b") },
        ),
        (
            r#"{"command": "x", "natter": {"timeLimit": 0}}"#,
            ProblemKind::OutOfRange { key: "timeLimit", lowest: 1, highest: 86_400 },
        ),
        (
            r#"{"command": "x", "natter": {"timeLimit": 1.5}}"#,
            ProblemKind::OutOfRange { key: "timeLimit", lowest: 1, highest: 86_400 },
        ),
    ] {
        assert_eq!(problems(server), [kind], "{server}");
    }
    let long = format!(r#"{{"command": "{}"}}"#, "x".repeat(33 * 1024));
    assert_eq!(problems(&long), [ProblemKind::TooLong { key: "command", limit: 32 * 1024 }]);
    let many = format!(r#"{{"command": "x", "args": [{}]}}"#, "1,".repeat(501));
    assert_eq!(problems(&many), [ProblemKind::TooLong { key: "args", limit: 500 }]);
}

#[test]
fn keys_that_mean_nothing_here_are_told_and_harm_nothing() {
    let server = r#"{"command": "x", "alwaysAllow": [], "envFile": ".env", "natter": {"sanbox": true, "zzz": 1}}"#;
    assert_eq!(
        problems(server),
        [
            ProblemKind::ForeignKey { key: "alwaysAllow".to_owned() },
            ProblemKind::UnsupportedKey { key: "envFile".to_owned() },
            ProblemKind::UnknownKey { key: "sanbox".to_owned(), meant: Some("sandbox") },
            ProblemKind::UnknownKey { key: "zzz".to_owned(), meant: None },
        ]
    );
}

#[test]
fn no_more_servers_and_problems_are_taken_than_anybody_has() {
    let server = |n: usize| format!("\"s{n}\": {{\"command\": \"x\"}}");
    let servers = (0..=MOST_SERVERS).map(server).collect::<Vec<_>>().join(",\n");
    let config = user(&format!("{{\"mcpServers\": {{{servers}}}}}"));
    assert_eq!(config.servers.len(), MOST_SERVERS);
    let kind = ProblemKind::TooManyServers { limit: MOST_SERVERS };
    assert_eq!(config.problems, [Problem { server: None, line: Some(MOST_SERVERS + 1), kind }]);
    let keys = (0..100).map(|n| format!("\"k{n}\": 1")).collect::<Vec<_>>().join(",");
    assert_eq!(problems(&format!("{{{keys}, \"command\": \"x\"}}")).len(), MOST_PROBLEMS);
    // An error behind all that is told still counts.
    let config = user(
        &file(&format!("{{{keys}, \"command\": 1}}")).replace("\"command\": 1", "\"command\": []"),
    );
    assert_eq!((config.servers.len(), config.problems.len()), (0, MOST_PROBLEMS));
}

#[test]
fn debug_shows_no_value() {
    let config = user(&file(r#"{"url": "https://example.org/sk-1", "headers": {"X": "sk-2"}}"#));
    assert_eq!(config.servers.len(), 1);
    assert!(!format!("{config:?}").contains("sk-"), "{config:?}");
    let config = user(&file(r#"{"command": "x", "env": {"A": ["sk-3"], "B": "sk-4"}}"#));
    assert!(!format!("{config:?}").contains("sk-"), "{config:?}");
}

/// Any JSON, in the keys and words that mean something here.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|flag| flag.to_string()),
        any::<i32>().prop_map(|number| number.to_string()),
        "(http://x|stdio|\\$\\{env:A\\}|~/a|[a-z${}:]{0,6})".prop_map(|text| format!("\"{text}\"")),
    ];
    let key = "(type|command|args|env|cwd|url|headers|disabled|natter|sandbox|folders|timeLimit|mcpServers|[a-z]{1,2})";
    leaf.prop_recursive(4, 40, 6, move |inner| {
        let entry = (key, inner.clone()).prop_map(|(key, value)| format!("\"{key}\": {value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|list| format!("[{}]", list.join(", "))),
            prop::collection::vec(entry, 0..6)
                .prop_map(|entries| format!("{{{}}}", entries.join(",\n"))),
        ]
    })
}

proptest! {
    #[test]
    fn a_server_is_used_or_has_an_error(server in json()) {
        let config = user(&file(&server));
        let errors = config.problems.iter().filter(|problem| problem.severity() == Severity::Error).count();
        prop_assert_eq!(config.servers.is_empty(), errors > 0, "{:?}", config.problems);
    }

    #[test]
    fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = McpConfig::parse(&bytes, Origin::Project);
    }

    #[test]
    fn a_good_server_beside_any_other_is_used(server in json()) {
        let text = format!("{{\"mcpServers\": {{\"a\": {server}, \"good\": {{\"command\": \"x\"}}}}}}");
        prop_assert!(user(&text).server("good").is_some());
    }
}
