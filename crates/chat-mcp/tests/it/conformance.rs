//! Has the checks of the protocol's authors judge the client, one scenario after another. Each starts a server and then
//! the client, which is this same program: [`client`].

mod client;

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use chat_testkit::mcp::OtherServers;
use futures_util::{StreamExt, stream};
use tokio::process::Command;
use tokio::time::timeout;

/// The variable with the path of this program: the checks cut their command at blanks, wherever these are.
const PROGRAM: &str = "NATTER_TEST_CONFORMANCE_CLIENT";
/// The command that starts the client. The checks add the address of their server.
const COMMAND: &str =
    "\"$NATTER_TEST_CONFORMANCE_CLIENT\" --ignored --exact conformance::client::client --nocapture";
/// So many scenarios run at the same time.
const AT_ONCE: usize = 3;
/// Far longer than one takes: the checks themselves end a client after half of it.
const PATIENCE: Duration = Duration::from_mins(1);

const OLDER: &str = "2025-11-25";
const LATEST: &str = "2026-07-28";

/// Scenarios of neither revision, which judge what Natter does not do, and what that is.
const NOT_DONE: [(&str, &str); 12] = [
    ("auth/client-credentials-jwt", "an extension: a program signs in, with nobody in front of it"),
    ("auth/client-credentials-basic", "the same"),
    ("auth/wif-jwt-bearer", "the same"),
    ("auth/enterprise-managed-authorization", "an extension: a company signs its people in"),
    ("auth/dpop", "an extension: tokens that are bound to a key"),
    ("auth/dpop-nonce", "the same"),
    ("auth/2025-03-26-oauth-metadata-backcompat", "a revision before the two"),
    ("auth/2025-03-26-oauth-endpoint-fallback", "the same"),
    ("sep-2640-client-no-prefetch", "an extension: skills that servers have"),
    ("sep-2640-client-verify-digest", "the same"),
    ("sep-2640-client-verify-size", "the same"),
    ("sep-2640-client-verify-frontmatter", "the same"),
];

#[tokio::test]
async fn the_client_conforms_to_the_older_revision() {
    conforms(OLDER).await;
}

#[tokio::test]
async fn the_client_conforms_to_the_latest_revision() {
    conforms(LATEST).await;
}

#[tokio::test]
async fn each_scenario_is_run_or_known_not_to_be() {
    let Some(others) = OtherServers::find() else { return };
    let mut scenarios = listed(&others).await;
    scenarios.retain(|scenario| !scenario.judges(OLDER) && !scenario.judges(LATEST));
    let rest: BTreeSet<_> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    assert_eq!(rest, NOT_DONE.iter().map(|(name, _)| *name).collect());
}

/// Goes through all scenarios of a revision.
async fn conforms(revision: &str) {
    let Some(others) = OtherServers::find() else { return };
    let mut scenarios = listed(&others).await;
    scenarios.retain(|scenario| scenario.judges(revision));
    assert!(!scenarios.is_empty());
    let judged = scenarios.iter().map(|scenario| judge(&others, revision, &scenario.name));
    let judged = stream::iter(judged).buffer_unordered(AT_ONCE);
    let failed: Vec<_> = judged.filter_map(async |judged| judged.err()).collect().await;
    let (failures, all) = (failed.len(), scenarios.len());
    assert!(failed.is_empty(), "{failures} of {all} failed:\n\n{}", failed.join("\n\n"));
    println!("{revision}: all {all} passed");
}

/// Has the client judged in a scenario.
///
/// # Errors
/// It failed: which one, and what was said of that.
async fn judge(others: &OtherServers, revision: &str, scenario: &str) -> Result<(), String> {
    let failed = |said: &str| format!("{scenario} ({revision}):\n{}", said.trim());
    let arguments =
        ["client", "--command", COMMAND, "--scenario", scenario, "--spec-version", revision];
    let (succeeded, said) = run(others, &arguments).await.map_err(|why| failed(&why))?;
    // What is skipped ends with success, too.
    if succeeded && said.contains("OVERALL: PASSED") { Ok(()) } else { Err(failed(&said)) }
}

/// A scenario that judges clients.
#[derive(Debug)]
struct Scenario {
    name: String,
    revisions: Vec<String>,
}

impl Scenario {
    fn judges(&self, revision: &str) -> bool {
        self.revisions.iter().any(|it| it == revision)
    }
}

/// All scenarios that judge clients.
async fn listed(others: &OtherServers) -> Vec<Scenario> {
    let (succeeded, said) = run(others, &["list", "--client"]).await.unwrap();
    assert!(succeeded, "{said}");
    // "  - auth/basic-cimd [2025-11-25,2026-07-28]"
    let scenario = |line: &str| {
        let (name, revisions) = line.trim().strip_prefix("- ")?.split_once(" [")?;
        let revisions = revisions.strip_suffix(']')?.split(',').map(str::to_owned).collect();
        Some(Scenario { name: name.to_owned(), revisions })
    };
    said.lines().filter_map(scenario).collect()
}

/// Runs the checks. Whether they succeeded, and all that they wrote.
///
/// # Errors
/// They did not come to an end.
async fn run(others: &OtherServers, arguments: &[&str]) -> Result<(bool, String), String> {
    let command = others.conformance(arguments);
    let running = Command::new(&command[0])
        .args(&command[1..])
        .env(PROGRAM, std::env::current_exe().unwrap())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = timeout(PATIENCE, running).await.map_err(|_| "It did not end.".to_owned())?;
    let output = output.map_err(|error| error.to_string())?;
    let written = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&written).into_owned()))
}
