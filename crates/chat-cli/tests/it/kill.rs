//! Tests `kill -9` at random points: everything that the server had sent must be stored.

use std::time::{Duration, Instant};

use chat_testkit::server::{Script, Server, text};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::home::{Home, end_of};
use crate::tools::Scene;

/// Names the seed of a failed run: `NATTER_TEST_SEED=… cargo nextest run kill`.
const SEED: &str = "NATTER_TEST_SEED";

/// How many programs are killed.
const ROUNDS: usize = 12;

/// What arrived longer ago than this must be on disk, though two cores be busy.
const JOURNALED: Duration = Duration::from_millis(1_200);

/// How many words the server says a second.
const RATE: f64 = 400.0;

/// A seed of its own, or that of a failed run.
fn random() -> StdRng {
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| StdRng::from_os_rng().random());
    println!("{SEED}={seed}");
    StdRng::seed_from_u64(seed)
}

#[test]
fn nothing_that_was_confirmed_is_lost() {
    let mut random = random();
    let server = Server::start();
    let words: Vec<String> = (0..40_000).map(|n| format!("{n} ")).collect();
    server.always(Script::new().thinking("well, ").paced(words, RATE));
    let home = Home::new(&server);
    let mut expected_chats = 0;
    for round in 0..ROUNDS {
        let life = Duration::from_millis(random.random_range(0..3_500));
        let mut child =
            home.command(["ask", &format!("question {round}")]).spawn().expect("started");
        let samples = watch(&server, round, life);
        let killed = Instant::now();
        child.kill().expect("killed");
        end_of(&mut child);
        let old = samples.into_iter().rfind(|(at, _)| killed - *at >= JOURNALED);
        let sent_before = old.map(|(_, text)| text);
        let sent_after = sent(&server, round);
        check(&home, round, sent_before.as_deref(), sent_after.as_deref(), &mut expected_chats);
    }
    let run = home.run(["sessions"]).ok();
    assert_eq!(run.stdout.lines().count(), expected_chats);
}

/// What the server has said in answer to a round's question; none where it was not asked.
fn sent(server: &Server, round: usize) -> Option<String> {
    let question = format!("question {round}");
    let chat = server.chats().into_iter().find(|c| c.texts_of("user").contains(&question))?;
    Some(chat.sent().text)
}

/// What the server had said at many moments of this time.
fn watch(server: &Server, round: usize, life: Duration) -> Vec<(Instant, String)> {
    let began = Instant::now();
    let mut samples = Vec::new();
    while began.elapsed() < life {
        if let Some(text) = sent(server, round) {
            samples.push((Instant::now(), text));
        }
        // Not a wait for anything: the time between two samples.
        std::thread::sleep(Duration::from_millis(20));
    }
    samples
}

fn check(
    home: &Home,
    round: usize,
    before: Option<&str>,
    after: Option<&str>,
    expected_chats: &mut usize,
) {
    let question = format!("question {round}");
    let sessions = home.sessions();
    let session = sessions.iter().find(|session| session["title"] == question.as_str());
    // What reached the server was confirmed, so it was on disk before.
    let Some(session) = session else {
        assert!(after.is_none(), "round {round}: the message is lost: {sessions:#?}");
        return;
    };
    *expected_chats += 1;
    let chat = home.show(session["fid"].as_str().expect("a fid"));
    let messages = chat["messages"].as_array().expect("messages");
    assert_eq!(messages[0]["text"], question.as_str(), "round {round}");
    let Some(reply) = messages.get(1) else {
        panic!("round {round}: the beginning of the reply is stored with its question");
    };
    assert_eq!(reply["ended"], "interrupted", "round {round}: {reply:#}");
    let text = reply["text"].as_str().expect("text");
    let after = after.unwrap_or_default();
    assert!(after.starts_with(text), "round {round}: not a prefix of what was sent: {text:?}");
    let before = before.unwrap_or_default();
    assert!(
        text.starts_with(before),
        "round {round}: {} bytes of {} older than {JOURNALED:?} are lost",
        before.len().saturating_sub(text.len()),
        before.len(),
    );
    let shown = home.run(["show", session["fid"].as_str().expect("a fid")]).ok();
    assert!(shown.stdout.contains("[This reply was interrupted.]"), "{}", shown.stdout);
}

#[test]
fn after_a_kill_one_goes_on_where_it_was() {
    let server = Server::start();
    server.push(Script::new().paced(text::words(10_000), RATE));
    let home = Home::new(&server);
    let mut child = home.command(["ask", "hello"]).spawn().expect("started");
    crate::home::wait_until("some text on disk", || {
        let sessions = home.sessions();
        let fid = sessions.first().and_then(|session| session["fid"].as_str());
        fid.is_some_and(|fid| home.show(fid)["messages"][1]["text"] != "")
    });
    child.kill().expect("killed");
    end_of(&mut child);
    let fid = home.fid();
    let kept = home.transcript()[1].1.clone();
    assert!(kept.starts_with(&text::words(1)[0]), "{kept:?}");
    home.run(["ask", "--session", &fid, "go on"]).ok();
    assert_eq!(server.chats()[1].texts_of("assistant"), [kept]);
}

/// Says how often programs are killed among rounds of tools.
const KILLS: &str = "NATTER_TEST_KILLS";

