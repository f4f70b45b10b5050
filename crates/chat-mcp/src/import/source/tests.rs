//! Tests what is taken of the files of other programs. The files here are written for these tests, in the forms that
//! the documentation of each program describes (of `OLLMchat`, its source).

use std::fs;
use std::path::Path;

use super::*;
use crate::config::{ServerConfig, StdioServer, Transport};
use crate::import::{RequestedGrants, RequestedInput, SecretPlace};

/// The folders of a user who has this file of a program.
fn user(source: ImportSource, file: &str) -> (tempfile::TempDir, ImportFolders) {
    let home = tempfile::tempdir().unwrap();
    let folders =
        ImportFolders { home: home.path().to_owned(), config: home.path().join(".config") };
    let path = source.path(&folders);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, file).unwrap();
    (home, folders)
}

fn read(source: ImportSource, file: &str) -> ForeignServers {
    let (_home, folders) = user(source, file);
    assert_eq!(ImportSource::present(&folders), [source]);
    source.read(&folders)
}

fn program(config: &ServerConfig) -> &StdioServer {
    match &config.transport {
        Transport::Stdio(server) => server,
        Transport::Http(server) => panic!("{server:?}"),
    }
}

fn names(found: &ForeignServers) -> Vec<Option<&str>> {
    found.servers.iter().map(|server| server.name.as_deref()).collect()
}

fn problems(found: &ForeignServers) -> Vec<(&str, &ProblemKind)> {
    found.problems.iter().map(|it| (it.server.as_deref().unwrap_or_default(), &it.kind)).collect()
}

#[test]
fn nothing_is_there_and_nothing_is_found() {
    let home = tempfile::tempdir().unwrap();
    let folders =
        ImportFolders { home: home.path().to_owned(), config: home.path().join("config") };
    assert_eq!(ImportSource::present(&folders), []);
    for source in ImportSource::ALL {
        assert_eq!(source.read(&folders), ForeignServers::default());
        assert!(source.path(&folders).starts_with(home.path()));
    }
    assert!(ImportSource::VsCode.path(&folders).starts_with(&folders.config));
}

#[test]
fn claude_desktop_replaces_no_variables() {
    let found = read(
        ImportSource::ClaudeDesktop,
        r#"{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "Team Notes": {
      "command": "bash",
      "args": ["-c", "exec notes --dir ${HOME}"],
      "env": { "NOTES_TOKEN": "abcdefgh", "LANG": "de" }
    }
  }
}"#,
    );
    assert_eq!((names(&found), problems(&found)), (vec![Some("Team-Notes")], Vec::new()));
    let server = &found.servers[0];
    assert_eq!(program(&server.config).args[1].as_plain(), Some("exec notes --dir ${HOME}"));
    let [secret] = &*server.secrets else { panic!("{:?}", server.secrets) };
    assert_eq!(secret.place, SecretPlace::Variable("NOTES_TOKEN".to_owned()));
    assert_eq!(secret.name, "Team-Notes/NOTES_TOKEN");
    assert!(server.config.options.sandbox && !server.config.options.network);
}

