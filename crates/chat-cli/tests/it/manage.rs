//! Tests managing chats, servers and models, and the generated completions and manual pages.

use chat_testkit::server::{Answer, Model, Protocol, Script, Server, unused_port};
use serde_json::Value;

use crate::home::{Home, Run, connection};
use crate::models::german;

#[test]
fn chats_are_listed_found_renamed_and_deleted() {
    let server = Server::start();
    let home = Home::new(&server);
    home.run(["ask", "Where is Grüße?"]).ok();
    home.run(["ask", "What is 東京タワー?"]).ok();
    let sessions = home.sessions();
    assert_eq!(sessions.len(), 2);
    assert_eq!(sessions[0]["title"], "What is 東京タワー?");
    assert_eq!(sessions[0]["model"], "Test/scripted");
    let found = home.run(["sessions", "--json", "--search", "京タワ"]).ok().events();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["fid"], sessions[0]["fid"]);
    let nowhere = ["sessions", "--search", "nowhere to be found"];
    let empty = home.run(nowhere).ok();
    assert_eq!((empty.stdout.as_str(), empty.stderr.as_str()), ("", "No chats found.\n"));
    let empty = home.run([&nowhere[..], &["--json"]].concat()).ok();
    assert_eq!((empty.stdout.as_str(), empty.stderr.as_str()), ("", ""));
    assert_eq!(home.run(["sessions", "-n", "1"]).ok().stdout.lines().count(), 1);

    // Short words, and others without their accents.
    for (search, at) in [("東京", 0), ("京", 0), ("is", 0), ("wh", 0), ("gr", 1), ("grusse", 1)]
    {
        let found = home.run(["sessions", "--json", "--search", search]).ok().events();
        assert!(found.iter().any(|chat| chat["fid"] == sessions[at]["fid"]), "{search}");
    }

    let fid = sessions[0]["fid"].as_str().expect("a fid");
    home.run(["rename", fid, "A tower"]).ok();
    assert!(home.run(["sessions"]).ok().stdout.contains("A tower"));
    // With nobody to ask nothing is deleted.
    let refused = home.run(["delete", fid]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("--yes"), "{refused:?}");
    assert_eq!(home.sessions().len(), 2);
    home.run(["delete", "--yes", fid]).ok();
    assert_eq!(home.sessions().len(), 1);
    for gone in [&["show", fid][..], &["rename", fid, "x"], &["delete", fid], &["export", fid]] {
        let run = home.run(gone);
        assert_eq!(run.code, Some(1), "{gone:?}");
        assert!(
            run.stderr.contains(&format!("Couldn’t find the chat “{fid}”.")),
            "{gone:?}: {run:?}"
        );
    }
}

#[test]
fn agents_are_listed_below_their_chat_and_deleted_with_it() {
    let server = Server::start();
    let home = Home::new(&server);
    let calls = ["first", "second"].into_iter().fold(Script::new(), |script, name| {
        script.tool_call(name, "spawn_agent", serde_json::json!({ "name": name }))
    });
    server.push(calls);
    server.push(Script::new().text("They are there."));
    let project = tempfile::tempdir().expect("a folder");
    let folder = project.path().to_str().expect("a path");
    home.run(["ask", "--project", folder, "Start two"]).ok();
    home.run(["ask", "Something else"]).ok();
    let tree = home.run(["sessions", "--tree", "--json"]).ok().events();
    let names: Vec<_> = tree.iter().map(|chat| chat["name"].as_str()).collect();
    let mut agents = names[2..].to_vec();
    agents.sort_unstable();
    assert_eq!((&names[..2], agents), (&[None, None][..], vec![Some("first"), Some("second")]));
    assert!(tree[2..].iter().all(|agent| agent["parent"] == tree[1]["fid"]), "{tree:?}");
    let first = home.run(["sessions", "--tree", "-n", "1", "--json"]).ok().events();
    assert_eq!(first, tree[..1]);
    // Agents do not count.
    assert_eq!(home.run(["sessions", "--tree", "-n", "2", "--json"]).ok().events(), tree);
    let text = home.run(["sessions", "--tree"]).ok().stdout;
    assert!(text.contains("   first  (no task yet)") && text.contains("  Start two\n"), "{text}");
    home.run(["delete", "--yes", tree[1]["fid"].as_str().expect("a fid")]).ok();
    assert_eq!(home.sessions().len(), 1);
}

