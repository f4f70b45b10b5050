//! Leads what a server of the older revision asks to the call that it is probably about.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Answers what a server asks while a call runs.
#[async_trait]
pub trait Asked: Send + Sync {
    /// Which chat the call is of: what may be about calls of several chats is asked in none.
    fn chat(&self) -> usize {
        0
    }

    /// The answer. The server waits for it. The question ends with its call: the future is dropped then.
    async fn ask(&self, question: &ElicitRequestParams) -> ElicitResult;
}

/// The calls that run, the latest last. A server does not say which one a question is about. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct AskBook {
    calls: Arc<Mutex<Vec<Arc<Call>>>>,
    /// Whether a question is open. A server that asks in a flood is declined.
    open: watch::Sender<bool>,
}

struct Call {
    asked: Arc<dyn Asked>,
    ended: CancellationToken,
}

/// A call is asked as long as this lives.
pub(super) struct Answering {
    book: AskBook,
    call: Arc<Call>,
}

/// A question is open as long as this lives.
struct Open<'a>(&'a watch::Sender<bool>);

impl AskBook {
    pub(super) fn begin(&self, asked: Arc<dyn Asked>) -> Answering {
        let call = Arc::new(Call { asked, ended: CancellationToken::new() });
        self.lock().push(Arc::clone(&call));
        Answering { book: self.clone(), call }
    }

    /// Whether a question is open, now and later.
    pub(super) fn is_open(&self) -> watch::Receiver<bool> {
        self.open.subscribe()
    }

    /// What the server asks now. If no call runs, or a question is open already, it is declined. If calls of several
    /// chats run, it is cancelled: the server doesn't say which chat the question belongs to.
    pub(super) async fn ask(&self, question: &ElicitRequestParams) -> ElicitResult {
        let Some(call) = self.lock().last().cloned() else {
            return ElicitResult::new(ElicitationAction::Decline);
        };
        let chat = call.asked.chat();
        if self.lock().iter().any(|other| other.asked.chat() != chat) {
            return ElicitResult::new(ElicitationAction::Cancel);
        }
        let Some(_open) = Open::begin(&self.open) else {
            return ElicitResult::new(ElicitationAction::Decline);
        };
        tokio::select! {
            answer = call.asked.ask(question) => answer,
            () = call.ended.cancelled() => ElicitResult::new(ElicitationAction::Cancel),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Call>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Open<'a> {
    fn begin(open: &'a watch::Sender<bool>) -> Option<Self> {
        open.send_if_modified(|is_open| !std::mem::replace(is_open, true)).then(|| Self(open))
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.book.lock().retain(|call| !Arc::ptr_eq(call, &self.call));
        self.call.ended.cancel();
    }
}

impl std::fmt::Debug for AskBook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AskBook").field("calls", &self.lock().len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use serde_json::json;

    use super::*;

    /// Accepts, in the chat of this number; in chat 0 nobody ever answers.
    struct Chat(usize);

    #[async_trait]
    impl Asked for Chat {
        fn chat(&self) -> usize {
            self.0
        }

        async fn ask(&self, _: &ElicitRequestParams) -> ElicitResult {
            if self.0 == 0 {
                std::future::pending::<()>().await;
            }
            ElicitResult::new(ElicitationAction::Accept)
        }
    }

    fn question() -> ElicitRequestParams {
        let schema = json!({ "type": "object", "properties": {} });
        let form = json!({ "mode": "form", "message": "Who?", "requestedSchema": schema });
        serde_json::from_value(form).unwrap()
    }

    #[test]
    fn a_question_is_led_to_the_chat_whose_calls_run_and_to_none_of_several() {
        let (book, question) = (AskBook::default(), question());
        let ask = || book.ask(&question).now_or_never().map(|answer| answer.action);
        assert_eq!(ask(), Some(ElicitationAction::Decline), "no call runs");
        let first = book.begin(Arc::new(Chat(1)));
        assert_eq!(ask(), Some(ElicitationAction::Accept));
        let second = book.begin(Arc::new(Chat(1)));
        assert_eq!(ask(), Some(ElicitationAction::Accept), "both are of one chat");
        let other = book.begin(Arc::new(Chat(2)));
        assert_eq!(ask(), Some(ElicitationAction::Cancel));
        drop((first, second));
        assert_eq!(ask(), Some(ElicitationAction::Accept));
        drop(other);
        assert_eq!(ask(), Some(ElicitationAction::Decline));
    }

    #[tokio::test]
    async fn a_question_is_open_until_its_call_ends() {
        let (book, question) = (AskBook::default(), question());
        let call = book.begin(Arc::new(Chat(0)));
        let is_open = book.is_open();
        let mut asking = Box::pin(book.ask(&question));
        assert_eq!((&mut asking).now_or_never(), None);
        assert!(*is_open.borrow());
        let again = book.ask(&question).now_or_never().unwrap();
        assert_eq!(again.action, ElicitationAction::Decline, "one at a time");
        assert!(*is_open.borrow());
        drop(call);
        assert_eq!(asking.await.action, ElicitationAction::Cancel);
        assert!(!*is_open.borrow());
    }
}
