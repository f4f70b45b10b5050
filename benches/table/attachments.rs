//! What it takes to attach a photo in the real window.

use std::fs;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use chat_testkit::files;
use chat_testkit::server::Server;
use chat_testkit::ui::Desktop;

use super::Plan;
use super::process::{diagnostics, longest_turn, settle, terminate};
use super::report::{Goal, Row};
use super::seed;

/// The photo's size in pixels: 12 megapixels.
const SIZE: (u32, u32) = (4_000, 3_000);
/// Where it is dropped: on the conversation.
const PLACE: (i32, i32) = (640, 330);

/// How long a photo's preview takes, and how long the main loop turns meanwhile.
pub async fn photo(plan: &Plan) -> Result<Vec<Row>> {
    let what = "a photo of 12 megapixels, from when it is attached until its preview is painted";
    let mut preview = Row::new(what, "ms", Goal::AtMost(400.0));
    let what = "the longest turn of the main loop, from its drop until the window rests";
    let mut turn = Row::new(what, "ms CPU", Goal::AtMost(16.0));
    ensure!(plan.program("natter-decoder").is_file(), "there is no decoder");
    let photo = files::photo(SIZE.0, SIZE.1);
    // The first one reads the decoder from the disk.
    attach(plan, &photo).await?;
    for _ in 0..plan.rounds.div_ceil(3) {
        let (painted, longest) = attach(plan, &photo).await?;
        preview.natter.push(painted);
        turn.natter.push(longest);
    }
    Ok(vec![preview, turn])
}

/// Both for the first photo of a new window, in milliseconds.
async fn attach(plan: &Plan, photo: &[u8]) -> Result<(f64, f64)> {
    let (server, desktop) = (Server::start(), Desktop::start().await?);
    seed::configure(&desktop, &server.url())?;
    let fid = seed::long_chat(&desktop, 50).await?;
    let path = desktop.folder().join("photo.jpg");
    fs::write(&path, photo)?;
    let file = desktop.folder().join("diagnostics.json");
    let launch = plan.natter().arg("--session").arg(fid.as_str()).env("NATTER_DIAGNOSTICS", &file);
    let began = Instant::now();
    let mut child = desktop.spawn(&launch)?;
    settle(&mut child)?;
    let from = began.elapsed().as_secs_f64() * 1e3;
    let taken = desktop.input().drop_files(&[&path], PLACE.0, PLACE.1).await?;
    ensure!(taken, "the window refused the photo");
    settle(&mut child)?;
    terminate(&mut child)?;
    let told = diagnostics(&file)?;
    let at = |name: &str| told["times_ms"][name].as_f64().with_context(|| format!("no {name}"));
    let (attached, painted) = (at("attaching")?, at("preview")?);
    Ok((painted - attached, longest_turn(&told["stalls"], from..f64::INFINITY)?))
}
