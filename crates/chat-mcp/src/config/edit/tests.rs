//! Tests that changes say what they should, and leave the rest of the file alone.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::config::{HttpServer, Server, StdioServer};

const FILE: &str = r#"{
  // which window
  "theme": "dark",
  "mcpServers": {
    // notes of the team
    "notes": {
      "command": "npx", // not npm
      "args": ["-y", "notes"],
      "env": {
        "TOKEN": "${keyring:notes}", // from the keyring
        "PORT": 3000
      },
      "alwaysAllow": ["read"],
      "natter": { "network": true }
    },
    "api": { "type": "streamable-http", "url": "https://example.org/mcp" }
  }
}
"#;

fn template(source: &str) -> Template {
    Template::parse(source).unwrap()
}

fn read(text: &str) -> McpConfig {
    McpConfig::parse(text.as_bytes(), Origin::User)
}

fn server(text: &str, name: &str) -> Server {
    read(text).server(name).unwrap_or_else(|| panic!("{name} in {text}")).clone()
}

fn program(command: &str) -> ServerConfig {
    ServerConfig::new(Transport::Stdio(StdioServer {
        command: template(command),
        args: Vec::new(),
        env: BTreeMap::new(),
        cwd: None,
    }))
}

fn address(url: &str) -> ServerConfig {
    ServerConfig::new(Transport::Http(HttpServer { url: template(url), headers: BTreeMap::new() }))
}

fn named(name: &str, config: ServerConfig) -> Server {
    Server { name: name.to_owned(), config }
}

/// The file after a server was changed.
fn replaced(text: &str, name: &str, change: impl FnOnce(&mut Server)) -> String {
    let mut new = server(text, name);
    change(&mut new);
    let after =
        changed(text, &Change::Replace { name: name.to_owned(), server: new.clone() }).unwrap();
    assert_eq!(server(&after, &new.name), new, "{after}");
    after
}

fn stdio(server: &mut Server) -> &mut StdioServer {
    match &mut server.config.transport {
        Transport::Stdio(server) => server,
        Transport::Http(_) => panic!("a program"),
    }
}

#[test]
fn only_what_changes_is_written() {
    assert_eq!(replaced(FILE, "notes", |_| {}), FILE);
    let after = replaced(FILE, "notes", |it| stdio(it).command = template("npm"));
    assert_eq!(after, FILE.replace("\"npx\"", "\"npm\""));
    let after = replaced(FILE, "notes", |it| {
        stdio(it).env.insert("PORT".to_owned(), template("3001"));
    });
    assert_eq!(after, FILE.replace("3000", "\"3001\""));
    let after = replaced(FILE, "notes", |it| it.config.options.network = false);
    assert!(after.contains("// from the keyring") && !after.contains("network"), "{after}");
    let after = replaced(FILE, "api", |it| it.config.disabled = true);
    assert!(
        after.contains("\"streamable-http\"") && after.contains("\"disabled\": true"),
        "{after}"
    );
}

#[test]
fn a_server_keeps_its_place_under_another_name() {
    let after = replaced(FILE, "notes", |it| it.name = "notes-2".to_owned());
    assert_eq!(after, FILE.replace("\"notes\": {", "\"notes-2\": {"));
}

#[test]
fn options_are_written_where_they_differ_from_the_default() {
    let after = replaced(FILE, "api", |it| {
        let options = &mut it.config.options;
        options.disabled_tools = vec!["a \"b\"".to_owned()];
        options.time_limit = Some(Duration::from_secs(5));
    });
    assert!(after.contains("\"timeLimit\": 5") && !after.contains("sandbox"), "{after}");
    let after = replaced(&after, "api", |it| {
        it.config.options = ServerOptions { sandbox: false, ..ServerOptions::default() };
        it.config.options.folders = vec!["~/a".to_owned()];
        it.config.options.read_folders = vec!["/b".to_owned()];
    });
    assert!(after.contains("\"sandbox\": false") && !after.contains("timeLimit"), "{after}");
}

#[test]
fn a_server_can_become_one_of_the_other_kind() {
    let after = replaced(FILE, "notes", |it| {
        it.config.transport = address("https://example.org").transport;
    });
    assert!(after.contains("alwaysAllow") && !after.contains("npx"), "{after}");
    let after = replaced(FILE, "api", |it| it.config.transport = program("x").transport);
    assert!(after.contains("\"type\": \"stdio\"") && !after.contains("url"), "{after}");
}

#[test]
fn servers_come_and_go() {
    let add = |text: &str, name: &str, config: ServerConfig| {
        let new = named(name, config);
        let after = changed(text, &Change::Add(new.clone())).unwrap();
        assert_eq!(server(&after, name), new, "{after}");
        after
    };
    let after = add(FILE, "new", address("https://example.org/${A}"));
    assert!(after.contains("\"type\": \"http\""), "other programs need it: {after}");
    assert_eq!(read(&after).servers.len(), 3);
    let remove = |name: &str| Change::Remove { name: name.to_owned() };
    let after = changed(&after, &remove("notes")).unwrap();
    assert!(after.contains("// which window") && !after.contains("npx"), "{after}");
    assert_eq!(read(&after).servers.len(), 2);
    for empty in
        ["", "{}", "// mine\n", "{ \"mcpServers\": {} }", "{\r\n  \"a\": 1\r\n}\r\n", "\u{feff}{}"]
    {
        let after = add(empty, "new", program("x"));
        assert_eq!(after.starts_with(MARK), empty.starts_with(MARK));
        assert!(after.contains("mine") == empty.contains("mine"), "{after}");
        assert_eq!(after.contains('\r'), empty.contains('\r'), "{after:?}");
    }
}