#[test]
fn an_empty_list_is_told_of_and_not_in_json() {
    let server = Server::start();
    server.set_models(Vec::<Model>::new());
    let home = Home::new(&server);
    for (list, told) in [
        (&["sessions"][..], "There are no chats yet."),
        (&["models"], "There are no models yet."),
        (&["models", "--installed"], "No models are installed yet."),
        (&["rules"], "There are no permission rules."),
        (&["trust"], "You don’t trust any projects yet."),
    ] {
        let run = home.run(list).ok();
        assert!(run.stdout.is_empty() && run.stderr.starts_with(told), "{list:?}: {run:?}");
        let run = home.run([list, &["--json"]].concat()).ok();
        assert!(run.stdout.is_empty() && run.stderr.is_empty(), "{list:?}: {run:?}");
    }
}

#[test]
fn a_search_says_what_it_was_not_made_for() {
    let server = Server::start();
    let home = Home::new(&server);
    home.run(["ask", "Where does p->next lead?"]).ok();
    let search = |words: &str| home.run(["sessions", "--search", words]).ok();
    let arrow = search("->");
    assert!(arrow.stdout.contains("p->next") && arrow.stderr.is_empty(), "{arrow:?}");
    let letter = search("q");
    assert_eq!(letter.stdout, "");
    assert_eq!(letter.stderr, "Type at least two letters to find longer words.\n");
    let long = search(&"next ".repeat(40));
    assert!(long.stdout.contains("p->next"), "{long:?}");
    assert_eq!(long.stderr, "Only the beginning of the search text was used.\n");
    // Chats as programs get them do not say this.
    let long = home.run(["sessions", "--json", "--search", &"next ".repeat(40)]).ok();
    assert_eq!(long.events()[0].get("incomplete"), None);
    assert_eq!(long.stderr, "Only the beginning of the search text was used.\n");
}

#[test]
fn a_search_says_that_older_messages_are_still_being_indexed() {
    const NOTE: &str = "Older messages are still being indexed.\n";
    let server = Server::start();
    let home = Home::new(&server);
    home.run(["ask", "Where is it?"]).ok();
    let search =
        |words, more: &[&str]| home.run(["sessions", "--search", words].iter().chain(more)).ok();
    assert_eq!(search("where", &[]).stderr, "");
    assert_eq!(search("where", &["--json"]).events()[0].get("incomplete"), None);

    let database = home.path("data/natter/natter.db");
    let raw = rusqlite::Connection::open(database).expect("the chats");
    raw.execute_batch(
        "INSERT INTO unindexed SELECT max(key) + 1 FROM messages;
         CREATE TRIGGER held BEFORE UPDATE ON unindexed BEGIN SELECT RAISE(ABORT, 'held'); END;",
    )
    .expect("an index that is not complete");
    let found = search("where", &[]);
    assert!(found.stdout.contains("Where is it?"), "{found:?}");
    assert_eq!(found.stderr, NOTE);
    let nothing = search("nowhere to be found", &[]);
    assert_eq!(nothing.stderr, format!("No chats found.\n{NOTE}"));
    // Programs read it in each chat, where there is one.
    let found = search("where", &["--json"]);
    assert_eq!(found.stderr, "");
    assert_eq!(found.events()[0]["incomplete"], true);
    assert_eq!(search("nowhere to be found", &["--json"]).stderr, NOTE);
    assert_eq!(home.run(["sessions"]).ok().stderr, "");
}

