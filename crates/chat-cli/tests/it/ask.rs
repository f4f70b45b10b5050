//! Tests `ask`: text, events, options, files, and conversations over several runs.

use std::io::Read as _;

use chat_testkit::files::{self, ImageFormat};
use chat_testkit::server::{Gate, Model, Protocol, Script, Server, text};
use serde_json::{Value, json};

use crate::home::{Home, Run, chunks, connection, kill};

#[test]
fn the_model_of_an_agents_file_is_not_the_model_of_the_next_chat() {
    let server = Server::start().with_models([Model::new("scripted"), Model::new("other")]);
    let home = Home::new(&server);
    let settings = format!("[chat]\nfind_local_servers = false\n{}", connection(&server.url()));
    std::fs::write(home.path("config/natter/config.toml"), settings).expect("settings");
    std::fs::create_dir_all(home.path("config/natter/agents")).expect("a folder");
    let mine = home.path("config/natter/agents/mine.md");
    std::fs::write(mine, "---\nmodel: Test/other\n---\nBe brief.").expect("an agent");
    home.run(["ask", "--model", "Test/scripted", "one"]).ok();
    home.run(["ask", "--agent", "mine", "two"]).ok();
    home.run(["ask", "three"]).ok();
    // What the user chooses is remembered, also for such an agent.
    home.run(["ask", "--model", "Test/other", "four"]).ok();
    home.run(["ask", "five"]).ok();
    let models: Vec<_> = server.chats().iter().map(|chat| chat.model().to_owned()).collect();
    assert_eq!(models, ["scripted", "other", "scripted", "other", "other"]);
}

#[test]
fn an_answer_goes_to_standard_output_and_nothing_else_does() {
    let server = Server::start();
    let home = Home::new(&server);
    let run = home.run(["ask", "hello there"]).ok();
    assert_eq!(run.stdout, "You said: hello there\n");
    assert_eq!(run.stderr, "");
    let said = [("user", "hello there"), ("assistant", "You said: hello there")];
    assert_eq!(home.transcript(), said.map(|(role, text)| (role.to_owned(), text.to_owned())));
}

#[test]
fn an_answer_that_ends_its_line_gets_no_second_end() {
    let server = Server::start();
    server.push(Script::new().text("one\ntwo\n"));
    assert_eq!(Home::new(&server).run(["ask", "hello"]).ok().stdout, "one\ntwo\n");
}

#[test]
fn the_question_comes_from_standard_input() {
    let server = Server::start();
    let home = Home::new(&server);
    let run = home.run_with(["ask", "-"], "first line\nsecond line\n").ok();
    assert_eq!(run.stdout, "You said: first line\nsecond line\n");
    assert_eq!(home.transcript()[0].1, "first line\nsecond line");
}

#[test]
fn events_tell_the_whole_reply_and_end_with_done() {
    let server = Server::start();
    server.push(Script::new().thinking("hm ").thinking("well").text("Hel").text("lo").usage(7, 2));
    let home = Home::new(&server);
    let run = home.run(["ask", "--json", "hello"]).ok();
    let events = run.events();
    let session = &events[0];
    assert_eq!(session["type"], "session");
    assert_eq!(session["fid"], home.fid());
    assert_eq!(session["model"], "Test/scripted");
    assert_eq!(chunks(&events, true), "hm well");
    assert_eq!(chunks(&events, false), "Hello");
    let message = events.iter().find(|event| event["type"] == "message").expect("a message");
    assert_eq!(message["text"], "Hello");
    assert_eq!(message["thinking"], "hm well");
    assert_eq!(message["ended"], "complete");
    let done = events.last().expect("an end");
    assert_eq!(done["type"], "done");
    assert_eq!(done["reason"], "complete");
    assert_eq!(done["usage"]["prompt_tokens"], 7);
    assert_eq!(done["usage"]["completion_tokens"], 2);
    assert_eq!(run.stderr, "");
}

