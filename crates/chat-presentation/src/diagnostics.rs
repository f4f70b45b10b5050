//! Measures the program's speed: with `NATTER_DIAGNOSTICS=FILE` either program writes a JSON object
//! when it ends.
//!
//! Without the variable a [`Diagnostics`] is empty and its methods return at once.

mod histogram;
mod process;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use histogram::{Histogram, Summary};
pub use process::thread_cpu;

/// The variable that names the file.
pub const VARIABLE: &str = "NATTER_DIAGNOSTICS";

/// Takes measurements. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics(Option<Arc<Recorder>>);

/// A moment in the life of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The person sent the message. Begins a new reply of the session.
    Request,
    /// The first text reached the program.
    FirstByte,
    /// The first text was painted or written.
    FirstPaint,
    /// The last text reached the program.
    LastByte,
    /// That was painted or written.
    LastPaint,
}

const MOMENTS: usize = 5;

#[derive(Debug)]
struct Recorder {
    program: &'static str,
    file: PathBuf,
    began: Instant,
    /// How long before `began` the process was started.
    age: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    marks: Vec<(&'static str, f64)>,
    stalls: Stalls,
    replies: Vec<Reply>,
    /// The session's latest reply.
    latest: HashMap<String, usize>,
    switches: Vec<Switch>,
}

#[derive(Clone, Debug, Default)]
struct Stalls {
    wall: Histogram,
    cpu: Histogram,
}

#[derive(Debug)]
struct Reply {
    session: String,
    moments: [Option<f64>; MOMENTS],
    stalls: Stalls,
}

/// The user switches from one chat to another, or from one branch of a chat to another.
#[derive(Clone, Debug, Serialize)]
struct Switch {
    session: String,
    began_ms: f64,
    painted_ms: Option<f64>,
}

impl Diagnostics {
    /// Measures if the environment asks for it. Call it first in `main`.
    pub fn from_env(program: &'static str) -> Self {
        match std::env::var_os(VARIABLE) {
            Some(file) if !file.is_empty() => Self::to_file(program, file.into()),
            _ => Self(None),
        }
    }

    /// Measures, and writes to this file.
    pub fn to_file(program: &'static str, file: PathBuf) -> Self {
        let recorder = Recorder {
            program,
            file,
            began: Instant::now(),
            age: process::age().unwrap_or_default(),
            state: Mutex::default(),
        };
        let this = Self(Some(Arc::new(recorder)));
        this.mark("main");
        this
    }

    /// Whether anything is measured: where it is not, do not measure.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Something was reached (`first_frame`, `ready`). Only its first time counts.
    pub fn mark(&self, name: &'static str) {
        self.with(|state, now| {
            if state.marks.iter().all(|(there, _)| *there != name) {
                state.marks.push((name, now));
            }
        });
    }

    /// One turn of the main loop took this long, and this much of the main thread's CPU. Counted
    /// for the program, and for each reply between its request and its last paint.
    pub fn stall(&self, wall: Duration, cpu: Duration) {
        self.with(|state, now| {
            let running = state.replies.iter_mut().filter(|reply| reply.is_running());
            for stalls in running.map(|reply| &mut reply.stalls).chain([&mut state.stalls]) {
                stalls.wall.add(wall, now);
                stalls.cpu.add(cpu, now);
            }
        });
    }

    /// A reply of this session reached a moment. Only the first time of each counts, but for the
    /// last byte and the last paint, of which the last does.
    pub fn reply(&self, session: &str, moment: Moment) {
        self.with(|state, now| {
            if moment == Moment::Request {
                state.latest.insert(session.to_owned(), state.replies.len());
                state.replies.push(Reply::new(session, now));
            } else if let Some(reply) = state.latest.get(session).map(|i| &mut state.replies[*i]) {
                let place = &mut reply.moments[moment as usize];
                if place.is_none() || matches!(moment, Moment::LastByte | Moment::LastPaint) {
                    *place = Some(now);
                }
            }
        });
    }

    /// The user switches to this session, or to another branch of it.
    pub fn switch_began(&self, session: &str) {
        self.with(|state, now| {
            let session = session.to_owned();
            state.switches.push(Switch { session, began_ms: now, painted_ms: None });
        });
    }

    /// The session or branch to which the user switched was painted. One that they have left again counts, too.
    pub fn switch_painted(&self, session: &str) {
        self.with(|state, now| {
            let switch = state.switches.iter_mut().rfind(|switch| switch.session == session);
            if let Some(switch) = switch {
                switch.painted_ms.get_or_insert(now);
            }
        });
    }

    /// Writes what was measured. May be called again: the last one counts.
    pub fn write(&self) {
        let Some(recorder) = &self.0 else { return };
        let report = recorder.report();
        let written = serde_json::to_vec_pretty(&report)
            .map_err(std::io::Error::from)
            .and_then(|json| std::fs::write(&recorder.file, json));
        if let Err(error) = written {
            tracing::warn!(%error, "diagnostics could not be written");
        }
    }

    fn with(&self, change: impl FnOnce(&mut State, f64)) {
        if let Some(recorder) = &self.0 {
            let now = recorder.now();
            change(&mut recorder.state.lock().unwrap_or_else(PoisonError::into_inner), now);
        }
    }
}

impl Recorder {
    /// Milliseconds from exec.
    fn now(&self) -> f64 {
        ms(self.age + self.began.elapsed())
    }

