//! Tests clients that wait for slots, with a scripted client behind them.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::*;
use crate::client::{Delta, Finish, ModelInfo, Preparing, Reply, Request};
use crate::error::{Error, Kind, Result};
use crate::message::OptionName;

/// The silence after which the scripted client calls its server stalled.
const SILENCE: Duration = Duration::from_mins(2);

/// A client whose replies take some time. It counts those under way.
#[derive(Debug, Default)]
struct Scripted {
    /// How long a reply takes.
    takes: Duration,
    /// Whether its server refuses.
    refuses: bool,
    begun: AtomicU32,
    at_work: Arc<AtomicUsize>,
}

struct AtWork(Arc<AtomicUsize>);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Client for Scripted {
    async fn models(&self) -> Result<Vec<ModelInfo>> {
        Ok(Vec::new())
    }

    async fn model(&self, _: &str) -> Result<ModelInfo> {
        Ok(ModelInfo::default())
    }

    fn takes(&self, _option: OptionName) -> bool {
        true
    }

    async fn chat(&self, _: Request) -> Result<Reply> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.at_work.fetch_add(1, Ordering::SeqCst);
        let at_work = AtWork(Arc::clone(&self.at_work));
        if self.refuses {
            return Err(Kind::RateLimited { retry_after: None }.into());
        }
        let ends = Instant::now() + self.takes;
        // It says something once a minute.
        let pieces = stream::unfold(at_work, move |at_work| async move {
            let pause = ends.saturating_duration_since(Instant::now()).min(SILENCE / 2);
            if pause.is_zero() {
                return None;
            }
            let spoke = timeout(SILENCE, sleep(pause)).await;
            let spoke = spoke.map(|()| vec![Delta::Text("more ".into())]);
            Some((spoke.map_err(|_| Error::from(Kind::Stalled)), at_work))
        });
        let end = stream::once(async { Ok(vec![Delta::Finish(Finish::Stop)]) });
        Ok(pieces.chain(end).boxed())
    }
}

fn lane() -> Lane {
    Lane::of(&ModelRef::new("test", "model"))
}

fn settings(requests: u32) -> Arc<Settings> {
    let connection =
        Connection { name: "test".to_owned(), requests: Some(requests), ..Connection::default() };
    Arc::new(Settings { connections: vec![connection], ..Settings::default() })
}

fn slots(requests: u32) -> RequestSlots {
    let slots = RequestSlots::default();
    slots.take_settings(settings(requests));
    slots
}

fn requester(tree: &str, priority: Priority) -> (Requester, Arc<AtomicBool>) {
    let shown = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&shown);
    let is_shown = Arc::new(move || asked.load(Ordering::SeqCst));
    (Requester { tree: Fid::new(tree), priority, is_shown }, shown)
}

fn replies(slots: &RequestSlots, inner: &Arc<Scripted>, tree: &str) -> Arc<dyn Client> {
    let (requester, _) = requester(tree, Priority::Reply);
    slots.client(Arc::clone(inner) as _, lane(), requester)
}

/// Everything that a reply brings, up to its end.
async fn hear(client: Arc<dyn Client>) -> Result<Vec<Delta>> {
    let mut reply = client.chat(Request::new("model", Vec::new())).await?;
    let mut deltas = Vec::new();
    while let Some(batch) = reply.next().await {
        deltas.extend(batch?);
    }
    Ok(deltas)
}

fn awaiting(before: u32) -> Delta {
    Delta::Preparing(Preparing::AwaitingSlot { before })
}

#[tokio::test(start_paused = true)]
async fn who_waits_hears_how_many_go_before_and_when_it_is_sent() {
    let slots = slots(1);
    let inner = Arc::new(Scripted { takes: Duration::from_hours(1), ..Scripted::default() });
    let names = ["a", "b", "c"];
    let heard = names.map(|name| tokio::spawn(hear(replies(&slots, &inner, name))));
    let mut all = Vec::new();
    for heard in heard {
        all.push(heard.await.unwrap().expect("nobody stalls, though all wait for hours"));
    }
    assert_eq!(all[0][0], Delta::Text("more ".into()), "it did not wait");
    assert_eq!(all[1][..2], [awaiting(0), Delta::Sent]);
    assert_eq!(all[2][..3], [awaiting(1), awaiting(0), Delta::Sent]);
    assert!(all.iter().all(|deltas| deltas.last() == Some(&Delta::Finish(Finish::Stop))));
}

#[tokio::test(start_paused = true)]
async fn a_refused_request_holds_no_slot_while_it_waits_to_be_sent_again() {
    let slots = slots(1);
    let refuses = Arc::new(Scripted { refuses: true, ..Scripted::default() });
    let inner = Arc::new(Scripted { takes: Duration::from_secs(1), ..Scripted::default() });
    let limited = |result: Result<Vec<Delta>>| result.unwrap_err().kind;
    let client = replies(&slots, &refuses, "a");
    assert_eq!(limited(hear(Arc::clone(&client)).await), Kind::RateLimited { retry_after: None });
    let busy = tokio::spawn(hear(replies(&slots, &inner, "b")));
    tokio::task::yield_now().await;
    // Also one that had to wait.
    assert_eq!(limited(hear(client).await), Kind::RateLimited { retry_after: None });
    busy.await.unwrap().unwrap();
    assert!(slots.lock().lanes.is_empty(), "nothing is kept");
}

