//! Calls a tool of a server.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam,
    ClientRequest, InputRequiredResult, ServerResult,
};
use rmcp::service::PeerRequestOptions;
use serde_json::Value;
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
    /// answers what a server of the older revision asks meanwhile. The call is cancelled with `cancel`, and when the future is dropped.
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
        let options = PeerRequestOptions::with_timeout(limit)
            .reset_timeout_on_progress()
            .with_max_total_timeout(limit * LONGEST_CALL);
        let sent = self.peer().send_cancellable_request(request, options).await;
        let handle = sent.map_err(|error| self.fault(&error))?;
        let _hearing = self.progress.hear(handle.progress_token.clone(), Arc::new(progress));
        let peer = handle.peer.clone();
        let mut stopping = Stopping { peer: Some((peer, handle.id.clone())) };
        let result = tokio::select! {
            result = handle.await_response() => result,
            () = self.ending.ended() => {
                stopping.peer = None;
                return Err(Fault::Closed(self.ending.reason()));
            }
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
