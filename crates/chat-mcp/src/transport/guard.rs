//! Stands between a transport and the client: lets no flood through, and no answer that comes too late.

use std::time::{Duration, Instant};

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use super::{CutOff, Ending};

/// So many messages that nobody asked for may come …
const UNASKED: u32 = 500;
/// … in this time. The client makes a task of each.
const PERIOD: Duration = Duration::from_secs(1);

/// A transport whose server cannot flood the client.
pub struct Guard<T> {
    inner: T,
    ending: Ending,
    /// The question that servers of the older revision do not know.
    discovery: Option<RequestId>,
    /// Whether the connection goes on in the older way.
    is_older: bool,
    since: Instant,
    unasked: u32,
}

impl<T> Guard<T> {
    /// Guards a transport. Why it is cut off is left in `ending`.
    pub fn new(inner: T, ending: Ending) -> Self {
        let since = Instant::now();
        Self { inner, ending, discovery: None, is_older: false, since, unasked: 0 }
    }

    /// Counts a message that nobody asked for. Whether there are too many.
    fn is_flood(&mut self, now: Instant) -> bool {
        if now.duration_since(self.since) > PERIOD {
            (self.since, self.unasked) = (now, 0);
        }
        self.unasked += 1;
        self.unasked > UNASKED
    }

    /// Whether it answers the discovery after the client stopped waiting for that: it would take it for the
    /// answer to what it asked since.
    fn is_late(&self, message: &RxJsonRpcMessage<RoleClient>) -> bool {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        self.is_older && id.is_some() && id == self.discovery.as_ref()
    }
}

impl<T> Drop for Guard<T> {
    fn drop(&mut self) {
        self.ending.end();
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Guard<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message {
            match &request.request {
                ClientRequest::DiscoverRequest(_) => self.discovery = Some(request.id.clone()),
                ClientRequest::InitializeRequest(_) => self.is_older = true,
                _ => {}
            }
        }
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let Some(message) = self.inner.receive().await else {
                self.ending.end();
                return None;
            };
            let unasked =
                matches!(message, JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_));
            if unasked && self.is_flood(Instant::now()) {
                self.ending.cut_off(CutOff::Flood);
                self.ending.end();
                return None;
            }
            if !self.is_late(&message) {
                return Some(message);
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.inner.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_told_from_what_comes_now_and_then() {
        let mut guard = Guard::new((), Ending::default());
        let began = guard.since;
        for second in 0..5 {
            let now = began + PERIOD * 2 * second;
            assert!((0..UNASKED).all(|_| !guard.is_flood(now)), "{second}");
        }
        let now = began + PERIOD * 20;
        assert!((0..UNASKED).all(|_| !guard.is_flood(now)));
        assert!(guard.is_flood(now));
    }
}
