//! Measures this process.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// How long ago the kernel started this process, as exactly as it says: to a clock tick of 10 ms.
pub(super) fn age() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let started = start_ticks(&stat)?;
    let started = started as f64 / rustix::param::clock_ticks_per_second() as f64;
    let since_boot = duration(clock_gettime(ClockId::Boottime)).as_secs_f64();
    Duration::try_from_secs_f64(since_boot - started).ok()
}

/// The 22nd field; the second, the program's name in parentheses, may hold anything.
fn start_ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// The CPU time of the whole process so far.
pub(super) fn cpu() -> Duration {
    duration(clock_gettime(ClockId::ProcessCPUTime))
}

/// The CPU time of the calling thread so far.
pub fn thread_cpu() -> Duration {
    duration(clock_gettime(ClockId::ThreadCPUTime))
}

fn duration(time: Timespec) -> Duration {
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// A line of `/proc/self/status` in KiB: `VmHWM`, `VmRSS`.
pub(super) fn memory_kib(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_blanks_and_parentheses_is_no_trap() {
        let rest: Vec<String> = (4..=52).map(|field: u32| field.to_string()).collect();
        let stat = format!("1234 (a b) c) S {}", rest.join(" "));
        assert_eq!(start_ticks(&stat), Some(22));
    }

    #[test]
    fn this_process_has_an_age_and_memory() {
        let age = age().expect("an age");
        assert!(age < Duration::from_hours(1), "{age:?}");
        assert!(memory_kib("VmHWM").expect("a peak") > 100);
    }
}
