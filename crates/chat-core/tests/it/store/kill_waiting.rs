//! `kill -9` while messages wait, are delivered, taken back and moved: each is there once, always.

use std::sync::Arc;
use std::time::Duration;

use chat_core::message::{Content, Context, Delivery, Fid, Message, MessageId, Queued};
use chat_core::store::WaitingPlace;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{open, reply, titled, user};
use crate::another::{self, Talking, say};

/// How often the process is killed.
const KILLS: u32 = 8;

fn queued(text: &str) -> Queued {
    let (content, context) = (Content::text(text), Context::default());
    Queued { id: MessageId::new(), content, context, delivery: Delivery::Steer }
}

fn message(parent: MessageId, queued: &Queued) -> Arc<Message> {
    Arc::new(Message { id: queued.id, ..Message::clone(&user(Some(parent), &queued.content.text)) })
}

#[tokio::test]
#[ignore = "run by another test, in a process of its own"]
async fn delivers_until_it_is_killed() {
    let store = open(&another::folder());
    store.recover().await.unwrap();
    let asked = user(None, "?");
    let mut head = asked.id;
    let fid = store.create(titled("waiting"), vec![asked]).await.unwrap().meta.fid;
    say(fid.as_str());
    another::wait();
    for at in 0.. {
        let (one, other) = (queued(&format!("one {at}")), queued(&format!("other {at}")));
        store.enqueue(&fid, one.clone()).await.unwrap();
        say(&one.content.text);
        store.enqueue_first(&fid, other.clone()).await.unwrap();
        say(&other.content.text);
        another::wait();
        assert!(store.move_waiting(&fid, one.id, WaitingPlace::First).await.unwrap());
        let first = message(head, &one);
        let second = message(first.id, &other);
        let begun = reply(&second);
        let messages = vec![first, second, Arc::new(begun.clone())];
        let ids = vec![one.id, other.id];
        assert!(store.append_waiting(&fid, messages.clone(), begun.id, ids.clone()).await.unwrap());
        // They wait no more: nothing is added a second time.
        assert!(!store.append_waiting(&fid, messages, begun.id, ids).await.unwrap());
        let again = Arc::new(Message::reply(Some(head), begun.model.clone().unwrap()));
        let back = vec![one.clone(), other.clone()];
        store.take_back(&fid, &begun, back, Arc::clone(&again)).await.unwrap();
        let waiting = store.waiting(&fid).await.unwrap();
        // They were refused, and so would others be.
        let at_end = |queued: &Queued| Queued { delivery: Delivery::Queue, ..queued.clone() };
        assert_eq!(waiting, [at_end(&one), at_end(&other)]);
        store.withdraw(&fid, &again).await.unwrap();
        let first = message(head, &one);
        assert!(store.append_waiting(&fid, vec![first], one.id, vec![one.id]).await.unwrap());
        let second = message(one.id, &other);
        assert!(store.append_waiting(&fid, vec![second], other.id, vec![other.id]).await.unwrap());
        head = other.id;
    }
}

#[tokio::test]
async fn a_waiting_message_survives_kill_9_once() {
    let seed = std::env::var("NATTER_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| StdRng::from_os_rng().random());
    println!("NATTER_TEST_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    for _ in 0..KILLS {
        let folder = tempfile::tempdir().unwrap();
        let name = "store::kill_waiting::delivers_until_it_is_killed";
        let mut writer = Talking::start(name, folder.path());
        let fid = Fid::new(writer.hear().unwrap());
        let mut confirmed = Vec::new();
        for _ in 0..random.random_range(1..5) {
            writer.go_on();
            confirmed.extend([writer.hear().unwrap(), writer.hear().unwrap()]);
        }
        // Anywhere in what follows.
        writer.let_run();
        std::thread::sleep(Duration::from_micros(random.random_range(0..4_000)));
        confirmed.extend(writer.kill());

        let store = open(folder.path());
        store.recover().await.unwrap();
        let waiting = store.waiting(&fid).await.unwrap();
        let said = store.page(&fid, None, usize::MAX).await.unwrap().messages;
        for text in confirmed {
            let waits = waiting.iter().filter(|queued| queued.content.text == text).count();
            let is_said = said.iter().filter(|message| message.plain_text() == text).count();
            assert_eq!(waits + is_said, 1, "{text} waits {waits} times, is said {is_said} times");
        }
    }
}
