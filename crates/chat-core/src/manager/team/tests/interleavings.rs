//! Runs random schedules of everything that can happen to a team: what comes of each piece of work is told once, also
//! after a kill, and nobody stays claimed or halted.
//!
//! `NATTER_SCHEDULES` is how many there are, `NATTER_SCHEDULE_SEED` runs one of them alone.

mod stored;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, resume_unwind};

use futures_util::FutureExt;
use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use tokio::task::JoinHandle;

use self::stored::Stored;
use super::killed::killed;
use super::*;
use crate::store::OwedReport;

/// How many schedules there are, unless `NATTER_SCHEDULES` says so.
const SCHEDULES: u64 = 500;

/// How many of them run at once: they share the commits of the store.
const AT_ONCE: usize = 100;

/// In one of so many the program is killed, too.
const KILLED: u64 = 20;

/// A chat with two agents, and what was asked of them.
struct Schedule<'a> {
    world: &'a World,
    folder: &'a Path,
    seed: u64,
    random: StdRng,
    chat: Fid,
    agents: HashMap<&'static str, Fid>,
    /// Lets answers of agents end.
    gate: Arc<Semaphore>,
    /// Lets the chat's own turn end, which its calls are made in; none where it makes no calls.
    turn: Option<Arc<Semaphore>>,
    /// The calls of the chat.
    calls: Vec<(JoinHandle<()>, CancellationToken)>,
    /// Those of its agents.
    others: Vec<(JoinHandle<()>, CancellationToken)>,
    /// Where the user closes or deletes agents.
    user: Vec<JoinHandle<()>>,
    /// What the chat gave its agents.
    given: HashSet<String>,
    /// The agents that the user has closed, which owe nothing then.
    closed: HashSet<&'static str>,
    messages: usize,
    /// What was done, for the words of a failure.
    log: Vec<String>,
}

const NAMES: [&str; 2] = ["a", "b"];

impl<'a> Schedule<'a> {
    async fn new(world: &'a World, folder: &'a Path, seed: u64) -> Self {
        let connection = format!("test-{seed}");
        let client = Arc::new(Scripted::default());
        let gate = client.hold("message");
        let turn = client.hold("begin");
        world.manager.inner.connections.add_scripted(&connection, client as _);
        let chat = world.chat(&connection).await;
        let mut agents = HashMap::new();
        for name in NAMES {
            agents.insert(name, world.agent(&chat, name).await);
        }
        let mut random = StdRng::seed_from_u64(seed);
        let calls: bool = random.random();
        if calls {
            world.say(&chat, "begin").await;
        }
        Self {
            world,
            folder,
            seed,
            random,
            chat,
            agents,
            gate,
            turn: calls.then_some(turn),
            calls: Vec::new(),
            others: Vec::new(),
            user: Vec::new(),
            given: HashSet::new(),
            closed: HashSet::new(),
            messages: 0,
            log: Vec::new(),
        }
    }

    fn words(&mut self) -> String {
        self.messages += 1;
        format!("message {}", self.messages)
    }

    /// The same for what the chat gives.
    fn given_words(&mut self) -> String {
        let words = self.words();
        self.given.insert(words.clone());
        words
    }

    /// A call of the chat, whose result is stored as soon as it is there.
    fn call(
        &mut self,
        cancel: CancellationToken,
        call: impl Future<Output = Vec<AgentReport>> + Send + 'static,
    ) {
        let (store, chat) = (self.world.manager.inner.shared.store.clone(), self.chat.clone());
        let token = cancel.clone();
        let call = tokio::spawn(async move {
            let mut told = call.await;
            if token.is_cancelled() {
                // On a busy machine its agent may have more to tell after it.
                told.retain(|report| !report.ids.is_empty());
            }
            // Not even who gives the call up keeps its turn from that.
            tokio::spawn(async move { keep(&store, &chat, told).await }).await.unwrap();
        });
        self.calls.push((call, cancel));
    }

