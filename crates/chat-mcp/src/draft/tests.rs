use std::collections::BTreeMap;

use chat_definitions::Origin;

use super::*;
use crate::config::{Change, ConfigFile, HttpServer, McpConfig, StdioServer};

const FILE: &str = r#"{
  // mine
  "mcpServers": {
    "notes": {
      "command": "npx",
      "args": ["-y", "notes-server", "my notes", 8080],
      "env": { "NOTES_TOKEN": "${keyring:notes/NOTES_TOKEN}", "HOME_DIR": "${env:HOME}/x" },
      "icon": "book", // another program's
      "natter": { "network": true, "disabledTools": ["delete"], "timeLimit": 90, "color": 1 }
    },
    "issues": {
      "url": "https://issues.example/mcp",
      "headers": { "Authorization": "Bearer ${keyring:issues/Authorization}" }
    }
  }
}
"#;

fn known() -> McpConfig {
    McpConfig::parse(FILE.as_bytes(), Origin::User)
}

fn program(command: &str) -> ServerDraft {
    ServerDraft { name: "a".to_owned(), command: command.to_owned(), ..ServerDraft::default() }
}

fn address(url: &str) -> ServerDraft {
    let kind = DraftKind::Address;
    ServerDraft { name: "a".to_owned(), kind, url: url.to_owned(), ..ServerDraft::default() }
}

fn pair(name: &str, text: &str) -> DraftPair {
    DraftPair { name: name.to_owned(), text: text.to_owned(), ..DraftPair::default() }
}

fn secret(name: &str, text: &str) -> DraftPair {
    DraftPair { is_secret: true, is_decided: true, ..pair(name, text) }
}

fn problems(draft: &ServerDraft) -> Vec<(DraftField, DraftProblem)> {
    draft.problems(&known(), None)
}

fn finished(draft: &ServerDraft, old: Option<&str>) -> FinishedServer {
    let known = known();
    draft.finish(&known, old.and_then(|name| known.server(name))).unwrap()
}

/// The file after the server has become what a draft makes of it.
fn saved(name: &str, draft: &ServerDraft) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = ConfigFile::new(folder.path().join("mcp.json"));
    std::fs::write(file.path(), FILE).unwrap();
    let (_, version) = file.read();
    let server = finished(draft, Some(name)).server;
    file.change(version, &Change::Replace { name: name.to_owned(), server }).unwrap();
    std::fs::read_to_string(file.path()).unwrap()
}

#[test]
fn a_program_is_made_of_what_was_typed() {
    let draft = ServerDraft {
        working_folder: " ~/notes ".to_owned(),
        variables: vec![pair("LEVEL", "debug"), pair("", "")],
        network: true,
        folders: vec!["~/notes".to_owned(), " ".to_owned()],
        ..program(" npx -y 'my server' ${env:HOME} ")
    };
    let FinishedServer { server, secrets } = finished(&draft, None);
    let Transport::Stdio(program) = &server.config.transport else { panic!("{server:?}") };
    assert_eq!(program.command.source(), "npx");
    let args: Vec<_> = program.args.iter().map(Template::source).collect();
    assert_eq!(args, ["-y", "my server", "${env:HOME}"]);
    assert_eq!(program.cwd.as_deref(), Some("~/notes"));
    assert_eq!(program.env, BTreeMap::from([("LEVEL".to_owned(), Template::plain("debug"))]));
    let options = &server.config.options;
    assert!(options.sandbox && options.network);
    assert_eq!(options.folders, ["~/notes"]);
    assert!(secrets.is_empty());
}

#[test]
fn outside_the_sandbox_there_is_nothing_to_grant() {
    let folders = vec!["no path".to_owned()];
    let draft = ServerDraft { sandbox: false, network: true, folders, ..program("x") };
    let options = finished(&draft, None).server.config.options;
    assert_eq!(options, ServerOptions { sandbox: false, ..ServerOptions::default() });
}

