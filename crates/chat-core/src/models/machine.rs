//! Measures the memory and the disk space of this machine, and tells what fits.

use std::fs;
use std::path::Path;

use super::facts::fault_of;
use crate::error::Result;

/// Room that must stay on the disk for everything else, in bytes.
pub(super) const SPARE: u64 = 32 << 20;

/// Whether a model fits into this machine's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It fits, with enough left for the system and other programs.
    Well,
    /// It fits, with little left.
    Tight,
    /// It does not fit.
    TooLarge,
}

/// How many bytes of memory this machine has. None where the system does not say.
pub fn machine_memory() -> Option<u64> {
    total(&fs::read_to_string("/proc/meminfo").ok()?)
}

/// Whether a model that needs so many bytes fits into so many: three quarters of the memory are for
/// the model at most, the rest for everything else.
pub fn fit(needed: u64, memory: u64) -> Fit {
    if needed <= memory / 4 * 3 {
        Fit::Well
    } else if needed <= memory {
        Fit::Tight
    } else {
        Fit::TooLarge
    }
}

/// How many bytes are free on the disk of a folder.
pub(super) fn free_on(folder: &Path) -> Result<u64> {
    let about = rustix::fs::statvfs(folder).map_err(|error| fault_of(folder, &error.into()))?;
    Ok(about.f_bavail.saturating_mul(about.f_frsize))
}

fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_and_judged() {
        assert_eq!(total("MemTotal:       16384000 kB\nMemFree: 1 kB\n"), Some(16_384_000 * 1_024));
        assert_eq!(total("MemFree: 1 kB"), None);
        assert!(machine_memory().is_some_and(|bytes| bytes > 100 << 20));
        assert_eq!(
            (fit(75, 100), fit(76, 100), fit(101, 100)),
            (Fit::Well, Fit::Tight, Fit::TooLarge)
        );
    }
}