    async fn step(&mut self) {
        let team = self.world.team(&self.chat);
        let name = *NAMES.choose(&mut self.random).unwrap();
        let fid = self.agents[name].clone();
        let cancel = CancellationToken::new();
        let which = self.random.random_range(0..12);
        self.log.push(format!("{which} {name}"));
        match which {
            // Only a turn makes them.
            2..=4 if self.turn.is_none() => {}
            0 | 1 => {
                let (words, interrupts) = (self.given_words(), self.random.random());
                // All may be busy.
                let _ = team.tell(name, &words, interrupts).await;
            }
            2 | 3 => {
                let (words, token) = (self.given_words(), cancel.clone());
                self.call(
                    cancel,
                    async move { Vec::from_iter(team.ask(name, &words, &token).await) },
                );
            }
            4 => {
                let token = cancel.clone();
                self.call(cancel, async move {
                    team.wait(None, Duration::from_hours(1), &token).await.unwrap_or_default()
                });
            }
            5 => {
                let other = NAMES.into_iter().find(|other| *other != name).unwrap();
                let caller = self.agents[other].clone();
                let (team, words) = (self.world.team(&caller), self.words());
                let (store, token) =
                    (self.world.manager.inner.shared.store.clone(), cancel.clone());
                let call = tokio::spawn(async move {
                    // Its turn stores the result.
                    let told = Vec::from_iter(team.ask(name, &words, &token).await);
                    keep(&store, &caller, told).await;
                });
                self.others.push((call, cancel));
            }
            6 => {
                let calls = self.calls.iter().map(|(_, cancel)| cancel);
                let all: Vec<_> = calls.chain(self.others.iter().map(|(_, it)| it)).collect();
                if let Some(cancel) = all.choose(&mut self.random) {
                    cancel.cancel();
                }
            }
            7 => {
                if let Some((call, _)) = self.calls.choose(&mut self.random) {
                    call.abort();
                }
            }
            8 => self.world.manager.agents().interrupt(&fid),
            9 => {
                self.closed.insert(name);
                let closing = tokio::spawn(async move {
                    // It may be deleted.
                    let _ = team.close(name).await;
                });
                self.user.push(closing);
            }
            10 => {
                let manager = self.world.manager.clone();
                let deletion = tokio::spawn(async move {
                    // Another may do the same.
                    if manager.sessions().delete(&fid).await.is_ok() {
                        manager.sessions().restore(&fid).await.unwrap();
                    }
                });
                self.user.push(deletion);
            }
            _ => self.gate.add_permits(1),
        }
        for _ in 0..self.random.random_range(0..30) {
            tokio::task::yield_now().await;
        }
    }

    /// Kills the program, and checks what the next start tells.
    async fn kill(&self) {
        let seed = self.seed;
        let all: Vec<_> = self.agents.values().chain([&self.chat]).collect();
        let (folder, world) = killed(self.folder, &all).await;
        for fid in self.agents.values() {
            until(&format!("{seed}: what is owed after a kill"), async || {
                let store = &world.manager.inner.shared.store;
                owed_on_begun(store, fid).await.is_empty().then_some(())
            })
            .await;
        }
        self.check(folder.path(), "after a kill");
        world.manager.shutdown().await;
    }

    /// What came of each piece of work must be told once: by the result of a call, or by a message.
    fn check(&self, folder: &Path, when: &str) {
        let stored = Stored::open(folder);
        let told = stored.told(&self.chat);
        for (name, fid) in &self.agents {
            for reply in stored.replies(fid) {
                if !self.given.contains(&reply.asked) || reply.text.is_empty() {
                    continue;
                }
                let words = format!("{}\"", reply.text);
                let times: usize = told.iter().map(|told| told.matches(&words).count()).sum();
                let is_over = reply.is_deleted || reply.is_interrupted;
                let may_be_lost = self.closed.contains(name) || is_over;
                // Who is stopped may be told before it has ended, and again then.
                let is_wrong = (times == 0 && !may_be_lost) || (times > 1 && reply.is_complete);
                assert!(
                    !is_wrong,
                    "{}: {name}'s “{}” was told {times} times {when}, after {:?}",
                    self.seed, reply.text, self.log
                );
            }
        }
    }

