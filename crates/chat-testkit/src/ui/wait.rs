//! Waits for a condition, with a deadline.

use std::future::Future;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::time::Instant;

/// How long a window may take for anything: far more than it needs on a busy machine, so that only
/// what never comes fails.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How often is looked: a frame or two.
const BEAT: Duration = Duration::from_millis(25);

/// Asks again and again until there is an answer, and gives it.
///
/// # Errors
/// Where there is none within [`PATIENCE`]; says what was waited for. An error of the question
/// itself counts as "not yet": windows come and go while they are looked at.
pub async fn until<T, F>(what: &str, mut question: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = Result<Option<T>>>,
{
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = question().await;
        if let Ok(Some(found)) = answer {
            return Ok(found);
        }
        if Instant::now() >= deadline {
            answer.with_context(|| format!("waited in vain for {what}"))?;
            bail!("waited in vain for {what}");
        }
        tokio::time::sleep(BEAT).await;
    }
}