#[test]
fn secrets_go_into_the_keyring_under_names_that_are_free() {
    let draft = ServerDraft {
        name: "notes2".to_owned(),
        variables: vec![
            secret("ANY", "hunter2"),
            // Nobody said anything of it.
            pair("API_KEY", "sk-0123456789"),
            DraftPair { is_decided: true, ..pair("PUBLIC_TOKEN", "for-all") },
            secret("LATER", "${env:LATER}"),
            secret("É", "one"),
            secret("È", "two"),
        ],
        ..program("x")
    };
    let FinishedServer { server, secrets } = finished(&draft, None);
    let shown: Vec<_> = secrets.iter().map(|(name, text)| (&**name, text.expose())).collect();
    assert_eq!(
        shown,
        [
            ("notes2/ANY", "hunter2"),
            ("notes2/API_KEY", "sk-0123456789"),
            ("notes2/-", "one"),
            ("notes2/--2", "two"),
        ]
    );
    let Transport::Stdio(program) = &server.config.transport else { panic!("{server:?}") };
    assert_eq!(program.env["ANY"].source(), "${keyring:notes2/ANY}");
    assert_eq!(program.env["PUBLIC_TOKEN"].source(), "for-all");
    assert_eq!(program.env["LATER"].source(), "${env:LATER}");
    assert!(!format!("{draft:?} {server:?}").contains("hunter2"));
}

#[test]
fn an_edit_that_changes_nothing_leaves_the_file_as_it_is() {
    for name in ["notes", "issues"] {
        let draft = ServerDraft::of(known().server(name).unwrap());
        assert_eq!(problems(&ServerDraft { name: "new".to_owned(), ..draft.clone() }), []);
        assert_eq!(saved(name, &draft), FILE);
    }
}

#[test]
fn an_edit_leaves_what_the_form_does_not_know() {
    let mut draft = ServerDraft::of(known().server("notes").unwrap());
    assert_eq!(draft.command, "npx -y notes-server 'my notes' 8080");
    "npx -y notes-server other 8080".clone_into(&mut draft.command);
    "diary".clone_into(&mut draft.name);
    draft.network = false;
    let saved = saved("notes", &draft);
    for kept in [
        "// mine",
        "\"icon\": \"book\", // another program's",
        "\"disabledTools\": [\"delete\"], \"timeLimit\": 90, \"color\": 1",
        "{ \"NOTES_TOKEN\": \"${keyring:notes/NOTES_TOKEN}\", \"HOME_DIR\": \"${env:HOME}/x\" }",
    ] {
        assert!(saved.contains(kept), "{saved}");
    }
    let config = McpConfig::parse(saved.as_bytes(), Origin::User);
    let server = config.server("diary").unwrap();
    assert_eq!(ServerDraft::of(server), draft);
    assert!(config.server("notes").is_none());
}

#[test]
fn a_secret_stays_until_another_is_typed() {
    let mut draft = ServerDraft::of(known().server("issues").unwrap());
    let header = &mut draft.headers[0];
    assert!(header.is_secret && header.text.is_empty());
    "new-token".clone_into(&mut header.text);
    let FinishedServer { server, secrets } = finished(&draft, Some("issues"));
    // The old one is still there if the file cannot be written.
    assert_eq!(secrets[0].0, "issues/Authorization-2");
    assert_eq!(secrets[0].1.expose(), "new-token");
    let Transport::Http(HttpServer { headers, .. }) = &server.config.transport else {
        panic!("{server:?}")
    };
    let value = headers["Authorization"].source();
    assert_eq!(value, "Bearer ${keyring:issues/Authorization-2}");
    "token other".clone_into(&mut draft.headers[0].text);
    let other = finished(&draft, Some("issues"));
    assert_eq!(other.secrets[0].1.expose(), "other", "whoever types a scheme means it");
}

#[test]
fn a_server_can_become_one_of_the_other_kind() {
    let mut draft = ServerDraft::of(known().server("notes").unwrap());
    draft.kind = DraftKind::Address;
    "https://notes.example/mcp".clone_into(&mut draft.url);
    let server = finished(&draft, Some("notes")).server;
    assert!(matches!(server.config.transport, Transport::Http(_)));
    assert_eq!(server.config.options.disabled_tools, ["delete"]);
    let saved = saved("notes", &draft);
    let config = McpConfig::parse(saved.as_bytes(), Origin::User);
    assert_eq!(config.server("notes"), Some(&server), "{saved}");
}

