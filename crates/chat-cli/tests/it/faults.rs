//! Tests each kind of error from the user's side: the message, the exit code, what is stored, and
//! that the next turn succeeds.

use chat_testkit::fixtures::Refusal;
use chat_testkit::server::{Answer, Gate, Script, Server, unused_port};
use serde_json::json;

use crate::home::{Home, Run, chunks, connection};

/// What a fault comes to.
struct Fault {
    name: &'static str,
    script: Script,
    /// In the sentence on standard error.
    says: &'static str,
    kind: &'static str,
    /// What had arrived.
    text: &'static str,
    ended: &'static str,
}

fn faults() -> Vec<Fault> {
    let error = |message: &str| json!({ "error": message }).to_string();
    let failed =
        |name, script, says, kind| Fault { name, script, says, kind, text: "", ended: "failed" };
    vec![
        failed(
            "wrong key",
            Script::status(401, &error("unauthorized")),
            "needs a key",
            "unauthorized",
        ),
        failed(
            "unknown model",
            Script::status(404, &error("model 'scripted' not found")),
            "“Test” doesn’t have the model “scripted”.",
            "model_not_found",
        ),
        failed(
            "input too long",
            Script::status(400, &error("the input length exceeds the context length")),
            "This chat is too long",
            "input_too_long",
        ),
        failed(
            "busy",
            Script::status(
                503,
                &error("server busy, please try again. maximum pending requests exceeded"),
            ),
            "“Test” is busy.",
            "busy",
        ),
        failed(
            "500",
            Script::status(500, &error("out of memory")),
            "“Test” had an internal error.",
            "server_failed",
        ),
        failed(
            "refused",
            Script::status(418, "short and stout"),
            "“Test” rejected the request.",
            "bad_request",
        ),
        failed("empty reply", Script::new(), "The reply was empty.", "empty_reply"),
        Fault {
            text: "Half of ",
            ..failed(
                "an error object under 200",
                Script::new().text("Half of ").error("the runner crashed"),
                "“Test” had an internal error.",
                "server_failed",
            )
        },
        Fault {
            text: "Half of ",
            ..failed(
                "invalid JSON",
                Script::new().text("Half of ").bytes(&b"{\"message\": nonsense}\n"[..]),
                "“Test” sent a response that Natter can’t read.",
                "invalid_response",
            )
        },
        Fault {
            text: "Half of ",
            ..failed(
                "invalid UTF-8",
                Script::new()
                    .text("Half of ")
                    .bytes(&b"{\"message\":{\"content\":\"\xff\xfe\"}}\n"[..]),
                "“Test” sent a response that Natter can’t read.",
                "invalid_response",
            )
        },
        Fault {
            text: "Half of ",
            ..failed(
                "a line of 100 MB",
                Script::new().text("Half of ").long_line(100 << 20),
                "“Test” sent a line that was too long",
                "line_too_long",
            )
        },
        Fault {
            text: "Half of ",
            ended: "interrupted",
            ..failed(
                "a cut stream",
                Script::new().text("Half of ").cut(),
                "The connection to “Test” was lost before the reply was complete.",
                "cut",
            )
        },
        Fault {
            text: "Half of ",
            ended: "interrupted",
            ..failed(
                "a reset stream",
                Script::new().text("Half of ").reset(),
                "The connection to “Test” was lost before the reply was complete.",
                "cut",
            )
        },
        Fault {
            text: "Half of ",
            ended: "interrupted",
            ..failed(
                "a stream that ends early",
                Script::new().text("Half of ").end_early(),
                "The connection to “Test” was lost before the reply was complete.",
                "cut",
            )
        },
    ]
}

