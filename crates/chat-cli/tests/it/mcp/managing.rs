//! Tests managing servers of tools, with the scripted one.

use std::fs;

use chat_testkit::mcp::scripted;
use chat_testkit::server::{Script, Server};
use serde_json::json;

use crate::home::{Home, Run, connection};

fn add(home: &Home, options: &[&str]) -> Run {
    let command = scripted(&["good"]);
    let words = ["mcp", "add", "notes", "--no-sandbox"].into_iter().chain(options.iter().copied());
    let words = words.chain(["--"]).chain(command.iter().map(String::as_str));
    home.run(words.collect::<Vec<_>>()).ok()
}

#[test]
fn servers_are_added_tested_listed_and_removed() {
    let home = Home::with("");
    assert!(home.run(["mcp"]).ok().stderr.contains("natter-cli mcp add NAME -- COMMAND"));
    add(&home, &[]);
    let tested = home.run(["mcp", "test", "notes"]).ok();
    assert!(tested.stderr.contains("It works: 10 tools."), "{tested:?}");
    let listed = home.run(["mcp", "list", "--json"]).ok().events();
    assert_eq!((&listed[0]["name"], &listed[0]["tools"]), (&"notes".into(), &10.into()));
    let tools = home.run(["mcp", "tools", "notes", "--json"]).ok().events();
    let echo = tools.iter().find(|tool| tool["name"] == "echo").expect("a tool");
    assert_eq!(echo["model_name"], "notes__echo");
    home.run(["mcp", "remove", "notes"]).ok();
    assert!(home.run(["mcp", "--json"]).ok().stdout.is_empty());
    let gone = home.run(["mcp", "test", "notes"]);
    assert_eq!(gone.code, Some(1));
    assert!(gone.stderr.contains("There’s no server “notes”."), "{gone:?}");
}

#[test]
fn a_server_that_does_not_work_is_told_at_once() {
    let home = Home::with("");
    let command = scripted(&["dies-at-start"]);
    let words = ["mcp", "add", "notes", "--no-sandbox", "--"].into_iter();
    home.run(words.chain(command.iter().map(String::as_str)).collect::<Vec<_>>()).ok();
    // Waiting for each time that it is started again would take a minute.
    let tested = home.run(["mcp", "test", "notes"]);
    assert_eq!(tested.code, Some(1));
    assert!(
        tested.stderr.contains("The program ended by itself. Its log may say why."),
        "{tested:?}"
    );
}

#[test]
fn a_name_is_taken_once_and_a_key_is_not_written_out() {
    let home = Home::with("");
    let added = add(&home, &["--env", "NOTES_TOKEN=sk-123456789012345"]);
    // There is no keyring here.
    assert!(added.stderr.contains("refer to that in mcp.json: ${env:VARIABLE}"), "{added:?}");
    let file = fs::read_to_string(home.path("config/natter/mcp.json")).expect("a file");
    assert!(!file.contains("sk-123456789012345"), "{file}");
    assert!(file.contains("${keyring:notes/NOTES_TOKEN}"), "{file}");
    let again = home.run(["mcp", "add", "notes", "--url", "https://example.org/mcp"]);
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("A server named “notes” already exists."), "{again:?}");
    let bad = home.run(["mcp", "add", "other", "--url", "example.org"]);
    assert_eq!(bad.code, Some(2), "{bad:?}");
}

#[test]
fn servers_of_a_project_are_trusted_after_they_were_shown() {
    let model = Server::start();
    let home = Home::new(&model);
    let project = home.path("garden");
    fs::create_dir_all(&project).expect("a folder");
    let servers =
        "{\"mcpServers\": {\"plants\": {\"command\": \"plants\", \"args\": [\"--all\"]}}}";
    fs::write(project.join(".mcp.json"), servers).expect("a file");
    let folder = project.to_str().expect("a path");
    let asked = home.run(["ask", "--project", folder, "hello"]).ok();
    let unused = "This project’s servers of tools aren’t used until you trust them.";
    assert!(asked.stderr.starts_with(unused), "{asked:?}");
    let shown = home.run(["mcp", "trust", folder]);
    assert_eq!(shown.code, Some(1), "nobody can be asked: {shown:?}");
    assert!(shown.stdout.contains("plants --all"), "{shown:?}");
    home.run(["mcp", "trust", folder, "--yes"]).ok();
    let again = home.run(["mcp", "trust", folder]).ok();
    assert!(again.stdout.contains("plants (trusted)"), "{again:?}");
    let asked = home.run(["ask", "--project", folder, "hello"]).ok();
    let started = "The tools of “plants” aren’t available. The program “plants” wasn’t found.";
    assert!(asked.stderr.starts_with(started), "{asked:?}");
    home.run(["mcp", "trust", folder, "--remove"]).ok();
    assert_eq!(home.run(["mcp", "trust", folder]).code, Some(1), "it is asked again");
}

#[test]
fn tools_that_take_more_than_their_share_of_the_context_are_looked_for() {
    let server = Server::start();
    let home = Home::new(&server);
    add(&home, &[]);
    home.run(["mcp", "test", "notes"]).ok();
    let offered = |percent: u32| {
        let tools = format!("[tools]\nserver_tools_percent = {percent}\n");
        home.settings(&(connection(&server.url()) + &tools));
        home.run(["ask", "hello"]).ok();
        let chats = server.chats();
        let tools = chats.last().and_then(|chat| chat.body["tools"].as_array().cloned());
        let names = tools.into_iter().flatten().map(|it| it["function"]["name"].clone());
        names.filter_map(|name| name.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(offered(0), ["fetch_output", "find_tools"]);
    assert!(offered(100).contains(&"notes__echo".to_owned()));
    server.push(Script::new().tool_call("call", "notes__echo", json!({ "message": "hello" })));
    offered(0);
    let chats = server.chats();
    let told = chats.last().map(|chat| chat.texts_of("tool")).unwrap_or_default();
    assert!(told[0].contains("Find it with find_tools first."), "{told:?}");
}

#[test]
fn an_error_in_a_header_says_nothing_of_its_value() {
    let home = Home::with("");
    let header = "Authorization: Bearer sk-123456789012345${x:0}";
    let refused = home.run(["mcp", "add", "a", "--url", "https://example.org", "--header", header]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("“${x:0}” isn’t a valid reference."), "{refused:?}");
    assert!(!refused.stderr.contains("sk-"), "{refused:?}");
}

#[test]
fn a_server_that_the_user_has_under_a_name_keeps_it_even_with_an_error() {
    let home = Home::with("");
    let own =
        "{\"mcpServers\": {\"plants\": {\"command\": []}, \"notes\": {\"command\": \"notes\"}}}";
    fs::create_dir_all(home.path("config/natter")).expect("a folder");
    fs::write(home.path("config/natter/mcp.json"), own).expect("a file");
    let project = home.path("garden");
    fs::create_dir_all(&project).expect("a folder");
    let servers = "{\"mcpServers\": {\"plants\": {\"command\": \"plants\"}}}";
    fs::write(project.join(".mcp.json"), servers).expect("a file");
    let shown = home.run(["mcp", "trust", project.to_str().expect("a path")]).ok();
    assert!(shown.stdout.contains("plants (not used: "), "{shown:?}");
    let removed = home.run(["mcp", "remove", "notes"]).ok();
    assert!(removed.stderr.contains("Its secrets stay in your keyring"), "{removed:?}");
}
