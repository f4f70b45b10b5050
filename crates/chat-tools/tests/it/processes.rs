//! Finds the processes that a test started, by a number that no other process has.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long a process that was ended may take to go.
const PATIENCE: Duration = Duration::from_secs(20);

/// Seconds to sleep, which no other test sleeps.
pub fn seconds() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("9{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Whether a process sleeps for so long.
pub fn sleeps(seconds: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut lines =
        processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| line.split(|byte| *byte == 0).eq([b"sleep", seconds.as_bytes(), b""]))
}

/// Waits until a process that sleeps for so long runs, or until none does.
pub async fn wait(seconds: &str, runs: bool) {
    let began = Instant::now();
    while sleeps(seconds) != runs {
        assert!(
            began.elapsed() < PATIENCE,
            "the process {}",
            if runs { "never ran" } else { "was left" }
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
