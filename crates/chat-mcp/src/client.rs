//! Speaks with one server, over any transport, within bounds: how long it may take, how much it may say.

mod asking;
mod call;
mod content;
mod handler;
mod list;
mod pages;
mod progress;
mod prompts;
mod resources;

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{Implementation, ProtocolVersion, ServerCapabilities, SubscriptionFilter};
use rmcp::service::{
    ClientCacheConfig, ClientInitializeError, ClientLifecycleMode, Peer, RunningService,
    ServiceError, Subscription, serve_client_with_lifecycle,
};
use rmcp::transport::Transport;
use tokio::sync::watch;

use self::asking::AskBook;
use self::handler::Handler;
use self::progress::ProgressBook;
use crate::http::HttpFault;
use crate::oauth::OAuthFault;
use crate::transport::{CutOff, Ending, Guard};

pub use self::asking::Asked;
pub use self::call::{Answer, CallFault};
pub use self::handler::ServerNews;
pub use self::list::ToolList;
pub use self::pages::Listed;
pub use self::progress::Progress;

/// How long a server may take to answer that it is there. Those that are downloaded first need more than a moment.
const CONNECT: Duration = Duration::from_mins(1);
/// How long it may take to list what it has, a page.
const LIST: Duration = Duration::from_secs(30);
/// How long the end of a connection may take.
const CLOSE: Duration = Duration::from_secs(3);

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
    /// It could not be reached over HTTP.
    Http(HttpFault),
    /// The user stopped it.
    Stopped,
}

impl Fault {
    /// The challenge with which the user can sign in, if that helps.
    pub fn challenge(&self) -> Option<&str> {
        match self {
            Self::Unauthorized(challenge) => Some(challenge),
            // The server was not asked what it wants. It may say so at the places that everybody knows.
            Self::Http(HttpFault::Authorization(OAuthFault::TokenRefused)) => Some("Bearer"),
            _ => None,
        }
    }
}

/// How to find out which revision of the protocol a server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discovery {
    /// Asks it, which some servers of the older revision do not answer: that takes ten seconds.
    #[default]
    Ask,
    /// Takes it for one of the older revision.
    Older,
}

impl Discovery {
    /// How a server with which it failed like this is tried once more, at once: some of the older revision end, or answer
    /// something else, when they are asked. None where that is not why.
    pub fn once_more(self, fault: &Fault) -> Option<Self> {
        let may_be_older = match fault {
            Fault::Closed(None) | Fault::Invalid => true,
            Fault::Http(fault) => matches!(fault, HttpFault::NotMcp | HttpFault::Status(500..)),
            // By a refusal in the protocol's words the client knows at once which revision it is.
            Fault::TimedOut
            | Fault::Closed(Some(_))
            | Fault::Refused { .. }
            | Fault::Unauthorized(_)
            | Fault::Stopped => false,
        };
        (self == Self::Ask && may_be_older).then_some(Self::Older)
    }
}

/// A connection to a server, which ends when this is dropped.
#[derive(Debug)]
pub struct Link {
    service: RunningService<RoleClient, Handler>,
    client: Client,
}

/// Asks a server, as long as its [`Link`] lives. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    peer: Peer<RoleClient>,
    ending: Ending,
    progress: ProgressBook,
    asking: AskBook,
    /// The last challenge that came while the connection was open.
    challenge: Arc<watch::Sender<Option<String>>>,
}

impl Link {
    /// Connects over a transport. `news` hears what the server tells by itself; `ending` that and why the connection
    /// ended, of which the transport tells, too.
    ///
    /// # Errors
    /// Why there is no connection.
    pub async fn connect<T>(
        transport: T,
        ending: Ending,
        news: Arc<dyn ServerNews>,
        discovery: Discovery,
    ) -> Result<Self, Fault>
    where
        T: Transport<RoleClient> + 'static,
    {
        let lifecycle = match discovery {
            Discovery::Ask => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            },
            Discovery::Older => ClientLifecycleMode::Initialize,
        };
        let guard = Guard::new(transport, ending.clone());
        let progress = ProgressBook::default();
        let asking = AskBook::default();
        let handler = Handler::new(news, progress.clone(), asking.clone());
        let serving = serve_client_with_lifecycle(handler, guard, lifecycle);
        let service = match tokio::time::timeout(CONNECT, serving).await {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => return Err(not_connected(&error, &ending)),
            Err(_) => return Err(Fault::TimedOut),
        };
        // It would keep answers of any size.
        service.peer().set_response_cache_config(ClientCacheConfig::disabled()).await;
        let (challenge, _) = watch::channel(None);
        let client = Client {
            peer: service.peer().clone(),
            ending,
            progress,
            asking,
            challenge: Arc::new(challenge),
        };
        Ok(Self { service, client })
    }

    /// Asks the server.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Ends the connection.
    pub async fn close(mut self) {
        drop(self.service.close_with_timeout(CLOSE).await);
    }
}