/// The person's next message must go out with all before it, and be answered.
fn next_turn_succeeds(home: &Home, server: &Server, name: &str) {
    let fid = home.fid();
    let run = home.run(["ask", "--session", &fid, "and now?"]);
    assert_eq!(run.code, Some(0), "{name}: {run:#?}");
    let chats = server.chats();
    let sent = chats.last().expect("a request").texts_of("user");
    // Where nothing came of the first, both go out as one.
    assert_eq!(sent.join("\n\n"), "hello\n\nand now?", "{name}");
    assert_eq!(run.stdout, format!("You said: {}\n", sent[sent.len() - 1]), "{name}");
}

#[test]
fn a_failed_reply_says_why_keeps_what_arrived_and_lets_one_go_on() {
    for fault in faults() {
        let name = fault.name;
        let server = Server::start();
        server.push(fault.script);
        let home = Home::new(&server);
        let run = home.run(["ask", "--json", "hello"]);
        assert_eq!(run.code, Some(1), "{name}: {run:#?}");
        assert!(run.stderr.contains(fault.says), "{name}: {}", run.stderr);
        let events = run.events();
        assert_eq!(chunks(&events, false), fault.text, "{name}");
        let error = events.iter().find(|event| event["type"] == "error").expect(name);
        assert_eq!(error["kind"], fault.kind, "{name}");
        assert!(error["message"].as_str().is_some_and(|m| m.contains(fault.says)), "{name}");
        let done = events.last().expect(name);
        assert_eq!(done["type"], "done", "{name}");
        assert!(done["reason"] == "error" || done["reason"] == "interrupted", "{name}: {done}");

        let chat = home.show(&home.fid());
        let reply = &chat["messages"][1];
        assert_eq!(chat["messages"][0]["text"], "hello", "{name}");
        assert_eq!(reply["text"], fault.text, "{name}");
        assert_eq!(reply["ended"], fault.ended, "{name}");
        assert_eq!(reply["error"]["kind"], fault.kind, "{name}");
        next_turn_succeeds(&home, &server, name);
    }
}

#[test]
fn refusals_of_known_servers_are_said_in_a_sentence_with_their_words_behind_it() {
    let server = Server::start();
    let openai = connection(&server.url()).replace("ollama", "openai");
    let homes = [Home::new(&server), Home::with(&openai)];
    // Who is asked to wait is not told so by an error.
    for refusal in Refusal::all().into_iter().filter(|refusal| refusal.kind != "rate_limited") {
        let says = match refusal.kind.as_str() {
            "unauthorized" if refusal.body.get("signin_url").is_some() => {
                "“Test” requires you to sign in."
            }
            "unauthorized" => "“Test” needs a key",
            "model_not_found" => "“Test” doesn’t have the model “scripted”.",
            "wrong_url" => "isn’t a model server. Check its address.",
            "no_credit" => "Your account at “Test” is out of credit.",
            "input_too_long" => "This chat is too long for",
            "content_filtered" => "The content filter of “Test” blocked this.",
            "busy" => "“Test” is busy.",
            "forbidden" => "“Test” doesn’t allow this with your key.",
            "bad_request" => "“Test” rejected the request. See the details",
            "server_failed" => "“Test” had an internal error.",
            "unsupported" => "This model can’t use tools.",
            kind => panic!("a kind without a sentence here: {kind}"),
        };
        server.push(Script::status(refusal.status, &refusal.body.to_string()));
        let home = &homes[usize::from(refusal.server != "Ollama")];
        let run = home.run(["ask", "--json", "hello"]);
        assert_eq!(run.code, Some(1), "{refusal:?}: {run:#?}");
        let events = run.events();
        let error = events.iter().find(|event| event["type"] == "error").expect("an error");
        assert_eq!(error["kind"], *refusal.kind, "{refusal:?}");
        let message = error["message"].as_str().expect("a sentence");
        assert!(message.contains(says), "{message} of {refusal:?}");
        let detail = error["detail"].as_str().expect("the server's words");
        assert!(detail.contains(&refusal.detail), "{detail} of {refusal:?}");
    }
}