    /// Lets all end, and checks what was told.
    async fn end(mut self) {
        let seed = self.seed;
        self.gate.close();
        for (call, _) in std::mem::take(&mut self.calls) {
            match tokio::time::timeout(PATIENCE, call).await {
                Ok(Ok(())) => {}
                Ok(Err(aborted)) => assert!(aborted.is_cancelled(), "{seed}: {aborted}"),
                Err(elapsed) => panic!("{seed}: a call hangs: {elapsed}"),
            }
        }
        let others = std::mem::take(&mut self.others).into_iter().map(|(call, _)| call);
        let others = others.chain(std::mem::take(&mut self.user));
        for ended in tokio::time::timeout(PATIENCE, join_all(others)).await.expect("it hangs") {
            ended.unwrap();
        }
        if let Some(turn) = &self.turn {
            turn.close();
        }
        let tree = Arc::clone(self.world.session(&self.chat).await.tree());
        let store = &self.world.manager.inner.shared.store;
        for (name, fid) in &self.agents {
            until(&format!("{seed}: the end of {name}"), async || {
                let session = self.world.session(fid).await;
                let at_rest = !session.is_halted() && !session.is_busy_or_begins_next();
                let owed = owed_on_begun(store, fid).await;
                let owes_chat = owed.iter().any(|owed| owed.to == self.chat);
                (at_rest && tree.is_at_rest() && !owes_chat).then_some(())
            })
            .await;
        }
        let chat = self.world.session(&self.chat).await;
        chat.idle().await;
        assert!(!chat.is_halted(), "{seed}");
        self.check(self.folder, "in the end");
    }
}

/// What an agent owes, but for what it still has to begin.
async fn owed_on_begun(store: &Store, agent: &Fid) -> Vec<OwedReport> {
    let waiting: Vec<_> = store.waiting(agent).await.unwrap().into_iter().map(|it| it.id).collect();
    let mut owed = store.owed_reports(agent).await.unwrap();
    owed.retain(|owed| !owed.about.is_some_and(|about| waiting.contains(&about)));
    owed
}

/// Runs the schedule of a seed.
async fn run(world: &World, folder: &Path, seed: u64) {
    let mut schedule = Schedule::new(world, folder, seed).await;
    let steps = schedule.random.random_range(3..10);
    let kill = seed.is_multiple_of(KILLED).then(|| schedule.random.random_range(0..steps));
    for step in 0..steps {
        schedule.step().await;
        if kill == Some(step) {
            schedule.kill().await;
        }
    }
    schedule.end().await;
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_comes_in_between_each_report_is_told_once() {
    let (folder, world) = world().await;
    let many = |settings: &mut crate::settings::Settings| {
        settings.agents.turns = u32::MAX;
    };
    world.manager.settings().change(many).await.unwrap();
    let schedules = variable("NATTER_SCHEDULES").unwrap_or(SCHEDULES);
    assert!(schedules > 0);
    let seeds = match variable("NATTER_SCHEDULE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..schedules,
    };
    for first in seeds.clone().step_by(AT_ONCE) {
        let named = async |seed| {
            let ran = AssertUnwindSafe(run(&world, folder.path(), seed)).catch_unwind().await;
            if let Err(panic) = ran {
                eprintln!("this runs the schedule again: NATTER_SCHEDULE_SEED={seed}");
                resume_unwind(panic);
            }
        };
        let group = first..seeds.end.min(first + AT_ONCE as u64);
        join_all(group.map(named)).await;
    }
}
