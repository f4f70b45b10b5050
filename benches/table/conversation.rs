//! What a reply costs the window's thread while it streams in, against one plain text that grows.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use chat_testkit::ui::Desktop;
use serde_json::Value;

use super::Plan;
use super::report::{Goal, Row};

/// Replies of two sizes, one below many earlier messages, one that comes all at once, and one with formulas.
pub async fn streaming(plan: &Plan) -> Result<Vec<Row>> {
    let desktop = Desktop::start().await?;
    let cpu = |what: &str| {
        Row::new(what, "ms CPU", Goal::Times(1.6)).against("appending to one TextView")
    };
    let stall = |what: &str, most| Row::new(what, "ms CPU", Goal::AtMost(most));
    let mut small = cpu("a 40 KB reply with 10 code blocks, 500 chunks/s");
    let mut p99 = stall("main-loop stalls in it, p99", 8.0);
    let mut worst = stall("main-loop stalls in it, worst but for one warm-up", 16.0);
    let mut warm_up = stall("that warm-up", 40.0);
    let mut large = cpu("a 160 KB reply, 500 chunks/s");
    let mut below_p99 = stall("stalls below 500 earlier messages, p99", 8.0);
    let mut below_worst = stall("the same, worst but for one warm-up", 16.0);
    let mut below_warm_up = stall("that warm-up", 40.0);
    let mut burst = stall("2,000 chunks at once, worst stall", 50.0);
    let mut formulas = Row::new("the 40 KB reply with 40 formulas", "ms CPU", Goal::Times(2.0))
        .against("their sources as code");
    for _ in 0..plan.rounds.div_ceil(3) {
        let run = |arguments: &[&str]| measure(plan, &desktop, arguments);
        small.floor.push(number(&run(&["--floor"])?, "cpu_ms")?);
        let natter = run(&[])?;
        small.natter.push(number(&natter, "cpu_ms")?);
        p99.natter.push(number(&natter, "stall_p99_ms")?);
        worst.natter.push(worst_stall(&natter, 1)?);
        warm_up.natter.push(worst_stall(&natter, 0)?);
        large.floor.push(number(&run(&["--kib", "160", "--floor"])?, "cpu_ms")?);
        large.natter.push(number(&run(&["--kib", "160"])?, "cpu_ms")?);
        let below = run(&["--earlier", "500"])?;
        below_p99.natter.push(number(&below, "stall_p99_ms")?);
        below_worst.natter.push(worst_stall(&below, 1)?);
        below_warm_up.natter.push(worst_stall(&below, 0)?);
        burst.natter.push(worst_stall(&run(&["--burst"])?, 0)?);
        formulas.floor.push(number(&run(&["--sources"])?, "cpu_ms")?);
        formulas.natter.push(number(&run(&["--formulas"])?, "cpu_ms")?);
    }
    Ok(vec![
        small,
        large,
        p99,
        worst,
        warm_up,
        below_p99,
        below_worst,
        below_warm_up,
        burst,
        formulas,
    ])
}

fn measure(plan: &Plan, desktop: &Desktop, arguments: &[&str]) -> Result<Value> {
    let mut command: Command = desktop.command(plan.program("examples/conversation_bench"));
    command.args(arguments).env("GTK_A11Y", "none").stdout(std::process::Stdio::piped());
    let output = command.output().context("conversation_bench could not be started")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "conversation_bench failed: {}: {complaint}", output.status);
    let text = String::from_utf8(output.stdout)?;
    let line = text.lines().last().context("conversation_bench said nothing")?;
    Ok(serde_json::from_str(line)?)
}

fn number(report: &Value, name: &str) -> Result<f64> {
    report[name].as_f64().with_context(|| format!("no {name} in {report}"))
}

/// The longest stall, or the next longest.
fn worst_stall(report: &Value, place: usize) -> Result<f64> {
    let stall = report["stall_worst_ms"][place].as_f64();
    stall.with_context(|| format!("no worst stalls in {report}"))
}
