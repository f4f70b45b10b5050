//! Finds and ends all processes of a command.
//!
//! In bubblewrap they are its descendants: its PID namespace keeps orphans inside. Elsewhere a
//! process could leave its parent, its group and its session. What it cannot get rid of is a limit
//! that it may not raise: each command gets its own value of a limit that the kernel no longer
//! enforces (`RLIMIT_RSS`), and every process with that value belongs to the command. The filter
//! forbids changing it.

mod memory;
mod space;
mod watchdog;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Resource, Signal, getpid, getrlimit, pidfd_open, pidfd_send_signal,
    test_kill_process,
};
use rustix::time::Timespec;

pub(crate) use self::space::Space;
pub(crate) use self::watchdog::Watchdog;

/// More than any machine's memory, with enough numbers left above.
const MARKS: u64 = 1 << 60;

/// How long killed processes may take to disappear.
const GONE: Duration = Duration::from_secs(5);

/// How long to repeat the search while other processes end during it.
const MISSED: Duration = Duration::from_millis(500);

/// How many passes in a row must find no new process. `/proc` is listed in the order of process
/// ids: when these wrap around during a pass, a new process may get an id that the pass has already
/// visited.
const QUIET: u32 = 2;

/// How a command's processes are identified.
#[derive(Debug)]
pub(crate) enum Family {
    /// The descendants of bubblewrap.
    Space(Space),
    /// The processes with this limit.
    Marked(u64),
}

/// Waits for a process to end, and returns whether it has.
pub(crate) fn ends_within(process: &OwnedFd, most: Duration) -> bool {
    let deadline = Instant::now() + most;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).unwrap_or_default();
        match poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&left)) {
            Err(Errno::INTR) => {}
            ended => return ended.is_ok_and(|ended| ended > 0),
        }
    }
}

/// The resources that a command's processes use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ResourceUsage {
    pub(crate) processes: u32,
    /// In bytes.
    pub(crate) memory: u64,
}

/// A limit that no other command has, not even one of another Natter.
pub(crate) fn mark() -> u64 {
    static COUNT: AtomicU16 = AtomicU16::new(0);
    let count = u64::from(COUNT.fetch_add(1, Ordering::Relaxed));
    // If this process itself belongs to a command, only values below its own mark can be set.
    let most = getrlimit(Resource::Rss).maximum.unwrap_or(MARKS).min(MARKS);
    most - ((number_of(getpid()) << 16) | count) - 1
}

/// The process that created a mark, unless it belongs to a command itself.
fn maker(mark: u64) -> Option<Pid> {
    let number = MARKS.checked_sub(mark + 1)? >> 16;
    Pid::from_raw(i32::try_from(number).ok()?)
}

fn number_of(pid: Pid) -> u64 {
    u64::from(pid.as_raw_nonzero().get().cast_unsigned())
}

/// Ends processes that were left running by a program that was killed: commands in bubblewrap end
/// with the program, others are found by their marks. Returns how many there were.
pub fn end_orphans() -> u32 {
    let mut marks: Vec<u64> = all().filter_map(mark_of).collect();
    marks.sort_unstable();
    marks.dedup();
    // A process that may not be signalled exists.
    let is_gone = |maker| test_kill_process(maker) == Err(Errno::SRCH);
    let orphaned = |mark: &u64| maker(*mark).is_some_and(is_gone);
    marks.into_iter().filter(orphaned).map(end_marked).sum()
}

impl Family {
    /// All existing processes, including zombies.
    fn members(&self) -> Vec<Pid> {
        match self {
            Self::Space(space) => space.members(),
            Self::Marked(mark) => marked(*mark),
        }
    }

    /// The resources that they use.
    pub(crate) fn usage(&self) -> ResourceUsage {
        let members = self.members();
        ResourceUsage { processes: members.len() as u32, memory: memory::at_most(&members) }
    }

    /// The memory that they use, with shared memory counted once: slower.
    pub(crate) fn shared_memory(&self) -> u64 {
        memory::counted_once(&self.members())
    }

    /// Ends all of them, and waits until none runs. The process that was started may still have to
    /// be reaped.
    pub(crate) fn end(&self) {
        match self {
            Self::Space(space) => space.end(),
            Self::Marked(mark) => drop(end_marked(*mark)),
        }
    }

    /// Asks all of them to end.
    pub(crate) fn terminate(&self) {
        match self {
            Self::Space(space) => space.terminate(),
            Self::Marked(mark) => drop(signal_all(*mark, Signal::TERM)),
        }
    }

    /// The process that outlives all others except the started one, if there is one: when it ends,
    /// the command ends.
    pub(crate) fn last(&self) -> Option<&OwnedFd> {
        match self {
            Self::Space(space) => space.first(),
            Self::Marked(_) => None,
        }
    }

    /// Ends what is left after the started process has ended; returns how many there were.
    pub(crate) fn end_the_rest(&self) -> u32 {
        match self {
            Self::Space(space) => {
                // The kernel ends them.
                space.wait();
                0
            }
            Self::Marked(mark) => end_marked(*mark),
        }
    }
}