#[test]
fn thoughts_that_the_server_hides_are_no_chunk() {
    let hidden = r#"{"type":"reasoning.encrypted","data":"c2lnbmVk","index":0}"#;
    let delta = format!("{{\"reasoning_details\":[{hidden}]}}");
    let server = Server::start().only(Protocol::OpenAi);
    let script = Script::new().bytes(format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n"));
    server.push(script.text("42"));
    let home =
        Home::with(&format!("[[connections]]\nname = \"Test\"\nurl = \"{}\"\n", server.url()));
    let events = home.run(["ask", "--json", "hello"]).ok().events();
    let chunks: Vec<_> = events.iter().filter(|event| event["type"] == "chunk").collect();
    assert_eq!(chunks, [&json!({ "type": "chunk", "text": "42", "thinking": false })]);
}

#[test]
fn a_failure_before_anything_was_sent_is_an_event_too() {
    let server = Server::start();
    let home = Home::new(&server);
    let run = home.run(["ask", "--json", "--session", "2020-01-01-00-00-00", "hello"]);
    assert_eq!(run.code, Some(1));
    let events = run.events();
    assert_eq!(events[0]["type"], "error");
    assert_eq!(events[0]["kind"], "session_not_found");
    assert_eq!(events[1], json!({ "type": "done", "reason": "error", "usage": {} }));
    assert!(run.stderr.contains("Couldn’t find the chat “2020-01-01-00-00-00”."), "{}", run.stderr);
}

#[test]
fn thinking_is_hidden_where_nobody_looks() {
    let server = Server::start();
    server.push(Script::new().thinking("secret thoughts").text("42"));
    let run = Home::new(&server).run(["ask", "hello"]).ok();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("42\n", ""));
}

#[test]
fn a_second_question_carries_the_first_answer() {
    for protocol in [Protocol::Ollama, Protocol::OpenAi] {
        let server = Server::start().only(protocol);
        let home =
            Home::with(&format!("[[connections]]\nname = \"Test\"\nurl = \"{}\"\n", server.url()));
        home.run(["ask", "one"]).ok();
        home.run(["ask", "--session", &home.fid(), "two"]).ok();
        let chats = server.chats();
        assert_eq!(chats.len(), 2);
        assert_eq!(chats[1].texts_of("user"), ["one", "two"]);
        assert_eq!(chats[1].texts_of("assistant"), ["You said: one"]);
        assert_eq!(home.transcript().len(), 4);
    }
}

#[test]
fn options_reach_the_wire() {
    let server = Server::start();
    let home = Home::new(&server);
    let options = ["--temperature", "0.25", "--context-window", "16384", "--thinking", "high"];
    home.run(["ask"].iter().chain(&options).chain(&["hello"])).ok();
    let body = &server.chats()[0].body;
    assert_eq!(body["options"]["temperature"], 0.25);
    assert_eq!(body["options"]["num_ctx"], 16_384);
    assert_eq!(body["think"], "high");
}

#[test]
fn a_model_is_found_by_its_name_or_by_its_connection() {
    let first = Server::start().with_models([Model::new("alpha"), Model::new("both")]);
    let second = Server::start().with_models([Model::new("beta"), Model::new("both")]);
    let connection = |name: &str, server: &Server| {
        format!(
            "[[connections]]\nname = \"{name}\"\nkind = \"ollama\"\nurl = \"{}\"\n",
            server.url()
        )
    };
    let home = Home::with(&(connection("One", &first) + &connection("Two", &second)));
    let ask = |args: &[&str]| {
        let events = home.run(["ask", "--json"].iter().chain(args).chain(&["hello"])).ok().events();
        events[0]["model"].as_str().expect("a model").to_owned()
    };
    assert_eq!(ask(&["--model", "beta"]), "Two/beta");
    assert_eq!(ask(&["--model", "both"]), "One/both");
    assert_eq!(ask(&["--model", "Two/both"]), "Two/both");
    assert_eq!(ask(&["--connection", "Two", "--model", "both"]), "Two/both");
    assert_eq!(ask(&["--connection", "Two"]), "Two/beta");
}

#[test]
fn nobody_is_asked_for_models_where_the_model_is_known() {
    let server = Server::start();
    let home = Home::new(&server);
    home.run(["ask", "--model", "Test/scripted", "hello"]).ok();
    home.run(["sessions"]).ok();
    let paths: Vec<String> = server.requests().into_iter().map(|r| r.path).collect();
    assert!(!paths.iter().any(|path| path == "/api/tags"), "{paths:?}");
}