#[test]
fn a_chat_is_shown_as_text_and_as_markdown() {
    let server = Server::start();
    server.push(Script::new().thinking("let me see").text("It is **7**."));
    let home = Home::new(&server);
    let file = home.path("a.md");
    std::fs::write(&file, "```\ncode\n```\n").expect("a file");
    home.run(["ask", "--file", file.to_str().expect("a path"), "which?"]).ok();
    let fid = home.fid();
    let text = home.run(["show", &fid]).ok().stdout;
    assert!(text.contains("which?") && text.contains("It is **7**."), "{text}");
    assert!(text.contains("Attached: a.md") && !text.contains("let me see"), "{text}");
    let markdown = home.run(["show", "--markdown", &fid]).ok().stdout;
    assert!(markdown.starts_with("# which?\n\n## You\n"), "{markdown}");
    assert!(markdown.contains("\n````\n```\ncode\n```\n````\n"), "{markdown}");
    assert!(markdown.contains("<details>") && markdown.contains("let me see"), "{markdown}");
}

#[test]
fn an_export_holds_everything() {
    let server = Server::start();
    server.push(Script::new().thinking("hm").text("42").usage(3, 4));
    let home = Home::new(&server);
    home.run(["ask", "--temperature", "0.5", "hello"]).ok();
    let fid = home.fid();
    let file = home.path("out.json");
    home.run(["export", &fid, "--output", file.to_str().expect("a path")]).ok();
    let export: Value =
        serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("JSON");
    assert_eq!(export["natter_export"], 1);
    assert_eq!(export["fid"], fid);
    assert_eq!(export["options"]["temperature"], 0.5);
    let reply = &export["messages"][1];
    assert_eq!(reply["parent"], export["messages"][0]["id"]);
    assert_eq!(reply["usage"]["completion_tokens"], 4);
    assert_eq!(reply["parts"][0]["value"]["text"], "hm");
    let printed = home.run(["export", &fid]).ok().stdout;
    assert_eq!(serde_json::from_str::<Value>(&printed).expect("JSON"), export);
    let again = home.run(["export", &fid, "--markdown", "-o", file.to_str().expect("a path")]);
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("already exists"), "{}", again.stderr);
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), printed, "it is untouched");
    home.run(["export", &fid, "--markdown", "--force", "-o", file.to_str().expect("a path")]).ok();
    assert!(std::fs::read_to_string(&file).expect("a file").contains("42"));
    let link = home.path("link.md");
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    home.run(["export", &fid, "--force", "-o", link.to_str().expect("a path")]).ok();
    assert!(link.is_symlink(), "the link is there still");
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), printed);
    home.run(["export", &fid, "--force", "-o", "/dev/null"]).ok();
    let nowhere = home.path("no/folder/out.json");
    let run = home.run(["export", &fid, "-o", nowhere.to_str().expect("a path")]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("Couldn’t write"), "{}", run.stderr);
}

#[test]
fn the_help_shows_addresses_as_they_are_typed() {
    let help = Home::with("").run(["connections", "add", "--help"]).ok().stdout;
    assert!(help.contains("address, such as http://127.0.0.1:11434 or https://"), "{help}");
}

