//! Calls a tool of a server, through all that the server asks, until there is a result.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam,
    ClientRequest, InputRequest, InputRequiredResult, InputResponses, ServerResult,
};
use rmcp::service::PeerRequestOptions;
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::progress::Hear;
use super::{Asked, CLOSE, Client, Fault, Progress};

/// However much a call reports that it goes on, it ends after so many times its limit.
const LONGEST_CALL: u32 = 10;
/// So many times a server may ask something before it gives a result.
const ROUNDS: usize = 10;

/// What a server answers to a call.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The result.
    Result(Box<CallToolResult>),
    /// A result of which a part is not as it should be, to be read piece by piece.
    Odd(Value),
}

/// Why a call came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallFault {
    /// What went wrong with the server.
    Server(Fault),
    /// It asked for something other than an answer of the user's.
    NoQuestion,
    /// It asked again and again.
    EndlessQuestions,
}

impl From<Fault> for CallFault {
    fn from(fault: Fault) -> Self {
        Self::Server(fault)
    }
}

/// What a server says to a call at first.
enum Round {
    Done(Answer),
    /// It wants to know something. The same call is made again with the answers.
    Asks(InputRequiredResult),
}

impl Client {
    /// Calls a tool. `limit` is how long it may take without a sign of life; `progress` hears of these, and `asked`
    /// answers what the server asks. While a question is open time does not count. The call is cancelled with `cancel`,
    /// and when the future is dropped.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn call(
        &self,
        mut call: CallToolRequestParams,
        limit: Duration,
        cancel: &CancellationToken,
        progress: impl Fn(Progress) + Send + Sync + 'static,
        asked: Arc<dyn Asked>,
    ) -> Result<Answer, CallFault> {
        let progress: Hear = Arc::new(progress);
        for _ in 0..ROUNDS {
            let asks = match self.round(call.clone(), limit, cancel, &progress, &asked).await? {
                Round::Done(answer) => return Ok(answer),
                Round::Asks(asks) => asks,
            };
            let mut answers = InputResponses::new();
            for (key, question) in asks.input_requests.unwrap_or_default() {
                let InputRequest::Elicitation(question) = question else {
                    return Err(CallFault::NoQuestion);
                };
                let answer = asked.ask(&question.params).await;
                answers.insert(key, serde_json::to_value(answer).unwrap_or_default());
            }
            if cancel.is_cancelled() {
                return Err(Fault::Stopped.into());
            }
            call.input_responses = (!answers.is_empty()).then_some(answers);
            // As it came, and none where none came.
            call.request_state = asks.request_state;
        }
        Err(CallFault::EndlessQuestions)
    }

    /// Makes a call once. `asked` answers what a server of the older revision asks meanwhile.
    async fn round(
        &self,
        call: CallToolRequestParams,
        limit: Duration,
        cancel: &CancellationToken,
        progress: &Hear,
        asked: &Arc<dyn Asked>,
    ) -> Result<Round, Fault> {
        let _answering = self.asking.begin(Arc::clone(asked));
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(call));
        // The library's own limit waits for the server to read that it passed.
        let options = PeerRequestOptions::no_options();
        let sending = self.peer().send_cancellable_request(request, options);
        let sent = timeout(limit, sending).await.map_err(|_| Fault::TimedOut)?;
        let handle = sent.map_err(|error| self.fault(&error))?;
        let signs = Arc::new(Notify::new());
        let heard = Arc::clone(&signs);
        let progress = Arc::clone(progress);
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
            ServerResult::CallToolResult(result) => {
                Ok(Round::Done(Answer::Result(Box::new(result))))
            }
            ServerResult::InputRequiredResult(asks) => Ok(Round::Asks(asks)),
            ServerResult::CustomResult(odd) => Ok(Round::Done(Answer::Odd(odd.0))),
            ServerResult::EmptyResult(_) => Ok(Round::Done(Answer::Odd(Value::Null))),
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
