//! What the system says of a running program.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A program counts as settled when it has used less than this within a [`QUIET`] time.
const NOTHING: Duration = Duration::from_millis(5);
const QUIET: Duration = Duration::from_millis(1500);

/// Waits until a program has nothing more to do.
pub fn settle(child: &mut Child) -> Result<()> {
    settle_watched(child, |_| Ok(()))
}

/// The same, and looks at it again and again meanwhile.
pub fn settle_watched(child: &mut Child, mut look: impl FnMut(&Child) -> Result<()>) -> Result<()> {
    let deadline = Instant::now() + Duration::from_mins(2);
    let mut since = Instant::now();
    let mut used = cpu(child)?;
    while since.elapsed() < QUIET {
        ensure!(Instant::now() < deadline, "the program never came to rest");
        std::thread::sleep(Duration::from_millis(50));
        look(child)?;
        if let Some(status) = child.try_wait()? {
            bail!("the program ended: {status}");
        }
        let now = cpu(child)?;
        if now > used + NOTHING {
            (since, used) = (Instant::now(), now);
        }
    }
    Ok(())
}

/// The CPU time of all its threads that live, to the nanosecond.
pub fn cpu(child: &Child) -> Result<Duration> {
    let mut all = Duration::ZERO;
    for task in fs::read_dir(format!("/proc/{}/task", child.id()))? {
        // A thread may end while it is looked at.
        if let Ok(stat) = fs::read_to_string(task?.path().join("schedstat")) {
            all += on_cpu(&stat)?;
        }
    }
    Ok(all)
}

/// The same of its main thread alone.
pub fn main_thread_cpu(child: &Child) -> Result<Duration> {
    let id = child.id();
    on_cpu(&fs::read_to_string(format!("/proc/{id}/task/{id}/schedstat"))?)
}

fn on_cpu(schedstat: &str) -> Result<Duration> {
    let first = schedstat.split_whitespace().next().context("no CPU time in schedstat")?;
    Ok(Duration::from_nanos(first.parse()?))
}

/// Its memory in MiB: what is resident.
pub fn memory(child: &Child) -> Result<f64> {
    field(&format!("/proc/{}/status", child.id()), "VmRSS").map(|kib| kib / 1024.0)
}

/// How often each of its threads has been woken from waiting so far.
pub fn wakeups(child: &Child) -> Result<BTreeMap<String, f64>> {
    let mut all = BTreeMap::new();
    for task in fs::read_dir(format!("/proc/{}/task", child.id()))? {
        let file = task?.path().join("status").to_string_lossy().into_owned();
        // A thread may end while it is looked at.
        if let Ok(count) = field(&file, "voluntary_ctxt_switches") {
            all.insert(file, count);
        }
    }
    Ok(all)
}

/// How many wake-ups there were from one count to a later one. What a thread did that has ended in
/// between is not known.
pub fn wakeups_between(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>) -> f64 {
    after.iter().map(|(thread, count)| count - before.get(thread).unwrap_or(&0.0)).sum()
}

fn field(file: &str, name: &str) -> Result<f64> {
    let status = fs::read_to_string(file)?;
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .and_then(|rest| rest.split_whitespace().next())
        .with_context(|| format!("no {name} in {file}"))?;
    Ok(value.parse()?)
}

/// Asks the program to end, and waits for that.
pub fn terminate(child: &mut Child) -> Result<()> {
    kill_process(Pid::from_child(child), Signal::TERM)?;
    child.wait()?;
    Ok(())
}

/// Runs a command to its end and gives the CPU time that it used, to the millisecond.
pub fn cpu_of(command: &Command) -> Result<Duration> {
    // The shell reports what the kernel counted for exactly this child.
    let script = r#"TIMEFORMAT="%3U %3S"; time "$0" "$@" >/dev/null 2>/dev/null"#;
    let mut timed = Command::new("bash");
    timed.arg("-c").arg(script).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => timed.env(name, value),
            None => timed.env_remove(name),
        };
    }
    let output = timed.output()?;
    ensure!(output.status.success(), "{command:?} failed: {}", output.status);
    let said = String::from_utf8(output.stderr)?;
    let seconds: f64 = said
        .split_whitespace()
        .map(|part| part.replace(',', ".").parse::<f64>().context("no time"))
        .sum::<Result<f64>>()?;
    Ok(Duration::from_secs_f64(seconds))
}

/// The longest turn of a program's main loop that ended in this time, of what it wrote of its turns: milliseconds of
/// CPU. Where all that it kept ended at other times, the shortest of these: the turns of this time were shorter.
pub fn longest_turn(stalls: &Value, time: Range<f64>) -> Result<f64> {
    let worst = stalls["cpu"]["worst"].as_array().context("no turns were counted")?;
    let ended = |turn: &&Value| turn["at_ms"].as_f64().is_some_and(|at| time.contains(&at));
    let longest = worst.iter().find(ended).or(worst.last()).and_then(|turn| turn["ms"].as_f64());
    longest.context("no turn was long enough to be known")
}

/// Reads what a program wrote of itself.
pub fn diagnostics(file: &std::path::Path) -> Result<Value> {
    let text = fs::read(file).with_context(|| format!("no diagnostics in {}", file.display()))?;
    Ok(serde_json::from_slice(&text)?)
}
