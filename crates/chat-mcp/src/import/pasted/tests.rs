//! Tests that pasted texts of every form are understood.

use proptest::prelude::*;

use super::*;
use crate::config::{ServerOptions, Transport};
use crate::import::RequestedGrants;

fn read(text: &str) -> ForeignServers {
    read_pasted(text, Path::new("/home/ada"))
}

/// The names of the servers in a text, empty where there is none.
fn names(text: &str) -> Vec<String> {
    let found = read(text);
    assert_eq!(found.problems, [], "{text}");
    found.servers.into_iter().map(|server| server.name.unwrap_or_default()).collect()
}

#[test]
fn every_form_is_understood() {
    for text in [
        r#"{"mcpServers": {"a": {"command": "x"}}}"#,
        r#""mcpServers": {"a": {"command": "x"}}"#,
        r#"{"servers": {"a": {"type": "stdio", "command": "x"}}, "inputs": []}"#,
        r#"{"mcp": {"servers": {"a": {"command": "x"}}}}"#,
        r#"{"a": {"command": "x"}}"#,
        r#""a": {"command": "x"}"#,
        "  \"a\": {\n\"url\": \"https://example.org/mcp\"\n},\n",
        "// from the manual\n/* of x */ \"a\": {\"command\": \"x\"} // end",
        "```json\n{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}\n```\n",
        "\u{feff}{\"mcpServers\": {\"a\": {\"command\": \"x\"},}}",
    ] {
        assert_eq!(names(text), ["a"], "{text}");
    }
    let two = "\"a\": {\"command\": \"x\"},\n\"b\": {\"command\": \"y\"},";
    assert_eq!(names(two), ["a", "b"]);
}

#[test]
fn a_server_alone_has_no_name() {
    for text in [
        r#"{"command": "npx", "args": ["-y", "x"]}"#,
        r#"{"url": "https://example.org", "type": "http"}"#,
    ] {
        assert_eq!(names(text), [""]);
    }
    let found = read(r#"{"command": "x", "env": {"API_KEY": "abcdefgh"}}"#);
    assert_eq!(found.servers[0].secrets[0].name, "API_KEY");
    let found = read("{\"command\": \"x\",\n\"args\": 1}");
    assert_eq!((found.servers.len(), found.problems[0].line), (0, Some(2)));
}

#[test]
fn inputs_and_references_are_kept_in_all_dialects() {
    let found = read(
        r#"{"inputs": [{"type": "promptString", "id": "key", "description": "The key", "password": true}],
            "servers": {"a": {"url": "https://example.org/${NAME:-x}",
                              "headers": {"A": "${input:key}", "B": "${keyring:other}", "C": "${input:unknown}"}}}}"#,
    );
    assert_eq!(found.problems, []);
    let inputs: Vec<_> =
        found.inputs.iter().map(|it| (it.secret.as_str(), it.description.as_deref())).collect();
    assert_eq!(inputs, [("key", Some("The key")), ("unknown", None)]);
    let Transport::Http(server) = &found.servers[0].config.transport else { panic!() };
    assert_eq!(server.headers["B"].source(), "${keyring:other}");
    assert_eq!(found.servers[0].references.iter().collect::<Vec<_>>(), ["other"]);
    assert_eq!(server.url.source(), "https://example.org/${NAME:-x}");
}

#[test]
fn what_a_text_wants_to_be_allowed_is_only_a_wish() {
    let found = read(
        r#"{"x": {"command": "x", "natter": {"sandbox": false, "network": true, "folders": ["~/a"],
                                             "readFolders": ["/b"], "disabledTools": ["c"]}}}"#,
    );
    let server = &found.servers[0];
    let expected =
        ServerOptions { disabled_tools: vec!["c".to_owned()], ..ServerOptions::default() };
    assert_eq!(server.config.options, expected);
    let grants = RequestedGrants {
        no_sandbox: true,
        network: true,
        folders: vec!["~/a".to_owned()],
        read_folders: vec!["/b".to_owned()],
    };
    assert_eq!(server.grants, grants);
}

#[test]
fn what_is_no_server_is_said_with_the_line() {
    for (text, line, kind) in [
        ("{\"a\":\n{]", Some(2), ProblemKind::Syntax),
        ("\"a\":\n{]", Some(2), ProblemKind::Syntax),
        ("npx -y notes", Some(1), ProblemKind::Syntax),
        ("https://example.org/mcp", Some(1), ProblemKind::Syntax),
        ("[1]", Some(1), ProblemKind::NotAFileOfServers),
        ("\"a\"", Some(2), ProblemKind::Syntax),
        ("{\"name\": \"x\"}", None, ProblemKind::NotAFileOfServers),
    ] {
        let found = read(text);
        assert_eq!(found.servers, [], "{text}");
        assert_eq!((found.problems[0].line, &found.problems[0].kind), (line, &kind), "{text}");
    }
    for nothing in ["", " \n", "// no", "{}", "```\n```"] {
        assert_eq!(read(nothing), ForeignServers::default(), "{nothing}");
    }
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in "([\\[\\]{}\":,/*`\n a]|command|url|mcpServers|\\$\\{input:x\\}){0,40}") {
        let found = read(&text);
        prop_assert!(found.servers.len() < 40);
    }
}