#[test]
fn what_vs_code_asks_for_becomes_a_secret_and_what_only_it_knows_is_left() {
    let found = read(
        ImportSource::VsCode,
        r#"{
  // asked at the first start
  "inputs": [
    { "type": "promptString", "id": "search key", "description": "Key of the search", "password": true },
    { "type": "promptString", "id": "unused", "description": "Nobody needs it" },
    { "type": "pickString", "id": "region", "description": "Region", "options": ["eu", "us"], "default": "eu" },
    { "type": "command", "id": "picked", "command": "extension.pick" },
  ],
  "servers": {
    "search": {
      "type": "http",
      "url": "https://search.example/mcp",
      "headers": { "Authorization": "Bearer ${input:search key}", "X-Region": "${input:region}" },
    },
    "files": { "command": "${userHome}/bin/files", "args": ["${env:LANG}"], "envFile": "${userHome}/.env" },
    "project": { "command": "x", "args": ["${workspaceFolder}"] },
    "picked": { "command": "x", "args": ["${input:picked}"] },
    "old": { "type": "sse", "url": "https://old.example/sse" },
    "socket": { "type": "http", "url": "unix:///tmp/x.sock" },
  },
}"#,
    );
    assert_eq!(names(&found), [Some("search"), Some("files")]);
    let untranslatable = |text: &str| ProblemKind::Untranslatable { text: text.to_owned() };
    assert_eq!(
        problems(&found),
        [
            ("files", &ProblemKind::UnsupportedKey { key: "envFile".to_owned() }),
            ("project", &untranslatable("${workspaceFolder}")),
            ("picked", &untranslatable("${input:picked}")),
            ("old", &ProblemKind::OldTransport),
            ("socket", &ProblemKind::InvalidUrl),
        ]
    );
    let input =
        |secret: &str, description: &str, default: Option<&str>, is_password| RequestedInput {
            secret: secret.to_owned(),
            description: Some(description.to_owned()),
            default: default.map(str::to_owned),
            is_password,
        };
    let expected = [
        input("region", "Region", Some("eu"), false),
        input("search-key", "Key of the search", None, true),
    ];
    assert_eq!(found.inputs, expected);
    let Transport::Http(search) = &found.servers[0].config.transport else { panic!() };
    assert_eq!(search.headers["Authorization"].source(), "Bearer ${keyring:search-key}");
    assert_eq!((found.servers[0].secrets.len(), found.servers[0].references.len()), (0, 0));
    let command = program(&found.servers[1].config).command.as_plain().unwrap();
    assert!(Path::new(command).is_absolute() && command.ends_with("/bin/files"), "{command}");
}

#[test]
fn cursor_has_the_form_of_claude_and_the_variables_of_vs_code() {
    let found = read(
        ImportSource::Cursor,
        r#"{"mcpServers": {
  "api": { "url": "https://api.example/mcp", "headers": { "X-Api-Key": "${env:API_KEY}" } },
  "signed": { "url": "https://signed.example/mcp", "auth": { "CLIENT_ID": "x" } },
  "a/b": { "command": "x" }, "a b": { "command": "y" }, "//": { "command": "z" }
}}"#,
    );
    assert_eq!(names(&found), [Some("api"), Some("signed"), Some("a-b"), Some("a-b-2"), None]);
    assert_eq!(
        problems(&found),
        [("signed", &ProblemKind::UnsupportedKey { key: "auth".to_owned() })]
    );
    assert_eq!(
        found.servers[0].config.templates().flat_map(crate::config::Template::references).count(),
        1
    );
}

#[test]
fn ollmchat_keeps_a_list() {
    let found = read(
        ImportSource::OllmChat,
        r#"[
  { "id": "browser", "enabled": true, "transport": "stdio", "command": "npx", "args": ["-y", "browser"],
    "env": { "DEBUG": "1" }, "url": "", "network": true },
  { "id": "notes", "enabled": false, "transport": "http", "command": "", "args": [], "env": {},
    "url": "http://127.0.0.1:3000", "network": false },
  { "command": "nameless" },
  { "id": "broken", "command": "x", "enabled": "yes" },
  7
]"#,
    );
    assert_eq!(names(&found), [Some("browser"), Some("notes"), None]);
    let [browser, notes, _] = &*found.servers else { panic!() };
    assert!(browser.grants.network && !browser.config.options.network && !browser.config.disabled);
    assert_eq!(notes.grants, RequestedGrants::default());
    assert_eq!(program(&browser.config).args.len(), 2);
    assert!(matches!(notes.config.transport, Transport::Http(_)) && notes.config.disabled);
    let found = problems(&found);
    assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["broken", ""]);
    assert!(matches!(found[0].1, ProblemKind::WrongType { key: "enabled", .. }), "{found:?}");
    assert_eq!(found[1].1, &ProblemKind::NotAnObject { key: None });
}

#[test]
fn broken_files_are_named() {
    for source in ImportSource::ALL {
        let found = read(source, "{\n[");
        assert_eq!(problems(&found), [("", &ProblemKind::Syntax)], "{source:?}");
        let other = if source == ImportSource::OllmChat { "{}" } else { "[]" };
        assert_eq!(problems(&read(source, other)), [("", &ProblemKind::NotAFileOfServers)]);
        assert_eq!(read(source, ""), ForeignServers::default());
        let (_home, folders) = user(source, "");
        fs::write(source.path(&folders), " ".repeat(LARGEST_FILE + 1)).unwrap();
        let kind = ProblemKind::TooLarge { limit: LARGEST_FILE };
        assert_eq!(problems(&source.read(&folders)), [("", &kind)]);
    }
}
