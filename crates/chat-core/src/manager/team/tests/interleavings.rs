//! Runs random schedules of everything that can happen to a team: each report is told once, and nobody
//! stays claimed or halted.

use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use tokio::task::JoinHandle;

use super::*;

/// How many schedules there are, unless `NATTER_SCHEDULES` says so.
const SCHEDULES: u64 = 500;

/// How many of them run at once: they share the commits of the store.
const AT_ONCE: usize = 100;

/// What a call told the chat.
type Told = JoinHandle<Vec<AgentReport>>;

/// A chat with two agents, and what was asked of them.
struct Schedule<'a> {
    world: &'a World,
    random: StdRng,
    chat: Fid,
    agents: HashMap<&'static str, Fid>,
    /// Lets answers of agents end.
    gate: Arc<Semaphore>,
    /// Lets the chat's own turn end, which its calls are made in; none where it makes no calls.
    turn: Option<Arc<Semaphore>>,
    /// The calls of the chat.
    calls: Vec<(Told, CancellationToken)>,
    /// Those of its agents.
    others: Vec<(JoinHandle<()>, CancellationToken)>,
    /// Where the user closes or deletes agents.
    user: Vec<(&'static str, JoinHandle<()>)>,
    /// The agents that were given work in the background, and neither closed nor deleted since.
    owed: Vec<&'static str>,
    /// Whether a caller has gone away before its answer.
    is_aborted: bool,
    messages: usize,
    /// What was done, for the words of a failure.
    log: Vec<String>,
}

const NAMES: [&str; 2] = ["a", "b"];

impl<'a> Schedule<'a> {
    async fn new(world: &'a World, seed: u64) -> Self {
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
            random,
            chat,
            agents,
            gate,
            turn: calls.then_some(turn),
            calls: Vec::new(),
            others: Vec::new(),
            user: Vec::new(),
            owed: Vec::new(),
            is_aborted: false,
            messages: 0,
            log: Vec::new(),
        }
    }

    fn words(&mut self) -> String {
        self.messages += 1;
        format!("message {}", self.messages)
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
                let (words, interrupts) = (self.words(), self.random.random());
                // What the user is about to close owes nothing.
                let closes = self.user.iter().any(|(it, task)| *it == name && !task.is_finished());
                if team.tell(name, &words, interrupts).await.is_ok() && !closes {
                    self.owed.push(name);
                }
            }
            2 | 3 => {
                let (words, token) = (self.words(), cancel.clone());
                let call =
                    tokio::spawn(
                        async move { Vec::from_iter(team.ask(name, &words, &token).await) },
                    );
                self.calls.push((call, cancel));
            }
            4 => {
                let token = cancel.clone();
                let call = tokio::spawn(async move {
                    team.wait(None, Duration::from_hours(1), &token).await.unwrap_or_default()
                });
                self.calls.push((call, cancel));
            }
            5 => {
                let other = NAMES.into_iter().find(|other| *other != name).unwrap();
                let (team, words) = (self.world.team(&self.agents[other]), self.words());
                let token = cancel.clone();
                let call = tokio::spawn(async move {
                    let _ = team.ask(name, &words, &token).await;
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
                    self.is_aborted = true;
                }
            }
            8 => self.world.manager.agents().interrupt(&fid),
            9 => {
                self.owed.retain(|owed| *owed != name);
                let closing = tokio::spawn(async move {
                    // It may be deleted.
                    let _ = team.close(name).await;
                });
                self.user.push((name, closing));
            }
            10 => {
                self.owed.retain(|owed| *owed != name);
                let manager = self.world.manager.clone();
                let deletion = tokio::spawn(async move {
                    // Another may do the same.
                    if manager.sessions().delete(&fid).await.is_ok() {
                        manager.sessions().restore(&fid).await.unwrap();
                    }
                });
                self.user.push((name, deletion));
            }
            _ => self.gate.add_permits(1),
        }
        for _ in 0..self.random.random_range(0..30) {
            tokio::task::yield_now().await;
        }
    }

    /// Lets all end, and checks what was told.
    async fn end(self, seed: u64) {
        let log = self.log.clone();
        self.gate.close();
        let mut told = Vec::new();
        let mut stopped = Vec::new();
        for (call, cancel) in self.calls {
            match tokio::time::timeout(PATIENCE, call).await {
                // On a busy machine its agent may have more to tell after it.
                Ok(Ok(reports)) if cancel.is_cancelled() => stopped.extend(reports),
                Ok(Ok(reports)) => told.extend(reports),
                Ok(Err(aborted)) => assert!(aborted.is_cancelled(), "{seed}: {aborted}"),
                Err(elapsed) => panic!("{seed}: a call hangs: {elapsed}"),
            }
        }
        let user = self.user.into_iter().map(|(_, task)| task);
        let others = self.others.into_iter().map(|(call, _)| call).chain(user);
        for ended in tokio::time::timeout(PATIENCE, join_all(others)).await.expect("it hangs") {
            ended.unwrap();
        }
        if let Some(turn) = self.turn {
            turn.close();
        }
        let tree = Arc::clone(self.world.session(&self.chat).await.tree());
        for (name, fid) in &self.agents {
            until(&format!("{seed}: the end of {name}"), async || {
                let session = self.world.session(fid).await;
                let at_rest = !session.is_halted() && !session.is_busy_or_begins_next();
                (at_rest && tree.is_at_rest() && !self.world.owes(fid).await).then_some(())
            })
            .await;
        }
        let chat = self.world.session(&self.chat).await;
        chat.idle().await;
        assert!(!chat.is_halted(), "{seed}");
        let messages = self.world.messages(&self.chat).await;
        for (index, report) in messages.iter().enumerate() {
            let is_same =
                |other: &AgentReport| !report.text.is_empty() && other.text == report.text;
            let mut others = messages[index + 1..].iter();
            assert!(!others.any(is_same), "{seed}: two messages tell {report:?} after {log:?}");
            // Whoever went away has its report told by a message; another call may have had it, too.
            let by_call = !self.is_aborted && told.iter().any(is_same);
            assert!(!by_call, "{seed}: a call and a message tell {report:?} after {log:?}");
        }
        told.extend(messages);
        told.retain(|report| !report.state.is_at_work());
        told.extend(stopped);
        for name in self.owed {
            assert!(
                told.iter().any(|told| told.name == name),
                "{seed}: {name} was not told after {log:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_comes_in_between_each_report_is_told_once() {
    let (_folder, world) = world().await;
    let many = |settings: &mut crate::settings::Settings| {
        settings.agents.turns = u32::MAX;
    };
    world.manager.settings().change(many).await.unwrap();
    let schedules = std::env::var("NATTER_SCHEDULES").map_or(SCHEDULES, |it| it.parse().unwrap());
    assert!(schedules > 0);
    for first in (0..schedules).step_by(AT_ONCE) {
        let run = async |seed| {
            let mut schedule = Schedule::new(&world, seed).await;
            for _ in 0..schedule.random.random_range(3..10) {
                schedule.step().await;
            }
            schedule.end(seed).await;
        };
        let group = first..schedules.min(first + AT_ONCE as u64);
        join_all(group.map(run)).await;
    }
}