#[test]
fn what_is_wrong_is_said_of_its_part() {
    use DraftField::{
        Address, Command, Folders, Headers, Name, ReadFolders, Variables, WorkingFolder,
    };
    use DraftProblem::{Invalid, Missing, NameTaken, OpenQuote, Unnamed};
    assert_eq!(problems(&ServerDraft::default()), [(Name, Missing), (Command, Missing)]);
    let named = |name: &str| ServerDraft { name: name.to_owned(), ..program("x") };
    assert_eq!(problems(&named("a b")), [(Name, Invalid(ProblemKind::InvalidName))]);
    assert_eq!(problems(&named("notes")), [(Name, NameTaken { name: "notes".to_owned() })]);
    assert_eq!(named("notes").problems(&known(), Some("notes")), []);
    assert_eq!(problems(&program("npx 'x")), [(Command, OpenQuote)]);
    let unknown = |text: &str| Invalid(ProblemKind::UnknownReference { text: text.to_owned() });
    assert_eq!(problems(&program("npx ${x:y}")), [(Command, unknown("${x:y}"))]);
    let path = |path: &str| Invalid(ProblemKind::InvalidFolder { path: path.to_owned() });
    let folders = ServerDraft {
        working_folder: "notes".to_owned(),
        folders: vec!["/a/../b".to_owned()],
        read_folders: vec!["c".to_owned()],
        ..program("x")
    };
    assert_eq!(
        problems(&folders),
        [(WorkingFolder, path("notes")), (Folders, path("/a/../b")), (ReadFolders, path("c"))]
    );
    let variables =
        |pairs: &[DraftPair]| problems(&ServerDraft { variables: pairs.to_vec(), ..program("x") });
    assert_eq!(variables(&[pair("", "x")]), [(Variables, Unnamed)]);
    let twice = |key: &str| Invalid(ProblemKind::DuplicateKey { key: key.to_owned() });
    assert_eq!(variables(&[pair("A", "x"), pair("A ", "y")]), [(Variables, twice("A"))]);
    let variable = ProblemKind::InvalidVariable { name: "A=B".to_owned() };
    assert_eq!(variables(&[pair("A=B", "x")]), [(Variables, Invalid(variable))]);
    assert_eq!(variables(&[secret("A", "${b:c}")]), [(Variables, unknown("${b:c}"))]);

    assert_eq!(problems(&address(" ")), [(Address, Missing)]);
    let url = Invalid(ProblemKind::InvalidUrl);
    assert_eq!(problems(&address("issues.example")), [(Address, url)]);
    let with = |pairs: &[DraftPair]| {
        problems(&ServerDraft { headers: pairs.to_vec(), ..address("https://x.example") })
    };
    assert_eq!(with(&[pair("X-A", "1"), pair("x-a", "2")]), [(Headers, twice("x-a"))]);
    let reserved = ProblemKind::ReservedHeader { name: "Host".to_owned() };
    assert_eq!(with(&[pair("Host", "1")]), [(Headers, Invalid(reserved))]);
}

#[test]
fn folders_of_arguments_are_proposed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let home = root.join("home");
    for name in ["home/notes", "srv/a", "srv/b"] {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    std::fs::write(root.join("srv/file"), "").unwrap();
    let at = |name: &str| root.join(name).display().to_string();
    let line = join_command([
        &*at("srv"),
        &format!("--dir={}/", at("home/notes")),
        &at("srv/a"),
        &at("srv/a"),
        &at("srv/b"),
        &at("srv/none"),
        &at("srv/file"),
        &at("home"),
        "/",
        "notes",
    ]);
    let draft = ServerDraft { read_folders: vec![at("srv/b")], ..program(&line) };
    assert_eq!(draft.named_folders(&home), [root.join("home/notes"), root.join("srv/a")]);
    let listed = ServerDraft { folders: vec!["~/notes".to_owned()], ..draft.clone() };
    assert_eq!(listed.named_folders(&home), [root.join("srv/a")]);
    let outside = ServerDraft { sandbox: false, ..draft };
    assert!(outside.named_folders(&home).is_empty());
    // A choice about a folder in another one would not hold.
    let nested = program(&["x", &at("srv/a"), &at("srv"), &at("srv/b")].join(" "));
    assert_eq!(nested.named_folders(&home), [root.join("srv")]);
}

#[test]
fn a_draft_has_all_that_a_program_has() {
    let env = BTreeMap::from([("A".to_owned(), Template::plain("${b}"))]);
    let words = ["x", "a b"].map(Template::plain);
    let [command, arg] = words;
    let transport =
        Transport::Stdio(StdioServer { command, args: vec![arg], env, cwd: Some("/x".to_owned()) });
    let config = crate::config::ServerConfig::new(transport);
    let server = Server { name: "a".to_owned(), config };
    let again = ServerDraft::of(&server).finish(&McpConfig::default(), Some(&server)).unwrap();
    assert_eq!(again, FinishedServer { server, secrets: Vec::new() });
}
