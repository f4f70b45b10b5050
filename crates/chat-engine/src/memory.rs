//! Measures how much memory the machine has left.

/// What can be used without driving others out, in bytes (`MemAvailable` of proc(5)). None where the
/// system does not say.
pub fn available() -> Option<u64> {
    of(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_systems_words_are_read() {
        let text = "MemTotal:       16 kB\nMemAvailable:   12 kB\n";
        assert_eq!(super::of(text), Some(12 << 10));
        assert_eq!(super::of("MemTotal: 1 kB"), None);
        assert!(super::available().is_some_and(|bytes| bytes > 0));
    }
}
