//! Carries messages to a server at an address and back.

use std::sync::Arc;
use std::time::Duration;

use futures_util::TryFutureExt;
use futures_util::future::Either;
use reqwest::Client;
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::auth::AuthClient;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    HttpStatusError, StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
    StreamableHttpError,
};

use super::headers::{has_own_authorization, headers};
use super::{HttpClient, HttpFault};
use crate::config::ResolvedEndpoint;
use crate::oauth::Account;
use crate::transport::LONGEST_MESSAGE;

/// Of an answer that says only why something failed so many bytes are read.
const LONGEST_ERROR: usize = 64 << 10;
/// So often the server is asked again for a stream that broke off …
const MOST_RECONNECTS: usize = 6;
/// … and so long it is waited for that at most.
const LONGEST_DELAY: Duration = Duration::from_secs(30);

/// A connection to a server at an address.
pub struct HttpTransport {
    inner: Inner,
    /// Whether the server's entry says who the user is: signing in would change nothing.
    has_own_authorization: bool,
}

enum Inner {
    Open(StreamableHttpClientTransport<Client>),
    SignedIn(StreamableHttpClientTransport<AuthClient<Client>>),
}

/// A connection to a server, with the token of an account if there is one: without, the server says how to sign in.
/// An entry that has a header for that counts more than the account. The client must be of this server.
///
/// # Errors
/// A header cannot be sent.
pub fn transport(
    client: &HttpClient,
    endpoint: &ResolvedEndpoint,
    account: Option<&Account>,
) -> Result<HttpTransport, HttpFault> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(endpoint.url.expose())
        .custom_headers(headers(endpoint)?)
        .max_json_response_size(LONGEST_MESSAGE)
        .max_sse_event_size(LONGEST_MESSAGE)
        .max_error_response_size(LONGEST_ERROR);
    let mut retry = ExponentialBackoff::default();
    retry.max_times = Some(MOST_RECONNECTS);
    retry.max_delay = Some(LONGEST_DELAY);
    config.retry_config = Arc::new(retry);
    let has_own_authorization = has_own_authorization(endpoint);
    let inner = match account.filter(|_| !has_own_authorization) {
        Some(account) => {
            Inner::SignedIn(StreamableHttpClientTransport::with_client(account.client(), config))
        }
        None => Inner::Open(StreamableHttpClientTransport::with_client(client.client(), config)),
    };
    Ok(HttpTransport { inner, has_own_authorization })
}

/// The server refused what the entry says of the user.
fn refused(status: u16) -> StreamableHttpError<reqwest::Error> {
    HttpStatusError::new(status, None).into()
}

impl Transport<RoleClient> for HttpTransport {
    type Error = StreamableHttpError<reqwest::Error>;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let sending = match &mut self.inner {
            Inner::Open(it) => Either::Left(it.send(message)),
            Inner::SignedIn(it) => Either::Right(it.send(message)),
        };
        let has_own_authorization = self.has_own_authorization;
        sending.map_err(move |error| match error {
            StreamableHttpError::AuthRequired(_) if has_own_authorization => refused(401),
            StreamableHttpError::InsufficientScope(_) if has_own_authorization => refused(403),
            error => error,
        })
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        match &mut self.inner {
            Inner::Open(it) => it.receive().await,
            Inner::SignedIn(it) => it.receive().await,
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        match &mut self.inner {
            Inner::Open(it) => it.close().await,
            Inner::SignedIn(it) => it.close().await,
        }
    }
}
