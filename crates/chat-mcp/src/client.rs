//! Speaks with one server, over any transport, within bounds: how long it may take, how much it may say.

mod handler;
mod list;

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, JsonObject,
    ProgressToken, ProtocolVersion, ServerResult,
};
use rmcp::service::{
    ClientCacheConfig, ClientInitializeError, ClientLifecycleMode, Peer, PeerRequestOptions,
    RunningService, ServiceError, serve_client_with_lifecycle,
};
use rmcp::transport::Transport;
use tokio_util::sync::CancellationToken;

use self::handler::Handler;
use crate::transport::{CutOff, CutOffReason, Guard};

pub use self::handler::ServerNews;

/// How long a server may take to answer that it is there. Those that are downloaded first need more than a moment.
const CONNECT: Duration = Duration::from_secs(60);
/// How long it may take to list what it has, a page.
const LIST: Duration = Duration::from_secs(30);
/// How long the end of a connection may take.
const CLOSE: Duration = Duration::from_secs(3);
/// However much a call reports that it goes on, it ends after so many times its limit.
const LONGEST_CALL: u32 = 10;

/// What went wrong with a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It did not answer in time.
    TimedOut,
    /// The connection ended; why, if it was cut off.
    Closed(Option<CutOff>),
    /// It refused: its code and its words.
    Refused {
        /// The code.
        code: i32,
        /// What it says, which is data.
        message: String,
    },
    /// It wants the user to sign in; the header in which it says how.
    Unauthorized(String),
    /// It said something that cannot be understood.
    Invalid,
    /// The user stopped it.
    Stopped,
}

/// A connection to a server.
#[derive(Debug)]
pub struct Client {
    service: RunningService<RoleClient, Handler>,
    reason: CutOffReason,
}

impl Client {
    /// Connects over a transport, in the current revision of the protocol or the one before. `news` hears what the
    /// server tells by itself.
    ///
    /// # Errors
    /// Why there is no connection.
    pub async fn connect<T>(
        transport: T,
        reason: CutOffReason,
        news: Arc<dyn ServerNews>,
    ) -> Result<Self, Fault>
    where
        T: Transport<RoleClient> + 'static,
    {
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        let guard = Guard::new(transport, reason.clone());
        let serving = serve_client_with_lifecycle(Handler::new(news), guard, lifecycle);
        let service = match tokio::time::timeout(CONNECT, serving).await {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => return Err(not_connected(&error, &reason)),
            Err(_) => return Err(Fault::TimedOut),
        };
        // It would keep answers of any size.
        service.peer().set_response_cache_config(ClientCacheConfig::disabled()).await;
        Ok(Self { service, reason })
    }

    /// What the server says of how it is to be used.
    pub fn instructions(&self) -> Option<String> {
        self.service.peer_info().and_then(|info| info.instructions.clone())
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.service.peer().is_transport_closed()
    }

    /// Calls a tool. `limit` is how long it may take without a sign of life. `began` is told the token by which the
    /// server reports progress. The call is cancelled with `cancel`, and when the future is dropped.
    ///
    /// # Errors
    /// Why there is no result.
    pub async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        limit: Duration,
        cancel: &CancellationToken,
        began: impl FnOnce(&ProgressToken),
    ) -> Result<ServerResult, Fault> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::with_timeout(limit)
            .reset_timeout_on_progress()
            .with_max_total_timeout(limit * LONGEST_CALL);
        let sent = self.peer().send_cancellable_request(request, options).await;
        let handle = sent.map_err(|error| self.fault(&error))?;
        began(&handle.progress_token);
        let (peer, id) = (handle.peer.clone(), handle.id.clone());
        tokio::select! {
            result = handle.await_response() => result.map_err(|error| self.fault(&error)),
            () = cancel.cancelled() => {
                let stopped = CancelledNotificationParam::new(Some(id), Some("stopped".to_owned()));
                // Whoever hangs does not hear it.
                drop(tokio::time::timeout(CLOSE, peer.notify_cancelled(stopped)).await);
                Err(Fault::Stopped)
            }
        }
    }

    /// Ends the connection.
    pub async fn close(mut self) {
        drop(self.service.close_with_timeout(CLOSE).await);
    }

    fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    fn fault(&self, error: &ServiceError) -> Fault {
        if let Some(challenge) = error.auth_challenge() {
            return Fault::Unauthorized(challenge.to_owned());
        }
        match error {
            ServiceError::McpError(error) => {
                Fault::Refused { code: error.code.0, message: error.message.to_string() }
            }
            ServiceError::Timeout { .. } => Fault::TimedOut,
            ServiceError::Cancelled { .. } => Fault::Stopped,
            ServiceError::UnexpectedResponse => Fault::Invalid,
            _ => Fault::Closed(self.reason.get()),
        }
    }
}

fn not_connected(error: &ClientInitializeError, reason: &CutOffReason) -> Fault {
    if let Some(challenge) = error.auth_challenge() {
        return Fault::Unauthorized(challenge.to_owned());
    }
    match error {
        ClientInitializeError::JsonRpcError(error) => {
            Fault::Refused { code: error.code.0, message: error.message.to_string() }
        }
        _ => Fault::Closed(reason.get()),
    }
}
