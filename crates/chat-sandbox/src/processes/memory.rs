//! Measures how much memory processes use that is not backed by a file on disk.
//!
//! Shared memory counts too, and so do files in memory that none of them has mapped. Otherwise a
//! command could use such memory without any limit.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;

use rustix::process::Pid;

use super::file;

/// The prefix of an unnamed file in memory, as `/proc/PID/fd` shows it.
const IN_MEMORY: &[u8] = b"/memfd:";

/// An upper limit in bytes: shared memory is counted for each process.
pub(super) fn at_most(pids: &[Pid]) -> u64 {
    pids.iter().map(|pid| Resident::of(*pid).sum()).sum::<u64>() + open_files(pids)
}

/// The same with shared memory counted once: slower.
pub(super) fn counted_once(pids: &[Pid]) -> u64 {
    let (mut own, mut shared) = (0, 0);
    for pid in pids {
        let resident = Resident::proportional(*pid).unwrap_or_else(|| Resident::of(*pid));
        own += resident.own;
        shared += resident.shared;
    }
    // A file in memory may be mapped or not: the larger number counts those that are both only
    // once.
    own + shared.max(open_files(pids))
}

/// A process's mapped memory, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Resident {
    /// Private memory, and what of it was swapped out.
    own: u64,
    /// Shareable memory that is not in files on a disk.
    shared: u64,
}

/// The kernel's page tables, which can be large if little memory is widely spread.
const TABLES: &str = "VmPTE:";

impl Resident {
    fn sum(self) -> u64 {
        self.own + self.shared
    }

    /// From `/proc/PID/status`, which counts shared memory for each process.
    fn of(pid: Pid) -> Self {
        Self::from_status(&file(pid, "status").unwrap_or_default())
    }

    fn from_status(status: &str) -> Self {
        let bytes = |name| bytes(status, name).unwrap_or(0);
        let own = bytes("RssAnon:") + bytes("VmSwap:") + bytes(TABLES);
        Self { own, shared: bytes("RssShmem:") }
    }

    /// From `/proc/PID/smaps_rollup`, with each page divided among its processes; none if it is
    /// unavailable.
    fn proportional(pid: Pid) -> Option<Self> {
        let rollup = file(pid, "smaps_rollup")?;
        let bytes = |name| bytes(&rollup, name);
        let status = file(pid, "status").unwrap_or_default();
        let tables = self::bytes(&status, TABLES).unwrap_or(0);
        let own = bytes("Pss_Anon:")? + bytes("SwapPss:").unwrap_or(0) + tables;
        Some(Self { own, shared: bytes("Pss_Shmem:").unwrap_or(0) })
    }
}

/// Parses a line like `RssAnon:  112 kB`.
fn bytes(lines: &str, name: &str) -> Option<u64> {
    let line = lines.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.split_ascii_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// The size of the files in memory that these have open, each counted once.
fn open_files(pids: &[Pid]) -> u64 {
    let mut found = HashMap::new();
    for pid in pids {
        let open = std::fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero()));
        for entry in open.into_iter().flatten().flatten() {
            use std::os::unix::ffi::OsStrExt;
            // Only these are queried: other files may be on a disk that does not respond.
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