#[test]
fn a_filtered_reply_says_so_and_keeps_what_had_come() {
    let server = Server::start();
    let half = json!({ "choices": [{ "delta": { "content": "Half of " } }] });
    let end = json!({ "choices": [{ "delta": {}, "finish_reason": "content_filter" }] });
    server.push(Script::raw(format!("data: {half}\n\ndata: {end}\n\ndata: [DONE]\n\n")));
    let home = Home::with(&connection(&server.url()).replace("ollama", "openai"));
    let run = home.run(["ask", "hello"]);
    assert_eq!((run.code, run.stdout.trim()), (Some(1), "Half of"), "{run:?}");
    assert!(run.stderr.contains("The content filter of “Test” blocked this."), "{run:?}");
    let reply = &home.show(&home.fid())["messages"][1];
    assert_eq!((&reply["text"], &reply["ended"]), (&json!("Half of "), &json!("failed")));
}

#[test]
fn a_server_that_cannot_be_found_is_not_one_that_does_not_run() {
    let home = Home::with(&connection("http://no-such-host.invalid:11434"));
    let run = home.run(["ask", "hello"]);
    let says = "Couldn’t find the server “no-such-host.invalid” of “Test”.";
    assert!(run.code == Some(1) && run.stderr.contains(says), "{run:?}");
    let add = home.run(["connections", "add", "Torn", "--url", "htp:/bla"]);
    assert_eq!(add.code, Some(1), "{add:?}");
    assert!(add.stderr.contains("The address of “Torn” isn’t valid."), "{add:?}");
}