/// What each reply says, in words, and how fast.
const SAID: usize = 120;
const SAID_A_SECOND: f64 = 100.0;

#[test]
fn chats_that_are_killed_among_their_tools_are_interrupted_and_go_on() {
    let mut random = random();
    let kills = std::env::var(KILLS).ok().and_then(|kills| kills.parse().ok()).unwrap_or(6);
    for _ in 0..kills {
        kill_among_tools(Duration::from_millis(random.random_range(0..9_000)));
    }
}

fn kill_among_tools(life: Duration) {
    let server = Server::start();
    let scene = Scene::new(&server);
    let slow = "i=0; while [ $i -lt 24 ]; do echo line $i; i=$((i+1)); sleep 0.05; done\n";
    std::fs::write(scene.project.join("slow.sh"), slow).expect("a file");
    let said = |name: &str| Script::new().paced(words_of(name), SAID_A_SECOND);
    let runs = |script: Script, id: &str| {
        script.tool_call(id, "run_command", json!({ "command": "sh slow.sh" }))
    };
    let reads =
        |script: Script, id: &str| script.tool_call(id, "read_file", json!({ "path": "test.sh" }));
    server.push(runs(said("first"), "c1"));
    server.push(reads(said("second"), "c2"));
    server.push(runs(reads(said("third"), "c3"), "c4"));
    server.push(said("fourth"));

    let args = scene.args(&["--allow", "run:sh slow.sh"]);
    let mut child = scene.home.command(args).spawn().expect("started");
    let texts = || server.chats().iter().map(|chat| chat.sent().text).collect::<Vec<_>>();
    let began = Instant::now();
    let mut samples = Vec::new();
    while began.elapsed() < life && child.try_wait().expect("its state").is_none() {
        samples.push((Instant::now(), texts()));
        // Not a wait for anything: the time between two samples.
        std::thread::sleep(Duration::from_millis(20));
    }
    let killed = Instant::now();
    child.kill().expect("killed");
    let survived = end_of(&mut child).success();
    let old = samples.into_iter().rfind(|(at, _)| killed - *at >= JOURNALED);
    let old = old.map(|(_, texts)| texts).unwrap_or_default();
    let sent = texts();

    let sessions = scene.home.sessions();
    let Some(session) = sessions.first() else {
        assert!(sent.is_empty(), "the chat is lost: {sent:?}");
        return;
    };
    let fid = session["fid"].as_str().expect("a fid");
    let over = sent.len() == 4 && sent[3] == words_of("fourth").concat();
    if session["trouble"] == Value::Null {
        let chat = || scene.home.show(fid);
        assert!(over, "after {life:?} all looks well: {session:#}, and later {:#}", chat());
    } else {
        assert_eq!(session["trouble"], "interrupted", "after {life:?}");
        assert!(!survived, "it had ended well after {life:?}");
    }
    let chat = scene.home.show(fid);
    let messages = chat["messages"].as_array().expect("messages");
    let of = |role: &str| messages.iter().filter(|m| m["role"] == role).collect::<Vec<_>>();
    let replies = of("assistant");
    assert!(replies.len() >= sent.len().min(1), "{life:?}: {messages:#?}");
    for (at, sent) in sent.iter().enumerate() {
        let kept = replies.get(at).and_then(|reply| reply["text"].as_str()).unwrap_or_default();
        assert!(sent.starts_with(kept), "{life:?}: never said: {kept:?}");
        let old = old.get(at).map_or("", String::as_str);
        assert!(kept.starts_with(old), "{life:?}: lost since {old:?}: {kept:?}");
        let is_last = at + 1 == server.chats().len();
        assert!(is_last || kept == sent, "{life:?}: a reply that was answered: {kept:?}");
    }
    let results = of("tool");
    let result_of = |id: &str| {
        let all = results.iter().flat_map(|m| m["tool_results"].as_array().into_iter().flatten());
        all.filter(|result| result["call"] == id).map(|result| result["text"].to_string()).next()
    };
    if sent.len() > 1 {
        assert!(result_of("c1").is_some_and(|text| text.contains("line 23")), "{results:#?}");
    } else if let Some(output) = result_of("c1") {
        assert!(output.contains("line 0"), "{output}");
        let is_whole = output.contains("line 23");
        assert!(
            is_whole || output.contains("Natter quit while this was running"),
            "{life:?}: {output}"
        );
    }

    // It goes on where it was, and each call has a result that the model can read.
    server.when("go on", Script::new().text("And on."));
    let run = scene.home.run(["ask", "--session", fid, "go on"]).ok();
    assert_eq!(run.stdout, "And on.\n", "{life:?}: {run:#?}");
    let body = server.chats().last().expect("a request").body.clone();
    let told = body["messages"].as_array().expect("messages");
    let calls: usize = told.iter().filter_map(|m| m["tool_calls"].as_array()).map(Vec::len).sum();
    let answers = told.iter().filter(|m| m["role"] == "tool").count();
    assert_eq!(calls, answers, "{life:?}: {body:#}");
    assert_eq!(scene.home.sessions()[0]["trouble"], Value::Null, "{life:?}");
}

fn words_of(name: &str) -> Vec<String> {
    (0..SAID).map(|n| format!("{name} {n} ")).collect()
}