    fn report(&self) -> Report {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Report {
            program: self.program,
            pid: std::process::id(),
            ended_ms: self.now(),
            times_ms: state.marks.iter().copied().collect(),
            stalls: StallsReport::new(&state.stalls),
            replies: state.replies.iter().map(ReplyReport::new).collect(),
            switches: state.switches.clone(),
            cpu_ms: ms(process::cpu()),
            peak_memory_kib: process::memory_kib("VmHWM"),
            memory_kib: process::memory_kib("VmRSS"),
        }
    }
}

impl Reply {
    fn new(session: &str, now: f64) -> Self {
        let mut moments = [None; MOMENTS];
        moments[Moment::Request as usize] = Some(now);
        Self { session: session.to_owned(), moments, stalls: Stalls::default() }
    }

    fn is_running(&self) -> bool {
        self.moments[Moment::LastPaint as usize].is_none()
    }
}

/// What is written. All times are milliseconds from exec, which the kernel tells to 10 ms only:
/// differences between them are exact.
#[derive(Serialize)]
struct Report {
    program: &'static str,
    pid: u32,
    ended_ms: f64,
    times_ms: BTreeMap<&'static str, f64>,
    stalls: StallsReport,
    replies: Vec<ReplyReport>,
    switches: Vec<Switch>,
    cpu_ms: f64,
    peak_memory_kib: Option<u64>,
    memory_kib: Option<u64>,
}

#[derive(Serialize)]
struct StallsReport {
    wall: Summary,
    cpu: Summary,
}

impl StallsReport {
    fn new(stalls: &Stalls) -> Self {
        Self { wall: stalls.wall.summary(), cpu: stalls.cpu.summary() }
    }
}

#[derive(Serialize)]
struct ReplyReport {
    session: String,
    request_ms: Option<f64>,
    first_byte_ms: Option<f64>,
    first_paint_ms: Option<f64>,
    last_byte_ms: Option<f64>,
    last_paint_ms: Option<f64>,
    stalls: StallsReport,
}

impl ReplyReport {
    fn new(reply: &Reply) -> Self {
        let [request_ms, first_byte_ms, first_paint_ms, last_byte_ms, last_paint_ms] =
            reply.moments;
        Self {
            session: reply.session.clone(),
            request_ms,
            first_byte_ms,
            first_paint_ms,
            last_byte_ms,
            last_paint_ms,
            stalls: StallsReport::new(&reply.stalls),
        }
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn recorder() -> (Diagnostics, tempfile::NamedTempFile) {
        let file = tempfile::NamedTempFile::new().expect("a file");
        (Diagnostics::to_file("test", file.path().to_owned()), file)
    }

    fn written(diagnostics: &Diagnostics, file: &tempfile::NamedTempFile) -> Value {
        diagnostics.write();
        serde_json::from_slice(&std::fs::read(file.path()).expect("read")).expect("JSON")
    }

    #[test]
    fn a_reply_has_its_moments_in_order() {
        let (diagnostics, file) = recorder();
        diagnostics.reply("a", Moment::LastByte);
        diagnostics.reply("a", Moment::Request);
        diagnostics.reply("a", Moment::FirstByte);
        diagnostics.stall(Duration::from_millis(3), Duration::from_millis(2));
        diagnostics.reply("a", Moment::LastPaint);
        diagnostics.stall(Duration::from_millis(5), Duration::from_millis(4));
        let report = written(&diagnostics, &file);
        let replies = report["replies"].as_array().expect("replies");
        assert_eq!(replies.len(), 1);
        let at = |name: &str| replies[0][name].as_f64();
        assert!(at("request_ms") <= at("first_byte_ms"));
        assert!(at("first_byte_ms") <= at("last_paint_ms"));
        assert_eq!(at("last_byte_ms"), None);
        assert_eq!(replies[0]["stalls"]["wall"]["count"], 1);
        assert_eq!(report["stalls"]["cpu"]["count"], 2);
    }

    #[test]
    fn a_mark_counts_once() {
        let (diagnostics, file) = recorder();
        diagnostics.mark("ready");
        let first = written(&diagnostics, &file)["times_ms"]["ready"].as_f64();
        diagnostics.mark("ready");
        let report = written(&diagnostics, &file);
        assert_eq!(report["times_ms"]["ready"].as_f64(), first);
        assert!(report["times_ms"]["main"].as_f64() <= first);
        assert!(report["peak_memory_kib"].as_u64() > Some(100));
    }

    #[test]
    fn each_switch_ends_when_its_chat_was_painted_first() {
        let (diagnostics, file) = recorder();
        diagnostics.switch_painted("a");
        for session in ["a", "b", "a"] {
            diagnostics.switch_began(session);
        }
        diagnostics.switch_painted("a");
        let first = written(&diagnostics, &file);
        diagnostics.switch_painted("a");
        let report = written(&diagnostics, &file);
        assert_eq!(report["switches"], first["switches"]);
        let switches = report["switches"].as_array().expect("switches");
        let painted: Vec<_> = switches.iter().map(|it| it["painted_ms"].as_f64()).collect();
        assert!(painted.len() == 3 && painted[..2] == [None, None], "{painted:?}");
        assert!(switches[2]["began_ms"].as_f64() <= painted[2]);
    }

    #[test]
    fn without_a_file_nothing_is_measured() {
        let diagnostics = Diagnostics::default();
        diagnostics.reply("a", Moment::Request);
        diagnostics.write();
        assert!(!diagnostics.is_on());
    }
}
