//! Makes the requests for signing in: within bounds, and only to where the server may lead.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Client, Request};
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRedirectPolicy,
    OAuthHttpRequest,
};

use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use super::OAuthFault;
use crate::http::{HttpClient, HttpFault};

/// Of an answer so much is read.
const LONGEST: usize = 1 << 20;
/// How long one may take.
const LIMIT: Duration = Duration::from_secs(30);

/// Makes the requests for signing in to one server.
pub(super) struct Requests {
    http: HttpClient,
    /// Made when they are needed: reading the system's certificates takes time, and many servers want no sign-in.
    following: OnceCell<Client>,
    staying: OnceCell<Client>,
    /// Why the last request failed: the library keeps only words of that.
    fault: Mutex<Option<OAuthFault>>,
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
enum RequestError {
    #[error("the address is not allowed for this server")]
    AddressRefused,
    #[error("there is no answer")]
    NoAnswer,
    #[error("the answer is too long")]
    TooLong,
    #[error("the system's certificates cannot be read")]
    NoTls,
}

impl Requests {
    pub(super) fn new(http: HttpClient) -> Self {
        let (following, staying) = (OnceCell::new(), OnceCell::new());
        Self { http, following, staying, fault: Mutex::default() }
    }

    /// Why the last request failed, if it did.
    pub(super) fn take_fault(&self) -> Option<OAuthFault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    async fn answer(
        &self,
        request: OAuthHttpRequest,
    ) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let follows = matches!(request.redirect_policy, OAuthHttpRedirectPolicy::Follow);
        let request = Request::try_from(request.request)?;
        if !self.http.allows(request.url()) {
            return Err(RequestError::AddressRefused.into());
        }
        let mut response = self.client(follows).await?.execute(request).await?;
        let mut body = Vec::new();
        while let Some(more) = response.chunk().await? {
            if body.len() + more.len() > LONGEST {
                return Err(RequestError::TooLong.into());
            }
            body.extend_from_slice(&more);
        }
        let mut built = http::Response::new(body);
        *built.status_mut() = response.status();
        *built.headers_mut() = std::mem::take(response.headers_mut());
        Ok(built)
    }

    async fn client(&self, follows: bool) -> Result<&Client, RequestError> {
        let client = if follows { &self.following } else { &self.staying };
        let making = async || {
            let http = self.http.clone();
            let made = spawn_blocking(move || http.for_others(follows)).await;
            made.map_err(|_| RequestError::NoTls)?.map_err(|_| RequestError::NoTls)
        };
        client.get_or_try_init(making).await
    }

    fn note(&self, error: &OAuthHttpClientError) {
        let fault = match error.downcast_ref::<RequestError>() {
            Some(RequestError::AddressRefused) => OAuthFault::AddressRefused,
            Some(RequestError::NoAnswer) => OAuthFault::Unreachable,
            Some(RequestError::NoTls) => OAuthFault::NoTls,
            // What was asked for says what is missing then.
            Some(RequestError::TooLong) => return,
            None => match HttpFault::of(error.as_ref()) {
                Some(HttpFault::AddressRefused | HttpFault::RedirectRefused) => {
                    OAuthFault::AddressRefused
                }
                _ => OAuthFault::Unreachable,
            },
        };
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }
}

impl OAuthHttpClient for Requests {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        let limit = request.timeout.map_or(LIMIT, |limit| limit.min(LIMIT));
        Box::pin(async move {
            let answer = tokio::time::timeout(limit, self.answer(request)).await;
            let answer = answer.unwrap_or_else(|_| Err(RequestError::NoAnswer.into()));
            answer.inspect_err(|error| self.note(error))
        })
    }
}
