//! Looks now and then whether a command uses more than it may, where the kernel keeps no such
//! limit for all of its processes together.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::fstatvfs;

use crate::command::Limits;
use crate::processes::Family;
use crate::running::Limit;

/// How soon after the beginning, and after anything that grew.
const SOON: Duration = Duration::from_millis(50);

/// How seldom where nothing grows.
const SELDOM: Duration = Duration::from_millis(500);

/// Looking takes at most a twentieth of the time.
const REST: u32 = 20;

/// Looks at a command.
#[derive(Debug)]
pub(crate) struct Watch {
    family: Arc<Family>,
    limits: Limits,
    /// The folder whose disk is looked at, and what must stay free there.
    disk: Option<(File, u64)>,
    pause: Duration,
    next: Instant,
}

impl Watch {
    pub(crate) fn new(family: Arc<Family>, project: &Path, limits: &Limits) -> Self {
        let disk = File::open(project).ok().and_then(|folder| {
            let free = free(&folder)?;
            Some((folder, limits.disk_left.min(free / 2)))
        });
        Self { family, limits: *limits, disk, pause: SOON, next: Instant::now() + SOON }
    }

    /// When it wants to look next.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Looks, if it is time to; says what there is too much of.
    pub(crate) fn look(&mut self, now: Instant) -> Option<Limit> {
        if now < self.next {
            return None;
        }
        let used = self.family.usage();
        let near = |used: u64, limit: u64| used > limit / 8;
        let busy = near(u64::from(used.processes), u64::from(self.limits.processes))
            || near(used.memory, self.limits.memory);
        self.pause = if busy { SOON } else { (self.pause * 2).min(SELDOM) };
        let rest = now.elapsed() * REST;
        self.next = Instant::now() + self.pause.max(rest);

        if used.processes > self.limits.processes {
            return Some(Limit::Processes);
        }
        // What forked processes share was counted for each of them: look closer.
        if used.memory > self.limits.memory && self.family.shared_memory() > self.limits.memory {
            return Some(Limit::Memory);
        }
        let (folder, must_stay) = self.disk.as_ref()?;
        (free(folder)? < *must_stay).then_some(Limit::Disk)
    }
}

/// Bytes that this user may still write.
fn free(folder: &File) -> Option<u64> {
    let disk = fstatvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}
