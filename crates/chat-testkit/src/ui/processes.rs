//! Finds and ends the processes on a desktop, including their descendants.
//!
//! A bus starts services by itself, and those start others, so their ids are not known here. All
//! inherit one environment variable that names the desktop's folder.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// The variable that every process of a desktop carries.
pub const MARK: &str = "NATTER_TEST_DESKTOP";

/// The ids of the running processes with this desktop's mark.
pub fn marked(folder: &Path) -> Vec<Pid> {
    let wanted = format!("{MARK}={}", folder.display());
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(Pid::from_raw)
        .filter(|pid| {
            // The environment of a zombie cannot be read.
            fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()))
                .is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes()))
        })
        .collect()
}

/// Ends them all, and waits until they are gone.
pub fn end(folder: &Path) {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let alive = marked(folder);
        if alive.is_empty() || Instant::now() > deadline {
            return;
        }
        for pid in alive {
            // It may already be gone.
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