#[test]
fn switching_works_for_servers_with_errors_too() {
    let text = r#"{"mcpServers": {"a": {"command": [], "x": 1}, "b": {"command": "x", "disabled": true}}}"#;
    let set = |text: &str, name: &str, disabled| {
        changed(text, &Change::SetDisabled { name: name.to_owned(), disabled }).unwrap()
    };
    assert!(set(text, "a", true).contains("\"x\": 1"));
    assert!(!server(&set(text, "b", false), "b").config.disabled);
    let replace = Change::Replace { name: "a".to_owned(), server: named("a", program("y")) };
    let after = changed(text, &replace).unwrap();
    assert_eq!(server(&after, "a").config, program("y"));
    assert!(after.contains("\"x\": 1"), "{after}");
}

#[test]
fn what_occurs_twice_is_written_once() {
    let text = r#"{"mcpServers": {"a": {"command": "x", "command": "y", "env": {"A": "1", "A": "2"}}, "a": {}}}"#;
    let mut config = program("z");
    config.transport = Transport::Stdio(StdioServer {
        env: BTreeMap::from([("A".to_owned(), template("1"))]),
        ..match config.transport {
            Transport::Stdio(server) => server,
            Transport::Http(_) => unreachable!(),
        }
    });
    let new = named("a", config);
    let after =
        changed(text, &Change::Replace { name: "a".to_owned(), server: new.clone() }).unwrap();
    assert_eq!(server(&after, "a"), new, "{after}");
    let after = changed(text, &Change::Remove { name: "a".to_owned() }).unwrap();
    assert_eq!(read(&after), McpConfig::default(), "{after}");
}

#[test]
fn what_cannot_be_done_changes_nothing() {
    let add = |name: &str| Change::Add(named(name, program("x")));
    let replace = |name: &str, new: &str| Change::Replace {
        name: name.to_owned(),
        server: named(new, program("x")),
    };
    let refused = |text: &str, change: &Change| changed(text, change).unwrap_err().to_string();
    let taken = WriteError::NameTaken { name: String::new() }.to_string();
    let none = WriteError::NoServer { name: String::new() }.to_string();
    let invalid = WriteError::InvalidName { name: String::new() }.to_string();
    assert_eq!(refused(FILE, &add("api")), taken);
    assert_eq!(refused(FILE, &replace("api", "notes")), taken);
    assert_eq!(refused(FILE, &replace("other", "api")), none);
    assert_eq!(refused(FILE, &Change::Remove { name: "other".to_owned() }), none);
    assert_eq!(refused(FILE, &add("a b")), invalid);
    assert_eq!(refused(FILE, &replace("api", "a\"b")), invalid);
    for broken in ["{", "[]", "1", "{\"mcpServers\": 1}"] {
        assert_eq!(refused(broken, &add("a")), WriteError::Broken.to_string(), "{broken}");
    }
    let full: Vec<_> = (0..MOST_SERVERS).map(|n| format!("\"s{n}\": {{}}")).collect();
    let full = format!("{{\"mcpServers\": {{{}}}}}", full.join(","));
    assert_eq!(refused(&full, &add("a")), WriteError::TooLarge.to_string());
}

fn text() -> impl Strategy<Value = Template> {
    "(\\$\\{env:A\\}|[ -~äß\u{1f600}\n\t]{1,12})".prop_filter_map("no reference", |text| {
        let template = Template::parse(&text).ok()?;
        (!text.trim().is_empty()).then_some(template)
    })
}

fn map(name: &'static str) -> impl Strategy<Value = BTreeMap<String, Template>> {
    prop::collection::btree_map(name, text(), 0..4)
}

fn config() -> impl Strategy<Value = ServerConfig> {
    let list = || prop::collection::vec("[/~]/[a-z \"\\\\]{1,6}", 0..3);
    let program = (
        text(),
        prop::collection::vec(text(), 0..4),
        map("[A-Z_\"]{1,5}"),
        prop::option::of("/[a-z]{1,4}"),
    )
        .prop_map(|(command, args, env, cwd)| {
            Transport::Stdio(StdioServer { command, args, env, cwd })
        });
    let address =
        ("https://example\\.org/[a-z]{0,5}", map("X-[A-Z]{1,4}")).prop_map(|(url, headers)| {
            Transport::Http(HttpServer { url: Template::parse(&url).unwrap(), headers })
        });
    let options =
        (any::<bool>(), any::<bool>(), list(), list(), list(), prop::option::of(1_u64..86_400))
            .prop_map(|(sandbox, network, folders, read_folders, disabled_tools, limit)| {
                ServerOptions {
                    sandbox,
                    network,
                    folders,
                    read_folders,
                    disabled_tools,
                    time_limit: limit.map(Duration::from_secs),
                }
            });
    (prop_oneof![program, address], any::<bool>(), options)
        .prop_map(|(transport, disabled, options)| ServerConfig { transport, disabled, options })
}

proptest! {
    #[test]
    fn whatever_is_written_is_read_again(first in config(), second in config(), third in config()) {
        let after = changed(FILE, &Change::Add(named("new", first.clone()))).unwrap();
        prop_assert_eq!(&server(&after, "new").config, &first, "{}", after);
        let mut before = FILE.to_owned();
        for config in [second, third, first] {
            let new = named("notes", config);
            before = changed(&before, &Change::Replace { name: "notes".to_owned(), server: new.clone() }).unwrap();
            prop_assert_eq!(&server(&before, "notes"), &new, "{}", before);
            prop_assert_eq!(server(&before, "api"), server(FILE, "api"));
            prop_assert!(before.contains("// notes of the team") && before.contains("\"alwaysAllow\": [\"read\"]"));
        }
    }
}
