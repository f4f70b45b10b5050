//! Calls a tool of a server.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam,
    ClientRequest, InputRequiredResult, ServerResult,
};
use rmcp::service::PeerRequestOptions;
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{Asked, CLOSE, Client, Fault, Progress};

/// However much a call reports that it goes on, it ends after so many times its limit.
const LONGEST_CALL: u32 = 10;

/// What a server answers to a call.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The result.
    Result(Box<CallToolResult>),
    /// A result of which a part is not as it should be, to be read piece by piece.
    Odd(Value),
    /// It wants to know something first. The same call is made again with the answers.
    Asks(Box<InputRequiredResult>),
}

impl Client {
    /// Calls a tool. `limit` is how long it may take without a sign of life; `progress` hears of these, and `asked`
    /// answers what a server of the older revision asks meanwhile. While a question is open time does not count. The
    /// call is cancelled with `cancel`, and when the future is dropped.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn call(
        &self,
        call: CallToolRequestParams,
        limit: Duration,
        cancel: &CancellationToken,
        progress: impl Fn(Progress) + Send + Sync + 'static,
        asked: Arc<dyn Asked>,
    ) -> Result<Answer, Fault> {
        let _answering = self.asking.begin(asked);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(call));
        // The library's own limit waits for the server to read that it passed.
        let options = PeerRequestOptions::no_options();
        let sending = self.peer().send_cancellable_request(request, options);
        let sent = timeout(limit, sending).await.map_err(|_| Fault::TimedOut)?;
        let handle = sent.map_err(|error| self.fault(&error))?;
        let signs = Arc::new(Notify::new());
        let heard = Arc::clone(&signs);
        let hear = move |told: Progress| {
            heard.notify_one();
            progress(told);
        };
        let _hearing = self.progress.hear(handle.progress_token.clone(), Arc::new(hear));
        let peer = handle.peer.clone();
        let mut stopping = Stopping { peer: Some((peer, handle.id.clone())) };
        let result = tokio::select! {
            result = handle.await_response() => result,
            () = self.ending.ended() => {
                stopping.peer = None;
                return Err(Fault::Closed(self.ending.reason()));
            }
            () = overdue(limit, &signs, self.asking.is_open()) => return Err(Fault::TimedOut),
            () = cancel.cancelled() => return Err(Fault::Stopped),
        };
        stopping.peer = None;
        match result.map_err(|error| self.fault(&error))? {
            ServerResult::CallToolResult(result) => Ok(Answer::Result(Box::new(result))),
            ServerResult::InputRequiredResult(asks) => Ok(Answer::Asks(Box::new(asks))),
            ServerResult::CustomResult(odd) => Ok(Answer::Odd(odd.0)),
            ServerResult::EmptyResult(_) => Ok(Answer::Odd(Value::Null)),
            _ => Err(Fault::Invalid),
        }
    }
}

/// Waits until there was no sign of life for so long, or until there were too many. While a question is open time stands
/// still.
async fn overdue(limit: Duration, signs: &Notify, mut is_open: watch::Receiver<bool>) {
    let mut left = limit.saturating_mul(LONGEST_CALL);
    while !left.is_zero() {
        drop(is_open.wait_for(|is_open| !is_open).await);
        let began = Instant::now();
        tokio::select! {
            () = sleep(limit.min(left)) => return,
            () = signs.notified() => {}
            () = async { drop(is_open.wait_for(|is_open| *is_open).await) } => {}
        }
        left = left.saturating_sub(began.elapsed());
    }
}

/// Tells the server that nobody waits for a call any more, if that was dropped or stopped.
struct Stopping {
    peer: Option<(rmcp::service::Peer<rmcp::RoleClient>, rmcp::model::RequestId)>,
}

impl Drop for Stopping {
    fn drop(&mut self) {
        let (Some((peer, id)), Ok(runtime)) =
            (self.peer.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        runtime.spawn(async move {
            let stopped = CancelledNotificationParam::new(Some(id), Some("stopped".to_owned()));
            // Whoever hangs does not hear it.
            drop(tokio::time::timeout(CLOSE, peer.notify_cancelled(stopped)).await);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_call_is_overdue_without_signs_of_life_and_with_too_many() {
        let (began, signs) = (Instant::now(), Notify::new());
        let (_open, is_open) = watch::channel(false);
        overdue(LIMIT, &signs, is_open.clone()).await;
        assert_eq!(began.elapsed(), LIMIT);
        let began = Instant::now();
        let living = async {
            loop {
                sleep(LIMIT / 2).await;
                signs.notify_one();
            }
        };
        tokio::select! {
            () = overdue(LIMIT, &signs, is_open) => {}
            () = living => {}
        }
        assert_eq!(began.elapsed(), LIMIT * LONGEST_CALL);
    }

    #[tokio::test(start_paused = true)]
    async fn time_stands_still_while_a_question_is_open() {
        let (began, signs) = (Instant::now(), Notify::new());
        let (open, is_open) = watch::channel(false);
        let asking = async {
            sleep(LIMIT / 2).await;
            open.send_replace(true);
            sleep(LIMIT * 100).await;
            open.send_replace(false);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = overdue(LIMIT, &signs, is_open) => {}
            () = asking => {}
        }
        assert_eq!(began.elapsed(), LIMIT / 2 + LIMIT * 100 + LIMIT);
    }
}
