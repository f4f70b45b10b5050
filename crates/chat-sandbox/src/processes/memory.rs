//! Measures how much memory processes use that no file on a disk backs.
//!
//! What they share counts too, and so does what is in a file in memory that none of them has mapped: else a
//! command would only have to ask for such memory to have as much as it likes.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;

use rustix::process::Pid;

use super::file;

/// What a file in memory is called that has no name anywhere else, as `/proc/PID/fd` shows it.
const IN_MEMORY: &[u8] = b"/memfd:";

/// Bytes, at most: what several have is counted for each of them.
pub(super) fn at_most(pids: &[Pid]) -> u64 {
    pids.iter().map(|pid| Resident::of(*pid).sum()).sum::<u64>() + open_files(pids)
}

/// The same, counting what they share once: slower.
pub(super) fn counted_once(pids: &[Pid]) -> u64 {
    let (mut own, mut shared) = (0, 0);
    for pid in pids {
        let resident = Resident::proportional(*pid).unwrap_or_else(|| Resident::of(*pid));
        own += resident.own;
        shared += resident.shared;
    }
    // A file in memory may be mapped or not: the larger count has those that are both once.
    own + shared.max(open_files(pids))
}

/// Memory that a process has mapped, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Resident {
    /// Nobody else's, and what of it was swapped out.
    own: u64,
    /// In memory that can be shared, not in files on a disk.
    shared: u64,
}

/// What the kernel needs to know where a process's memory is. It can be much, for little memory far apart.
const TABLES: &str = "VmPTE:";

impl Resident {
    fn sum(self) -> u64 {
        self.own + self.shared
    }

    /// By `/proc/PID/status`, which counts what is shared for each.
    fn of(pid: Pid) -> Self {
        Self::from_status(&file(pid, "status").unwrap_or_default())
    }

    fn from_status(status: &str) -> Self {
        let bytes = |name| bytes(status, name).unwrap_or(0);
        let own = bytes("RssAnon:") + bytes("VmSwap:") + bytes(TABLES);
        Self { own, shared: bytes("RssShmem:") }
    }

    /// By `/proc/PID/smaps_rollup`, each page divided among those who have it; none where that is not told.
    fn proportional(pid: Pid) -> Option<Self> {
        let rollup = file(pid, "smaps_rollup")?;
        let bytes = |name| bytes(&rollup, name);
        let status = file(pid, "status").unwrap_or_default();
        let tables = self::bytes(&status, TABLES).unwrap_or(0);
        let own = bytes("Pss_Anon:")? + bytes("SwapPss:").unwrap_or(0) + tables;
        Some(Self { own, shared: bytes("Pss_Shmem:").unwrap_or(0) })
    }
}

/// A line like `RssAnon:  112 kB`.
fn bytes(lines: &str, name: &str) -> Option<u64> {
    let line = lines.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.split_ascii_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// What files in memory hold that these have open, each counted once.
fn open_files(pids: &[Pid]) -> u64 {
    let mut found = HashMap::new();
    for pid in pids {
        let open = std::fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero()));
        for entry in open.into_iter().flatten().flatten() {
            use std::os::unix::ffi::OsStrExt;
            // Only of these is asked: what else is open may lie on a disk that does not answer.
            let path = entry.path();
            let name = std::fs::read_link(&path).unwrap_or_default();
            if name.as_os_str().as_bytes().starts_with(IN_MEMORY)
                && let Ok(file) = path.metadata()
            {
                found.insert((file.dev(), file.ino()), file.blocks() * 512);
            }
        }
    }
    found.into_values().sum()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use rustix::fs::{MemfdFlags, memfd_create};

    use super::*;

    #[test]
    fn a_file_in_memory_counts_once_though_nobody_has_it_mapped() {
        let pid = rustix::process::getpid();
        let before = open_files(&[pid]);
        let mut file = File::from(memfd_create("counted", MemfdFlags::CLOEXEC).unwrap());
        file.write_all(&vec![1; 3 << 20]).unwrap();
        let _again = file.try_clone().unwrap();
        let more = open_files(&[pid, pid]) - before;
        assert!((3 << 20..4 << 20).contains(&more), "{more}");
    }

    #[test]
    fn what_the_kernel_needs_for_a_process_counts_as_its_own() {
        let status = "VmPTE:\t 64 kB\nVmSwap:\t 2 kB\nRssAnon:\t 8 kB\nRssFile:\t 999 kB\nRssShmem:\t 4 kB\n";
        assert_eq!(Resident::from_status(status), Resident { own: 74 << 10, shared: 4 << 10 });
        let own = Resident::proportional(rustix::process::getpid()).unwrap();
        assert!(
            own.own > bytes(&file(rustix::process::getpid(), "status").unwrap(), TABLES).unwrap()
        );
    }

    #[test]
    fn a_line_is_read_in_kilobytes() {
        let lines = "Rss:  8 kB\nPss_Anon:             116 kB\nPss_Shmem:  none\n";
        assert_eq!(bytes(lines, "Pss_Anon:"), Some(116 << 10));
        assert_eq!(bytes(lines, "Pss_Shmem:"), None);
        assert_eq!(bytes(lines, "SwapPss:"), None);
    }
}
