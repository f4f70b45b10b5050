//! Waits for a condition, with a deadline.

use std::future::Future;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::time::Instant;

/// The timeout for windows: far more than anything needs on a busy machine, so that only what never
/// happens fails.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The shortest pause between two checks: a frame or two. A check that took longer is followed by a pause as long as
/// itself, so that the program that it waits for has the time to get on.
const BEAT: Duration = Duration::from_millis(25);

/// Repeats a question until it has an answer, and returns that.
///
/// # Errors
///
/// There is none within [`PATIENCE`]; the error names what was awaited. An error of the question
/// itself counts as "not yet", since windows appear and disappear meanwhile.
pub async fn until<T, F>(what: &str, mut question: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = Result<Option<T>>>,
{
    let deadline = Instant::now() + PATIENCE;
    loop {
        let asked = Instant::now();
        let answer = question().await;
        if let Ok(Some(found)) = answer {
            return Ok(found);
        }
        if Instant::now() >= deadline {
            answer.with_context(|| format!("waited in vain for {what}"))?;
            bail!("waited in vain for {what}");
        }
        tokio::time::sleep(asked.elapsed().max(BEAT)).await;
    }
}