#[test]
fn servers_are_added_tested_listed_and_removed() {
    let server = Server::start().only(Protocol::OpenAi);
    let home = Home::with("# mine\n");
    home.run(["connections", "add", "Mine", "--url", &server.url()]).ok();
    let run = home.run(["connections", "test", "Mine"]).ok();
    assert_eq!(run.stdout, "scripted\n");
    assert!(run.stderr.contains("(openai, "), "{}", run.stderr);
    let listed = home.run(["connections", "list", "--json"]).ok().events();
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0]["name"], &listed[0]["models"]), (&"Mine".into(), &1.into()));
    assert!(home.run(["connections"]).ok().stdout.contains("Mine"));
    let again = home.run(["connections", "add", "Mine", "--url", &server.url()]);
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("A connection named “Mine” already exists."), "{again:?}");
    let engine = home.run(["connections", "add", "on this  Computer", "--url", &server.url()]);
    assert_eq!(engine.code, Some(1));
    assert!(engine.stderr.contains("is the name of Natter’s built-in engine"), "{engine:?}");
    // Its name in the user's own language is as misleading.
    let url = server.url();
    let german = german(&home, &["connections", "add", "auf  diesem Rechner", "--url", &url]);
    assert_eq!(german.code, Some(1));
    assert!(
        german.stderr.contains("„auf  diesem Rechner“ heißt Natters eingebautes Programm"),
        "{german:?}"
    );
    home.run(["ask", "--model", "Mine/scripted", "hello"]).ok();
    home.run(["connections", "remove", "Mine"]).ok();
    assert!(home.run(["connections", "list", "--json"]).ok().stdout.is_empty());
    let config = std::fs::read_to_string(home.path("config/natter/config.toml")).expect("read");
    assert!(config.contains("# mine"), "comments stay: {config}");
}

#[test]
fn a_server_gets_another_key_and_none() {
    let server = Server::start().with_key("sk-secret-42");
    let home = Home::new(&server);
    home.run(["connections", "key", "Test", "--env", "MY_KEY"]).ok();
    let listed = || home.run(["connections", "list", "--json"]).ok().events()[0]["key"].clone();
    assert_eq!(listed(), "env");
    let mut ask = home.command(["ask", "hello"]);
    Run::of(ask.env("MY_KEY", "sk-secret-42").spawn().expect("run")).ok();
    let run = home.run_with(["connections", "key", "Test"], "sk-secret-42\n").ok();
    assert!(!run.stderr.contains("sk-secret"), "{}", run.stderr);
    assert_eq!(listed(), "keyring");
    home.run(["connections", "key", "Test", "--remove"]).ok();
    assert_eq!(listed(), "none");
    assert_eq!(home.run_with(["connections", "key", "Test"], "\n").code, Some(2));
    let gone = home.run(["connections", "key", "None", "--remove"]);
    assert!(gone.stderr.contains("There is no connection named “None”."), "{}", gone.stderr);
}