#[test]
fn files_go_along() {
    let server = Server::start();
    let home = Home::new(&server);
    let file = home.path("notes.txt");
    std::fs::write(&file, "the secret number is 7\n").expect("a file");
    home.run(["ask", "--file", file.to_str().expect("a path"), "which number?"]).ok();
    let said = server.chats()[0].texts_of("user").join("");
    assert!(said.contains("the secret number is 7") && said.contains("notes.txt"), "{said}");
    let chat = home.show(&home.fid());
    assert_eq!(chat["messages"][0]["files"], json!(["notes.txt"]));
    assert_eq!(chat["messages"][0]["text"], "which number?");
}

#[test]
fn documents_and_pictures_go_along() {
    let server = Server::start();
    let home = Home::new(&server);
    let (pdf, photo) = (home.path("bees.pdf"), home.path("photo.tiff"));
    std::fs::write(&pdf, files::pdf(&["Bees make honey", "Flies do not"])).expect("a file");
    std::fs::write(&photo, files::picture(40, 20, ImageFormat::Tiff)).expect("a file");
    let (pdf, photo) = (pdf.to_str().expect("a path"), photo.to_str().expect("a path"));
    home.run(["ask", "-f", pdf, "-f", photo, "who makes it?"]).ok();
    let chats = server.chats();
    let said = chats[0].texts_of("user").join("");
    assert!(said.contains("bees.pdf") && said.contains("Bees make honey"), "{said}");
    assert!(said.contains("## Page 2"), "{said}");
    // No server takes TIFF.
    let pictures = chats[0].body["messages"].to_string();
    assert!(pictures.contains("iVBORw0KGgo"), "the beginning of PNG: {pictures}");
    let chat = home.show(&home.fid());
    assert_eq!(chat["messages"][0]["files"], json!(["bees.pdf", "image/png"]));
}

#[test]
fn what_cannot_be_attached_is_a_wrong_command_line_and_nothing_is_sent() {
    let server = Server::start();
    let home = Home::new(&server);
    std::fs::write(home.path("data.bin"), b"\0\xff\xfe").expect("a file");
    std::fs::write(home.path("broken.pdf"), "%PDF-1.7\nnothing of it").expect("a file");
    std::fs::write(home.path("locked.docx"), files::locked_office()).expect("a file");
    std::fs::write(home.path("huge.png"), files::png_of_size(60_000, 60_000)).expect("a file");
    for (file, why) in [
        ("data.bin", "because files of its kind can’t be read."),
        ("missing.txt", "because it doesn’t exist."),
        ("broken.pdf", "because it’s damaged or isn’t what its name says."),
        ("locked.docx", "because it’s protected by a password."),
        ("huge.png", "because reading it takes too much memory or time."),
    ] {
        let path = home.path(file);
        let path = path.to_str().expect("a path");
        let sentence = format!("Can’t attach “{file}” {why}");
        for run in [
            home.run(["ask", "--file", path, "hello"]),
            home.run_with(["chat", "--file", path], "hello\n"),
        ] {
            assert_eq!(run.code, Some(2), "{run:?}");
            assert_eq!(run.stderr.matches("Can’t attach").count(), 1, "{}", run.stderr);
            assert!(run.stderr.contains(&sentence), "{}", run.stderr);
        }
    }
    assert!(server.chats().is_empty());
    assert!(home.sessions().is_empty());
}

