//! Checks periodically whether a command uses more than it may, where the kernel has no such limit
//! for all of its processes together.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::fstatvfs;

use crate::command::Limits;
use crate::processes::Family;
use crate::running::Limit;

/// The delay before the first check, and after anything has grown.
const SOON: Duration = Duration::from_millis(50);

/// The delay while nothing grows.
const SELDOM: Duration = Duration::from_millis(500);

/// Checks take at most a twentieth of the time, but no pause is longer than this.
const REST: u32 = 20;
const LONGEST_REST: Duration = Duration::from_secs(10);

/// How often to ask whether a check has finished.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Checks a command.
#[derive(Debug)]
pub(crate) struct Watch {
    bounds: Arc<Bounds>,
    looking: Option<JoinHandle<UsageSample>>,
    pause: Duration,
    /// The longest pause while nothing grows.
    seldom: Duration,
    next: Instant,
}

/// What is checked, and the limits.
#[derive(Debug)]
struct Bounds {
    family: Arc<Family>,
    limits: Limits,
    /// The folder whose disk is checked, and what must stay free there.
    disk: Option<(File, u64)>,
}

/// The result of a check.
#[derive(Debug)]
struct UsageSample {
    too_much: Option<Limit>,
    /// Whether it is close to a limit.
    is_near: bool,
    took: Duration,
}

impl Watch {
    /// `is_long_lived` says that it is checked less often while nothing grows, for it may be idle
    /// for days.
    pub(crate) fn new(
        family: Arc<Family>,
        disk: &Path,
        limits: &Limits,
        is_long_lived: bool,
    ) -> Self {
        let disk = File::open(disk).ok().and_then(|folder| {
            let free = free(&folder)?;
            Some((folder, limits.disk_left.min(free / 2)))
        });
        let bounds = Arc::new(Bounds { family, limits: *limits, disk });
        let seldom = if is_long_lived { SELDOM * 4 } else { SELDOM };
        Self { bounds, looking: None, pause: SOON, seldom, next: Instant::now() + SOON }
    }

    /// When the next check is due.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Starts a check if it is due, on a separate thread, since a command can have many processes.
    /// Returns which limit the last check found exceeded.
    pub(crate) fn check_if_due(&mut self, now: Instant) -> Option<Limit> {
        if now < self.next {
            return None;
        }
        self.next = now + POLL_INTERVAL;
        match self.looking.take() {
            Some(looking) if looking.is_finished() => {
                let look = looking.join().ok()?;
                self.pause = if look.is_near { SOON } else { (self.pause * 2).min(self.seldom) };
                self.next = now + self.pause.max((look.took * REST).min(LONGEST_REST));
                look.too_much
            }
            Some(looking) => {
                self.looking = Some(looking);
                None
            }
            None => {
                let bounds = self.bounds.clone();
                let thread = std::thread::Builder::new().name("sandbox-limits".into());
                self.looking = thread.spawn(move || bounds.sample()).ok();
                None
            }
        }
    }
}

impl Bounds {
    fn sample(&self) -> UsageSample {
        let began = Instant::now();
        let used = self.family.usage();
        let near = |used: u64, limit: u64| used > limit / 8;
        let is_near = near(u64::from(used.processes), u64::from(self.limits.processes))
            || near(used.memory, self.limits.memory);
        // Memory that forked processes share was counted for each of them, so count precisely.
        let is_large = used.memory > self.limits.memory;
        let too_much = if used.processes > self.limits.processes {
            Some(Limit::Processes)
        } else if is_large && self.family.shared_memory() > self.limits.memory {
            Some(Limit::Memory)
        } else {
            self.is_full().then_some(Limit::Disk)
        };
        UsageSample { too_much, is_near, took: began.elapsed() }
    }

    fn is_full(&self) -> bool {
        self.disk.as_ref().is_some_and(|(folder, left)| free(folder).is_some_and(|it| it < *left))
    }
}

/// How many bytes this user may still write.
fn free(folder: &File) -> Option<u64> {
    let disk = fstatvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use crate::processes::Space;

    #[test]
    fn a_look_is_begun_and_what_it_found_is_told_later() {
        let mut parent = Command::new("sh");
        let mut parent = parent.args(["-c", "cat; true"]).stdin(Stdio::piped()).spawn().unwrap();
        let family = Arc::new(Family::Space(Space::of(&parent)));
        while family.usage().processes == 0 {
            std::thread::yield_now();
        }
        let limits = |processes| Limits { processes, ..Limits::default() };
        for (limits, expected) in [(limits(0), Some(Limit::Processes)), (limits(1), None)] {
            let mut watch = Watch::new(family.clone(), Path::new("/"), &limits, false);
            let begun = watch.next();
            assert_eq!(watch.check_if_due(begun), None);
            while watch.looking.as_ref().is_some_and(|looking| !looking.is_finished()) {
                std::thread::yield_now();
            }
            let next = watch.next();
            assert_eq!(watch.check_if_due(next), expected);
            assert!(watch.looking.is_none() && watch.next() > next);
        }
        drop(parent.stdin.take());
        parent.wait().unwrap();
    }
}