#[test]
fn what_is_wrong_with_a_server_is_said() {
    let home = Home::with("");
    let name = home.run(["connections", "add", "a/b", "--url", "http://127.0.0.1:1"]);
    assert_eq!(name.code, Some(2), "{name:?}");
    home.settings(&connection(&format!("http://127.0.0.1:{}", unused_port())));
    for args in [&["connections", "test", "Test"][..], &["models"]] {
        let run = home.run(args);
        assert_eq!(run.code, Some(1), "{args:?}");
        assert!(run.stderr.contains("Couldn’t connect to “Test”."), "{args:?}: {}", run.stderr);
    }
    let run = home.run(["connections", "test", "None"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("There is no connection named “None”."), "{}", run.stderr);
}

#[test]
fn a_key_comes_by_environment_or_standard_input_and_never_into_the_settings() {
    let server = Server::start().with_key("sk-secret-42");
    let home = Home::with("");
    home.run(["connections", "add", "A", "--url", &server.url(), "--key-env", "MY_KEY"]).ok();
    let args = ["connections", "add", "B", "--url", &server.url(), "--key-stdin"];
    let run = home.run_with(args, "sk-secret-42\n").ok();
    // There is no keyring in a test.
    assert!(run.stderr.contains("the key is kept only until Natter quits"), "{}", run.stderr);
    assert!(run.stderr.contains("natter-cli connections key B --env VARIABLE"), "{}", run.stderr);
    let config = std::fs::read_to_string(home.path("config/natter/config.toml")).expect("read");
    assert!(config.contains("MY_KEY") && !config.contains("sk-secret"), "{config}");
    let empty =
        home.run_with(["connections", "add", "C", "--url", "http://x", "--key-stdin"], "\n");
    assert_eq!(empty.code, Some(2), "{empty:?}");
}

#[test]
fn models_of_all_servers_are_listed_and_those_that_fail_named() {
    let server = Server::start().with_models([Model::new("a"), Model::new("b").context(4096)]);
    let down = format!("http://127.0.0.1:{}", unused_port());
    let home =
        Home::with(&(connection(&server.url()) + &connection(&down).replace("Test", "Down")));
    let run = home.run(["models", "list", "--json"]).ok();
    let models: Vec<_> = run.events().iter().map(|event| event["model"].clone()).collect();
    assert_eq!(models, ["Test/a", "Test/b"]);
    assert!(run.stderr.contains("Couldn’t connect to “Down”."), "{}", run.stderr);
    let text = home.run(["models"]).ok().stdout;
    assert!(text.starts_with("Test/a "), "{text}");
}

#[test]
fn a_model_named_by_the_path_of_its_file_is_called_by_the_name_of_the_file() {
    let path = "/home/ada/models/tiny.Q4_1.gguf";
    let server = Server::start().with_models([Model::new(path)]);
    let home = Home::new(&server);
    let text = home.run(["models"]).ok().stdout;
    assert!(text.starts_with("Test/tiny.Q4_1 "), "{text}");
    let listed = home.run(["models", "--json"]).ok().events();
    assert_eq!(
        (&listed[0]["name"], &listed[0]["display_name"]),
        (&path.into(), &"tiny.Q4_1".into())
    );
    for name in ["tiny.Q4_1", path] {
        home.run(["ask", "--model", name, "hello"]).ok();
    }
    let asked: Vec<_> = server.chats().iter().map(|chat| chat.body["model"].clone()).collect();
    assert_eq!(asked, [path, path], "on the wire it has its own name");
}

#[test]
fn a_server_without_a_list_of_models_is_used_by_typed_names() {
    let server = Server::start().with_models(["any-name", "a", "b"].map(Model::new));
    let missing = || Answer::new(404, r#"{"detail":"Not Found"}"#);
    server.answer("/v1/models", missing());
    server.answer("/api/tags", missing());
    server.answer("/api/version", missing());
    server.answer("/", missing());
    let home = Home::with("");
    let url = format!("{}/v1", server.url());
    home.run(["connections", "add", "Plain", "--url", &url]).ok();
    let test = home.run(["connections", "test", "Plain"]).ok();
    assert!(test.stderr.contains("(openai, "), "{test:?}");
    assert!(test.stderr.contains("The server doesn’t list its models."), "{test:?}");
    assert!(test.stdout.is_empty(), "{test:?}");
    let said = home.run(["ask", "--model", "Plain/any-name", "hello"]).ok();
    assert_eq!(said.stdout, "You said: hello\n");
    assert_eq!(server.chats().last().expect("a request").model(), "any-name");

    let named = ["connections", "add", "Named", "--url", &url, "--model", "a", "--model", "b"];
    home.run(named).ok();
    let listed = home.run(["models"]).ok().stdout;
    assert!(listed.contains("Named/a") && listed.contains("Named/b"), "{listed}");
    let test = home.run(["connections", "test", "Named"]).ok();
    assert_eq!(test.stdout, "a\nb\n");
    home.run(["ask", "--connection", "Named", "hello"]).ok();
    assert_eq!(server.chats().last().expect("a request").model(), "a");
}

#[test]
fn a_shown_name_behind_its_connection_is_the_servers_own_name_on_the_wire() {
    let path = "/home/ada/models/tiny.Q4_1.gguf";
    let two = ["/a/twice.gguf", "/b/twice.gguf"];
    let models = [path, two[0], two[1]].map(Model::new);
    let server = Server::start().only(Protocol::OpenAi).with_models(models);
    let home = Home::with(&connection(&server.url()).replace("\"ollama\"", "\"openai\""));
    let own = format!("Test/{path}");
    let one_by_one = ["--connection", "Test", "--model", "tiny.Q4_1"];
    for args in [&["--model", "Test/tiny.Q4_1"][..], &["--model", &own], &one_by_one] {
        home.run(["ask", "hello"].iter().chain(args)).ok();
    }
    let asked: Vec<_> = server.chats().iter().map(|chat| chat.body["model"].clone()).collect();
    assert_eq!(asked, [path; 3]);

    let unclear = home.run(["ask", "--model", "Test/twice", "hello"]);
    assert_eq!(unclear.code, Some(2));
    for path in two {
        assert!(unclear.stderr.contains(&format!("Test/{path}")), "{}", unclear.stderr);
        home.run(["ask", "--model", &format!("Test/{path}"), "hello"]).ok();
    }
    // What nobody lists is the server's to refuse.
    let unknown = home.run(["ask", "--model", "Test/none", "hello"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("none"), "{}", unknown.stderr);
}

#[test]
fn the_list_tells_replies_that_failed_from_interrupted_ones() {
    let server = Server::start();
    server.push(Script::new().text("half").cut());
    server.push(Script::status(500, "{}"));
    let home = Home::new(&server);
    let codes = ["one", "two", "three"].map(|text| home.run(["ask", text]).code);
    assert_eq!(codes, [Some(1), Some(1), Some(0)]);
    let list = home.run(["sessions"]).ok().stdout;
    let lines: Vec<_> = list.lines().collect();
    assert!(lines[0].ends_with("three"), "{list}");
    assert!(lines[1].ends_with("two  (last reply failed)"), "{list}");
    assert!(lines[2].ends_with("one  (last reply interrupted)"), "{list}");
    let told: Vec<_> = home.sessions().iter().map(|s| s["trouble"].clone()).collect();
    assert_eq!(told, [Value::Null, "failed".into(), "interrupted".into()]);
}

#[test]
fn completions_and_manual_pages_are_made() {
    let home = Home::with("");
    for shell in ["bash", "zsh", "fish"] {
        let text = home.run(["completions", shell]).ok().stdout;
        assert!(text.contains("natter-cli") && text.contains("context-window"), "{shell}");
    }
    assert!(home.run(["man"]).ok().stdout.contains(".TH natter-cli"));
    let folder = home.path("man");
    home.run(["man", folder.to_str().expect("a path")]).ok();
    assert!(folder.join("natter-cli.1").exists() && folder.join("natter-cli-ask.1").exists());
    assert!(!home.path("data").exists(), "nothing is begun for that");
}

#[test]
fn a_model_whose_name_is_nobody_elses_is_asked_without_asking_for_models() {
    let name = "maker/model";
    let server = Server::start().only(Protocol::OpenAi).with_models([Model::new(name)]);
    let home = Home::with(&connection(&server.url()).replace("\"ollama\"", "\"openai\""));
    home.run(["ask", "--model", "Test/maker/model", "hello"]).ok();
    assert_eq!(server.chats()[0].model(), name);
    assert_eq!(server.requests().len(), 1, "{:#?}", server.requests());
}

#[test]
fn a_key_that_is_refused_is_told_with_what_to_type() {
    let server = Server::start().with_key("right");
    let settings = connection(&server.url()).replace("\"Test\"", "\"My $HOME\"");
    let home = Home::with(&settings);
    let run = home.run(["ask", "--model", "My $HOME/scripted", "hello"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let wanted = "Set its key with: natter-cli connections key 'My $HOME'";
    assert!(run.stderr.contains(wanted), "{}", run.stderr);
}

#[test]
fn a_connection_that_is_not_there_is_told_with_where_to_look() {
    let home = Home::with("");
    for command in ["test", "remove", "key"] {
        let run = home.run_with(["connections", command, "Nope"], "");
        assert_eq!(run.code, Some(1), "{run:?}");
        let wanted = "There is no connection named “Nope”. List connections with";
        assert!(run.stderr.contains(wanted), "{command}: {}", run.stderr);
    }
}