#[tokio::test(start_paused = true)]
async fn a_chat_that_is_opened_goes_first() {
    let slots = slots(1);
    let inner = Arc::new(Scripted { takes: Duration::from_secs(1), ..Scripted::default() });
    let first = tokio::spawn(hear(replies(&slots, &inner, "a")));
    tokio::task::yield_now().await;
    let waits = tokio::spawn(hear(replies(&slots, &inner, "b")));
    let (requester, shown) = requester("c", Priority::Reply);
    let opened = tokio::spawn(hear(slots.client(Arc::clone(&inner) as _, lane(), requester)));
    tokio::task::yield_now().await;
    shown.store(true, Ordering::SeqCst);
    slots.settle_all();
    first.await.unwrap().unwrap();
    let opened = opened.await.unwrap().unwrap();
    assert!(!waits.is_finished());
    assert_eq!(opened[..3], [awaiting(1), awaiting(0), Delta::Sent], "it hears that it is next");
    waits.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_title_goes_last_and_never_holds_up_a_chat() {
    let slots = slots(1);
    let inner = Arc::new(Scripted { takes: Duration::from_secs(5), ..Scripted::default() });
    let title = || {
        let (requester, _) = requester("a", Priority::Background);
        tokio::spawn(hear(slots.client(Arc::clone(&inner) as _, lane(), requester)))
    };
    let titled = title();
    tokio::task::yield_now().await;
    assert_eq!(inner.at_work.load(Ordering::SeqCst), 1, "nobody else wants the slot");
    let before = Instant::now();
    hear(replies(&slots, &inner, "b")).await.unwrap();
    assert!(before.elapsed() < inner.takes + Duration::from_secs(1), "it did not wait");
    assert!(!titled.is_finished());
    let deltas = titled.await.unwrap().unwrap();
    assert_eq!(deltas[..2], [Delta::Text("more ".into()), Delta::Finish(Finish::Stop)], "once");
    assert_eq!(inner.begun.load(Ordering::SeqCst), 3);
    // It is given up after some times.
    let titled = title();
    for _ in 0..3 {
        sleep(Duration::from_secs(1)).await;
        hear(replies(&slots, &inner, "b")).await.unwrap();
    }
    assert_eq!(titled.await.unwrap().unwrap_err().kind, Kind::Cut);
}

#[test]
fn the_engine_answers_as_many_chats_for_each_model_as_it_has_slots() {
    let mut changed = Settings::clone(&settings(7));
    changed.engine.slots = 3;
    let own = |name: &str| Lane::of(&ModelRef::new(CONNECTION, name));
    assert_ne!(own("a"), own("b"));
    assert_eq!(own("a").limit(&changed), 3);
    assert_eq!(own("a").limit(&Settings::default()), 1);
    let of = |connection: &str, model: &str| Lane::of(&ModelRef::new(connection, model));
    assert_eq!(of("test", "a"), of("test", "b"));
    assert_eq!((lane().limit(&changed), of("found", "a").limit(&changed)), (7, 4));
    for (written, counts) in [(0, 1), (64, 64), (1_000, 64)] {
        assert_eq!(lane().limit(&settings(written)), counts);
    }
}

/// A reply that waits or streams.
struct Running {
    task: JoinHandle<Result<Vec<Delta>>>,
    shown: Arc<AtomicBool>,
}

/// Lets all tasks go as far as they come without time.
async fn pause() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn in_random_schedules_no_slot_is_lost_and_none_is_given_twice() {
    for seed in 0..500 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut limit = 2;
        let slots = slots(limit);
        let inner = Arc::new(Scripted { takes: Duration::from_secs(1), ..Scripted::default() });
        let at_work = || inner.at_work.load(Ordering::SeqCst);
        let mut running: Vec<Running> = Vec::new();
        for _ in 0..25 {
            let before = at_work();
            match random.random_range(0..8) {
                0..4 => {
                    let background = random.random_bool(0.1);
                    let priority = if background { Priority::Background } else { Priority::Reply };
                    let tree = random.random_range(0..4).to_string();
                    let (requester, shown) = requester(&tree, priority);
                    let client = slots.client(Arc::clone(&inner) as _, lane(), requester);
                    running.push(Running { task: tokio::spawn(hear(client)), shown });
                }
                4 => {
                    if let Some(one) = running.choose(&mut random) {
                        one.task.abort();
                    }
                }
                5 => {
                    if let Some(one) = running.choose(&mut random) {
                        one.shown.fetch_not(Ordering::SeqCst);
                        slots.settle_all();
                    }
                }
                6 => {
                    limit = random.random_range(1..5);
                    slots.take_settings(settings(limit));
                }
                _ => sleep(Duration::from_millis(random.random_range(1..700))).await,
            }
            pause().await;
            running.retain(|one| !one.task.is_finished());
            let free = (limit as usize).saturating_sub(at_work());
            assert!(at_work() <= before.max(limit as usize), "more than the limit");
            let waiting = running.len() - at_work();
            assert!(free == 0 || waiting == 0, "{waiting} wait, and {free} slots are free");
        }
        for one in running {
            // What was aborted has no reply. A title may be given up.
            if let Ok(Err(error)) = one.task.await {
                assert_eq!(error.kind, Kind::Cut, "{error}");
            }
        }
        assert_eq!(at_work(), 0);
        assert!(slots.lock().lanes.is_empty(), "nothing is kept");
    }
}
