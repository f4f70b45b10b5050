//! Tests managing servers, and listing and naming their models.

use chat_testkit::server::{Answer, Model, Protocol, Server, unused_port};

use crate::home::{Home, Run, connection};
use crate::models::german;

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

#[test]
fn a_known_server_is_added_by_its_name_and_its_key() {
    let home = Home::with("");
    let presets = home.run(["connections", "presets", "--json"]).ok().events();
    let openai = presets.iter().find(|preset| preset["id"] == "openai").unwrap();
    assert_eq!(openai["env"][0], "OPENAI_API_KEY");
    assert!(home.run(["connections", "presets"]).ok().stdout.contains("https://api.anthropic.com"));

    // Its key comes from a variable that it usually has, where that is set.
    let mut with_key = home.command(["connections", "add", "OpenAI"]);
    let run = Run::of(with_key.env("OPENAI_API_KEY", "sk-secret").spawn().unwrap()).ok();
    assert!(run.stderr.contains("OPENAI_API_KEY"), "{}", run.stderr);
    let run = home.run(["connections", "add", "anthropic", "--name", "Work"]).ok();
    assert!(run.stderr.contains("https://platform.claude.com/settings/keys"), "{}", run.stderr);
    assert!(run.stderr.contains("natter-cli connections key Work"), "{}", run.stderr);
    let settings = std::fs::read_to_string(home.path("config/natter/config.toml")).unwrap();
    assert!(
        settings.contains("kind = \"anthropic\"") && settings.contains("name = \"Work\""),
        "{settings}"
    );
    assert!(
        settings.contains("env = \"OPENAI_API_KEY\"") && !settings.contains("sk-"),
        "{settings}"
    );

    let run = home.run(["connections", "add", "nobody"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("natter-cli connections presets"), "{}", run.stderr);
}

#[test]
fn anthropics_protocol_is_spoken_where_it_is_named() {
    let server = Server::start().only(Protocol::Anthropic);
    let home = Home::with("");
    let url = server.url();
    home.run(["connections", "add", "Mine", "--url", &url, "--kind", "anthropic"]).ok();
    assert_eq!(home.run(["connections", "test", "Mine"]).ok().stdout, "scripted\n");
    let run = home.run(["ask", "--model", "Mine/scripted", "hello"]).ok();
    assert!(run.stdout.contains("You said: hello"), "{}", run.stdout);
    assert_eq!(server.chats()[0].path, "/v1/messages");
}

#[test]
fn headers_proxy_and_certificates_are_stored_and_their_values_shown_nowhere() {
    let server = Server::start().only(Protocol::OpenAi);
    let home = Home::with("");
    let add = |more: &[&str]| {
        let url = server.url();
        let args = ["connections", "add", "Mine", "--url", &url];
        home.run([&args[..], more].concat())
    };
    let bad = [
        (&["--proxy", "nonsense"][..], 1, "This proxy isn’t valid"),
        (&["--header", "X Team: blue"], 1, "The header “X Team” isn’t valid"),
        (&["--header", "X-Team"], 2, "NAME: VALUE"),
        (&["--ca", "/nowhere/ca.pem"], 1, "“/nowhere/ca.pem” has no certificates"),
    ];
    for (more, code, words) in bad {
        let run = add(more);
        assert_eq!(run.code, Some(code), "{run:?}");
        assert!(
            run.stderr.contains(words) || run.stderr.contains("The proxy of"),
            "{}",
            run.stderr
        );
    }
    add(&["--header", "X-Team: s3cret", "--header-env", "X-Home=HOME", "--proxy", "none"]).ok();
    home.run(["connections", "test", "Mine"]).ok();
    let asked = server.requests();
    assert_eq!(asked[0].headers["x-team"], "s3cret");
    assert!(asked[0].headers["x-home"].starts_with('/'), "{:?}", asked[0].headers);
    let listed = home.run(["connections", "list", "--json"]).ok();
    assert!(!listed.stdout.contains("s3cret"), "{}", listed.stdout);
    let listed = &listed.events()[0];
    assert_eq!((&listed["headers"][1], &listed["proxy"]), (&"X-Team".into(), &"none".into()));
}

#[test]
fn models_of_an_ollama_server_are_fetched_listed_unloaded_and_removed() {
    let server = Server::start();
    let home = Home::with(&connection(&server.url()));
    let run = home.run(["models", "pull", "Test/new:1b"]).ok();
    assert!(run.stderr.contains("natter-cli ask --model Test/new:1b"), "{}", run.stderr);
    let events = home.run(["models", "pull", "Test/new:1b", "--json"]).ok().events();
    assert_eq!(events[2]["received"], 400);
    assert_eq!(events.last().unwrap()["reason"], "complete");
    server.set_loaded(&["new:1b"]);
    let loaded = home.run(["models", "list", "--loaded", "--json"]).ok().events();
    assert_eq!(
        (&loaded[0]["model"], &loaded[0]["size"]),
        (&"Test/new:1b".into(), &98_362_432.into())
    );
    home.run(["models", "unload", "Test/new:1b"]).ok();
    assert!(home.run(["models", "list", "--loaded"]).ok().stderr.contains("No server has a model"));
    home.run(["models", "remove", "Test/new:1b"]).ok();
    assert!(!home.run(["models"]).ok().stdout.contains("new:1b"));
    let run = home.run(["models", "unload", "Test/new:1b"]);
    assert_eq!(run.code, Some(1), "{run:?}");
}