impl Client {
    /// What the server calls itself.
    pub fn server(&self) -> Option<Implementation> {
        self.peer.peer_info().and_then(|info| info.server_info.clone())
    }

    /// The revision of the protocol that is spoken.
    pub fn version(&self) -> Option<ProtocolVersion> {
        self.peer.peer_info().map(|info| info.protocol_version.clone())
    }

    /// What the server can do.
    pub fn capabilities(&self) -> ServerCapabilities {
        self.peer.peer_info().map(|info| info.capabilities.clone()).unwrap_or_default()
    }

    /// How the connection ends.
    pub fn ending(&self) -> &Ending {
        &self.ending
    }

    /// Told the challenge of each request for which the server wants the user to sign in, or to allow more.
    pub fn challenges(&self) -> watch::Receiver<Option<String>> {
        self.challenge.subscribe()
    }

    /// Has the server tell when its lists change. None where it tells by itself, as servers of the older revision do,
    /// or does not tell.
    pub async fn listen(&self) -> Option<Subscription> {
        if self.version()?.has_initialize() {
            return None;
        }
        let can = self.capabilities();
        let tools = can.tools.and_then(|tools| tools.list_changed) == Some(true);
        let prompts = can.prompts.and_then(|prompts| prompts.list_changed) == Some(true);
        let resources = can.resources.and_then(|them| them.list_changed) == Some(true);
        let mut filter = SubscriptionFilter::default();
        filter.tools_list_changed = tools.then_some(true);
        filter.prompts_list_changed = prompts.then_some(true);
        filter.resources_list_changed = resources.then_some(true);
        if !(tools || prompts || resources) {
            return None;
        }
        tokio::time::timeout(LIST, self.peer.listen(filter)).await.ok()?.ok()
    }

    fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    fn fault(&self, error: &ServiceError) -> Fault {
        let fault = self.kind(error);
        if let Some(challenge) = fault.challenge() {
            self.challenge.send_replace(Some(challenge.to_owned()));
        }
        fault
    }

    fn kind(&self, error: &ServiceError) -> Fault {
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
            _ => HttpFault::of_request(error)
                .map_or_else(|| Fault::Closed(self.ending.reason()), Fault::Http),
        }
    }
}

fn not_connected(error: &ClientInitializeError, ending: &Ending) -> Fault {
    if let Some(challenge) = error.auth_challenge() {
        return Fault::Unauthorized(challenge.to_owned());
    }
    match error {
        ClientInitializeError::JsonRpcError(error) => {
            Fault::Refused { code: error.code.0, message: error.message.to_string() }
        }
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. }
        | ClientInitializeError::NoCompatibleProtocolVersion { .. } => Fault::Invalid,
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
            not_connected(fallback, ending)
        }
        _ => {
            HttpFault::of_connect(error).map_or_else(|| Fault::Closed(ending.reason()), Fault::Http)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_come_of_asking_is_tried_once_more() {
        let again = |fault| Discovery::Ask.once_more(&fault) == Some(Discovery::Older);
        assert!(again(Fault::Closed(None)));
        assert!(again(Fault::Invalid));
        assert!(again(Fault::Http(HttpFault::Status(500))));
        assert!(!again(Fault::Http(HttpFault::Unreachable)));
        assert!(!again(Fault::Refused { code: -32021, message: String::new() }));
        assert!(!again(Fault::Unauthorized("Bearer".to_owned())));
        assert!(!again(Fault::Closed(Some(CutOff::Flood))));
        assert_eq!(Discovery::Older.once_more(&Fault::Invalid), None);
    }
}