#[test]
fn a_wrong_command_line_says_how_it_is_right() {
    let home = Home::with("");
    let run = home.run(["ask"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("Usage: natter-cli ask"), "{}", run.stderr);
    assert_eq!(home.run(["ask", "--temperature", "9", "hello"]).code, Some(2));
}

#[test]
fn a_hundred_thousand_chunks_arrive_whole() {
    let pieces = text::words(100_000);
    let server = Server::start();
    server.push(Script::new().flat_out(pieces.clone()));
    let home = Home::new(&server);
    let run = home.run(["ask", "--json", "hello"]).ok();
    let events: Vec<Value> = run.events();
    assert_eq!(chunks(&events, false), pieces.concat());
    assert_eq!(home.transcript()[1].1, pieces.concat());
}

#[test]
fn a_reply_that_met_its_limit_is_no_success() {
    let server = Server::start();
    server.push(Script::new().text("and so").finish("length"));
    let home = Home::new(&server);
    let run = home.run(["ask", "hello"]);
    assert_eq!(run.code, Some(1));
    assert_eq!(run.stdout, "and so\n");
    assert!(run.stderr.contains("ended at the length limit"), "{}", run.stderr);
    assert_eq!(home.show(&home.fid())["messages"][1]["ended"], "length");
}

#[test]
fn without_any_server_it_says_how_to_add_one() {
    let home = Home::with("");
    std::fs::write(home.path("config/natter/config.toml"), "[chat]\nfind_local_servers = false\n")
        .expect("settings");
    let run = home.run(["ask", "hello"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("There are no models yet."), "{}", run.stderr);
    assert!(run.stderr.contains("natter-cli models list"), "{}", run.stderr);
    assert!(home.sessions().is_empty());
}

#[test]
fn the_last_model_that_worked_is_the_next_ones() {
    let server = Server::start().with_models([Model::new("scripted"), Model::new("other")]);
    let home = Home::with("");
    let settings = format!(
        "[chat]\nfind_local_servers = false\nbetter_titles = false\n{}",
        crate::home::connection(&server.url())
    );
    std::fs::write(home.path("config/natter/config.toml"), settings).expect("settings");
    home.run(["ask", "--model", "Test/other", "hello"]).ok();
    assert_eq!(home.run(["ask", "--model", "Test/mistyped", "hello"]).code, Some(1));
    home.run(["ask", "hello"]).ok();
    let chats = server.chats();
    assert_eq!(chats.last().expect("a request").model(), "other");
}

#[test]
fn measurements_are_written_at_the_end_also_when_it_is_stopped() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("begun ").gate(&gate).text("ended"));
    server.push(Script::new().text("begun").stall());
    let home = Home::new(&server);
    let file = home.path("diagnostics.json");
    let ask =
        || home.command(["ask", "hello"]).env("NATTER_DIAGNOSTICS", &file).spawn().expect("run");
    let report = || -> Value {
        serde_json::from_slice(&std::fs::read(&file).expect("written")).expect("JSON")
    };
    let child = ask();
    gate.wait_reached();
    gate.open();
    Run::of(child).ok();
    let whole = report();
    let times = &whole["replies"][0];
    let at = |name: &str| times[name].as_f64().unwrap_or_else(|| panic!("no {name}: {whole:#}"));
    for order in [
        &["request_ms", "first_byte_ms", "first_paint_ms", "last_paint_ms"][..],
        &["first_byte_ms", "last_byte_ms", "last_paint_ms"],
    ] {
        assert!(order.windows(2).all(|pair| at(pair[0]) <= at(pair[1])), "{times:#}");
    }
    assert!(whole["times_ms"]["ready"].as_f64() > whole["times_ms"]["main"].as_f64());
    assert!(whole["peak_memory_kib"].as_u64() > Some(1_000));

    std::fs::remove_file(&file).expect("removed");
    let mut child = ask();
    let mut first = [0; 5];
    child.stdout.as_mut().expect("its output").read_exact(&mut first).expect("five bytes");
    kill(child.id(), "TERM");
    assert_eq!(Run::of(child).code, Some(130));
    assert!(report()["replies"][0]["first_byte_ms"].is_number());
}

#[test]
fn thoughts_inside_the_text_are_told_apart() {
    let server = Server::start();
    server.push(Script::new().texts(["<thi", "nk>\nhm\n</th", "ink>\n\nYes."]));
    // The template opened the thoughts: what closes them comes too late for what was printed.
    let late = "hm\n</think>\n\nYes.";
    server.push(Script::new().texts(["hm\n</th", "ink>\n\nYes."]));
    let home = Home::new(&server);
    assert_eq!(home.run(["ask", "Really?"]).ok().stdout, "Yes.\n");
    let events = home.run(["ask", "--json", "Really?"]).ok().events();
    assert_eq!(chunks(&events, false), late, "nothing is told twice");
    let message = events.iter().find(|event| event["type"] == "message").expect("a message");
    assert_eq!((&message["text"], &message["thinking"]), (&"Yes.".into(), &"hm".into()));
}

#[test]
fn a_temporary_chat_is_saved_nowhere() {
    let server = Server::start();
    let home = Home::new(&server);
    server.push(Script::new().text("It is a Xylophon."));
    let said = home.run(["ask", "--temporary", "What is it?"]).ok();
    assert_eq!(said.stdout, "It is a Xylophon.\n");
    assert_eq!(home.sessions().len(), 0);
    let both = home.run(["ask", "--temporary", "--session", "2026-01-01", "What?"]);
    assert_ne!(both.code, Some(0));
}