#[test]
fn nothing_answers() {
    let home = Home::with(&connection(&format!("http://127.0.0.1:{}", unused_port())));
    let run = home.run(["ask", "hello"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run:?}");
    assert!(
        run.stderr.contains("Couldn’t connect to “Test”. Make sure the server is running."),
        "{run:?}"
    );
    assert_eq!(home.transcript()[0], ("user".to_owned(), "hello".to_owned()));
    let server = Server::start();
    home.settings(&connection(&server.url()));
    next_turn_succeeds(&home, &server, "unreachable");
}

#[test]
fn something_else_answers() {
    let server = Server::start();
    let page = Answer::new(404, "<html>not here</html>").header("content-type", "text/html");
    server.answer("/api/chat", page);
    let home = Home::new(&server);
    let run = home.run(["ask", "hello"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("isn’t a model server"), "{run:?}");
    server.unanswer("/api/chat");
    next_turn_succeeds(&home, &server, "wrong url");
}

#[test]
fn a_key_is_taken_from_the_environment_and_never_shown() {
    let key = "sk-very-secret-0123456789";
    let server = Server::start().with_key(key);
    let home =
        Home::with(&format!("{}key = {{ env = \"TEST_KEY\" }}\n", connection(&server.url())));
    let wrong =
        Run::of(home.command(["ask", "hello"]).env("TEST_KEY", "wrong").spawn().expect("run"));
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.stderr.contains("refused the key"), "{}", wrong.stderr);
    assert!(!wrong.stderr.contains("TEST_KEY=") && !wrong.stdout.contains("wrong"), "{wrong:?}");

    let fid = home.fid();
    let missing = home.run(["ask", "--session", &fid, "hello"]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.contains("Couldn’t find the key for “Test”."), "{missing:?}");

    let mut command = home.command(["ask", "--json", "--session", &fid, "hello"]);
    let right =
        Run::of(command.env("TEST_KEY", key).env("NATTER_LOG", "trace").spawn().expect("run")).ok();
    assert!(!right.stdout.contains(key) && !right.stderr.contains(key), "{right:#?}");
    let export = home.run(["export", &fid]).ok();
    assert!(!export.stdout.contains(key));
    for entry in std::fs::read_dir(home.path("state/natter/logs")).expect("logs") {
        let log = std::fs::read_to_string(entry.expect("a file").path()).expect("a log");
        assert!(!log.contains(key), "{log}");
    }
}

#[test]
fn too_long_an_input_offers_a_larger_window() {
    let server = Server::start();
    let error = json!({ "error": "the input length exceeds the context length" }).to_string();
    server.push(Script::status(400, &error));
    let home = Home::new(&server);
    let run = home.run(["ask", "hello"]);
    assert!(run.stderr.contains("Try: --context-window 16384"), "{}", run.stderr);
    let fid = home.fid();
    home.run(["ask", "--session", &fid, "--context-window", "16384", "again"]).ok();
    assert_eq!(server.chats()[1].body["options"]["num_ctx"], 16_384);
}

#[test]
fn a_server_that_asks_for_patience_gets_it() {
    let server = Server::start();
    server.push(Script::status(429, "{\"error\":\"slow down\"}").header("retry-after", "1"));
    let home = Home::new(&server);
    let run = home.run(["ask", "--json", "hello"]).ok();
    let events = run.events();
    let limited = events.iter().find(|event| event["stage"] == "rate_limited");
    assert!(limited.is_some_and(|event| event["until"].is_string()), "{events:#?}");
    assert_eq!(chunks(&events, false), "You said: hello");
    assert_eq!(server.chats().len(), 2);
}

#[test]
fn patience_is_shown_to_people() {
    let server = Server::start();
    server.push(Script::status(429, "{\"error\":\"slow down\"}").header("retry-after", "1"));
    let run = Home::new(&server).run(["ask", "hello"]).ok();
    assert!(run.stderr.contains("Trying again in 1 second"), "{}", run.stderr);
    assert_eq!(run.stdout, "You said: hello\n");
}

#[test]
fn who_waits_for_another_chat_is_told_so() {
    let server = Server::start();
    let home = Home::with(&connection(&server.url()).replace("ollama", "openai"));
    for args in [&["ask", "hello"][..], &["ask", "--json", "hello"]] {
        let gate = Gate::new();
        let queued = "data: {\"choices\":[],\"queued\":true}\n\n";
        server.push(Script::new().bytes(queued).gate(&gate).text("at last"));
        let mut child = home.command(args).spawn().expect("the program starts");
        // It is told while it waits, and not afterwards.
        let json = args.contains(&"--json");
        let wanted = if json { "\"queued\"" } else { "Waiting for the reply in another chat" };
        let told: &mut dyn std::io::Read = if json {
            child.stdout.as_mut().expect("its output")
        } else {
            child.stderr.as_mut().expect("its words")
        };
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains(wanted) {
            let mut byte = [0];
            assert_eq!(
                told.read(&mut byte).expect("a byte"),
                1,
                "{}",
                String::from_utf8_lossy(&seen)
            );
            seen.push(byte[0]);
        }
        gate.open();
        assert!(Run::of(child).ok().stdout.contains("at last"));
    }
}

#[test]
fn silence_before_the_first_word_is_waited_for() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().gate_first(&gate).text("loaded"));
    let home = Home::new(&server);
    let child = home.command(["ask", "hello"]).spawn().expect("the program starts");
    gate.wait_reached();
    gate.open();
    assert_eq!(Run::of(child).ok().stdout, "loaded\n");
}

#[test]
fn a_chat_whose_server_is_gone_opens_and_asks_for_another() {
    let server = Server::start();
    let home = Home::new(&server);
    home.run(["ask", "hello"]).ok();
    let fid = home.fid();
    let settings = connection(&server.url()).replace("\"Test\"", "\"Other\"");
    home.settings(&settings);
    assert_eq!(home.transcript().len(), 2);
    let run = home.run(["ask", "--session", &fid, "and now?"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("There is no connection named “Test”."), "{}", run.stderr);
    let args = ["ask", "--session", &fid, "--model", "Other/scripted", "and now?"];
    assert_eq!(home.run(args).ok().stdout, "You said: and now?\n");
    assert_eq!(home.transcript().len(), 4);
}
