//! Measures what the sandbox costs: starting `true` in each way compared with a bare `sh -c true`,
//! and the memory for a command that prints 1 GB.
//!
//! `cargo run --release -p chat-sandbox --example sandbox-start`

use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use chat_sandbox::{Command, Enforcement, Keep, Preference, Sandbox, Spool};

/// How often each is started, one after the other in turn, so that a busy moment hits all alike.
const ROUNDS: usize = 100;

/// How often before that is measured.
const FIRST: usize = 5;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let project = folder.path().join("project");
    std::fs::create_dir(&project)?;
    let mut ways = Vec::new();
    for way in [Preference::Bubblewrap, Preference::Landlock, Preference::None] {
        let sandbox = Sandbox::probe(way).await;
        if way == Preference::None || sandbox.enforcement() != Enforcement::None {
            ways.push((way, sandbox, Vec::new()));
        }
    }
    let mut bare = Vec::new();
    for round in 0..FIRST + ROUNDS {
        if round == FIRST {
            // What the first ones begin beside them is there then.
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
        let began = Instant::now();
        let mut shell = Process::new("/bin/sh");
        shell.args(["-c", "true"]).stdin(Stdio::null()).stdout(Stdio::null()).status()?;
        let took = began.elapsed();
        bare.extend((round >= FIRST).then_some(took));
        for (way, sandbox, times) in &mut ways {
            let spool =
                Spool::create(&folder.path().join(format!("{way:?}-{round}")), Keep::default())?;
            let began = Instant::now();
            let running = sandbox.spawn(Command::new("true", &project), spool).await?;
            assert!(running.wait().await.is_success());
            let took = began.elapsed();
            times.extend((round >= FIRST).then_some(took));
        }
    }
    // On a machine that is busy the least says more than the median.
    tell("sh -c true", &mut bare);
    for (way, _, times) in &mut ways {
        tell(&format!("{way:?}"), times);
    }

    for (way, sandbox, _) in &ways {
        let spool = Spool::create(&folder.path().join(format!("{way:?}-much")), Keep::default())?;
        let before = memory();
        let began = Instant::now();
        let much = "head -c 1000000000 /dev/zero | tr '\\0' 'x'";
        let running = sandbox.spawn(Command::new(much, &project), spool).await?;
        assert!(running.wait().await.is_success());
        println!(
            "{:<15} {:>8.2} s and {} KiB more at most for {} bytes",
            format!("{way:?}"),
            began.elapsed().as_secs_f64(),
            memory().saturating_sub(before),
            running.spool().bytes()
        );
    }
    Ok(())
}

fn tell(what: &str, times: &mut [Duration]) {
    times.sort();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    let (median, least) = (milliseconds(times[times.len() / 2]), milliseconds(times[0]));
    println!("{what:<15} {median:>8.2} ms, at least {least:.2} ms");
}

/// The most memory that this process has had, in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
}