/// Stops all processes before it kills them, since a stopped process neither sees the others end
/// nor starts new ones.
fn end_marked(mark: u64) -> u32 {
    let (stopped, running) = signal_all(mark, Signal::STOP);
    if stopped.is_empty() {
        return 0;
    }
    // A process that is stopped during a fork still creates its child later; one that is killed
    // does not.
    signal_all(mark, Signal::KILL);
    let deadline = Instant::now() + GONE;
    while Instant::now() < deadline {
        let mut left = marked(mark);
        left.retain(|pid| !is_zombie(*pid));
        if left.is_empty() {
            break;
        }
        // Those that the last pass missed because its time was over.
        for pid in left {
            signal_marked(pid, mark, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    running
}

/// Signals each marked process once, including those that are started meanwhile; returns which they
/// were, and how many of them were running.
fn signal_all(mark: u64, signal: Signal) -> (HashSet<Pid>, u32) {
    let begun = Instant::now();
    let (mut signalled, mut others, mut ended): (HashSet<Pid>, HashSet<Pid>, HashSet<Pid>) =
        Default::default();
    let (mut running, mut quiet) = (0, 0);
    while quiet < QUIET && begun.elapsed() < GONE {
        let (mut found, mut missed) = (false, false);
        for pid in newest_first() {
            // A process keeps its mark, so later passes get to the new ones quickly. An id that is
            // reused in between is skipped here, and checked again by the next call.
            if signalled.contains(&pid) || others.contains(&pid) {
                continue;
            }
            match signal_marked(pid, mark, signal) {
                Some(true) => {
                    found = true;
                    signalled.insert(pid);
                    running += u32::from(!is_zombie(pid));
                }
                Some(false) => drop(others.insert(pid)),
                None => missed |= ended.insert(pid),
            }
        }
        // A process that ended meanwhile may have started another, and that one the next: sooner or
        // later one of them is found before it does so. But unrelated processes end, too.
        let is_quiet = !found && (!missed || begun.elapsed() > MISSED);
        quiet = if is_quiet { quiet + 1 } else { 0 };
    }
    (signalled, running)
}

/// Signals a process if it is marked; returns whether it is. None if it has ended.
fn signal_marked(pid: Pid, mark: u64, signal: Signal) -> Option<bool> {
    let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    let is_marked = mark_in(&limits(pid)?) == Some(mark);
    if is_marked {
        let _ = pidfd_send_signal(process, signal);
    }
    Some(is_marked)
}

fn marked(mark: u64) -> Vec<Pid> {
    all().filter(|pid| mark_of(*pid) == Some(mark)).collect()
}

fn all() -> impl Iterator<Item = Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| number(entry.file_name().to_str()?))
}

fn number(name: &str) -> Option<Pid> {
    name.parse().ok().and_then(Pid::from_raw)
}

fn file(pid: Pid, name: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{}/{name}", pid.as_raw_nonzero())).ok()
}

/// All processes, the newest first: their ids are the highest, unless ids have wrapped around.
fn newest_first() -> Vec<Pid> {
    let mut all: Vec<Pid> = all().collect();
    all.sort_unstable_by_key(|pid| Reverse(number_of(*pid)));
    all
}

/// None if the process is gone.
fn limits(pid: Pid) -> Option<String> {
    // If it disappears in between, nothing can be read.
    file(pid, "limits").filter(|limits| !limits.is_empty())
}

fn mark_of(pid: Pid) -> Option<u64> {
    mark_in(&limits(pid)?)
}

/// The hard limit that serves as the mark, from `/proc/PID/limits`:
/// `Max resident set  SOFT  HARD  bytes`.
fn mark_in(limits: &str) -> Option<u64> {
    let line = limits.lines().find(|line| line.starts_with("Max resident set"))?;
    line.split_ascii_whitespace().nth(4)?.parse().ok()
}

fn children(pid: Pid) -> Vec<Pid> {
    let tasks = format!("/proc/{}/task", pid.as_raw_nonzero());
    let tasks = std::fs::read_dir(tasks).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let mut children = Vec::new();
    for list in lists {
        children.extend(list.split_ascii_whitespace().filter_map(number));
    }
    children
}

fn descendants(ancestor: Pid) -> Vec<Pid> {
    let mut found = children(ancestor);
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        let more = children(*pid);
        found.extend(more);
        next += 1;
    }
    found
}

/// Whether a process and all its threads have ended, and it only has not been reaped. The state
/// letter is in `/proc/PID/stat`: `PID (NAME) STATE …`, where NAME may contain anything.
fn is_zombie(pid: Pid) -> bool {
    let Some(stat) = file(pid, "stat") else {
        return true;
    };
    let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start());
    let has_ended = state.is_none_or(|state| state.starts_with(['Z', 'X']));
    has_ended && threads(pid) <= 1
}

fn threads(pid: Pid) -> usize {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()));
    tasks.map_or(0, Iterator::count)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use rustix::process::{Rlimit, prlimit};

    use super::*;

    fn sleeper(mark: u64) -> Child {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        let limit = Rlimit { current: Some(mark), maximum: Some(mark) };
        prlimit(Some(Pid::from_child(&child)), Resource::Rss, limit).unwrap();
        child
    }

    #[test]
    fn marks_differ_and_name_their_maker() {
        let marks = [mark(), mark()];
        assert_ne!(marks[0], marks[1]);
        if getrlimit(Resource::Rss).maximum.is_none() {
            assert_eq!(marks.map(maker), [Some(getpid()); 2]);
        }
    }

    #[test]
    fn orphans_are_ended_and_what_has_a_living_maker_is_not() {
        let mut gone = Command::new("true").spawn().unwrap();
        let number = number_of(Pid::from_child(&gone));
        gone.wait().unwrap();
        let mut orphan = sleeper(MARKS - (number << 16) - 1);
        let living = mark();
        let mut other = sleeper(living);
        assert!(end_orphans() >= 1);
        assert!(!orphan.wait().unwrap().success());
        assert!(other.try_wait().unwrap().is_none());
        assert_eq!(end_marked(living), 1);
        other.wait().unwrap();
    }
}
