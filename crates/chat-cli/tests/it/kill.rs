//! `kill -9` at random points: what the server sent before is the oracle of what must be there.

use std::time::{Duration, Instant};

use chat_testkit::server::{Script, Server, text};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use crate::home::{Home, end_of, kill};

/// Names the seed of a failed run: `NATTER_TEST_SEED=… cargo nextest run kill`.
const SEED: &str = "NATTER_TEST_SEED";

/// How many programs are killed.
const ROUNDS: usize = 12;

/// What arrived longer ago than this must be on disk, though two cores be busy.
const JOURNALED: Duration = Duration::from_millis(1_200);

/// How many words the server says a second.
const RATE: f64 = 400.0;

#[test]
fn nothing_that_was_confirmed_is_lost() {
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| StdRng::from_os_rng().random());
    println!("{SEED}={seed}");
    let mut random = StdRng::seed_from_u64(seed);
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
        kill(child.id(), "KILL");
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
    kill(child.id(), "KILL");
    end_of(&mut child);
    let fid = home.fid();
    let kept = home.transcript()[1].1.clone();
    assert!(kept.starts_with(&text::words(1)[0]), "{kept:?}");
    home.run(["ask", "--session", &fid, "go on"]).ok();
    assert_eq!(server.chats()[1].texts_of("assistant"), [kept]);
}
