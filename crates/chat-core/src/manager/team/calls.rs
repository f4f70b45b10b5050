//! Carries out what a tool asks of agents, also where the tool's call has ended by then.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::super::{Kind, Manager};
use super::{Desk, Member};
use crate::error::Error;
use crate::session::{Claims, Session, WaitsFor};
use crate::tool::TeamError;

/// What a call gives, and the reports that are in it.
pub(super) struct Answer<T> {
    pub(super) value: T,
    pub(super) carried: Option<Carried>,
}

/// Reports that a call is to tell. They are owed until its result is stored.
pub(super) struct Carried {
    /// The session that calls.
    pub(super) to: Arc<Session>,
    /// The agents that reported.
    pub(super) from: Vec<Arc<Session>>,
    pub(super) claims: Claims,
    /// Until they arrive, the session counts as waiting for the agents, so that nothing else reports them.
    pub(super) waits: WaitsFor,
}

impl<T> From<T> for Answer<T> {
    fn from(value: T) -> Self {
        Self { value, carried: None }
    }
}

impl Member {
    /// Runs a call as a task of its own. Where the caller gives up, its token is cancelled, and the task
    /// goes on to its end: nothing that it began is left half done, and no report is lost.
    pub(super) async fn carry_out<T, F>(
        &self,
        cancel: &CancellationToken,
        work: impl FnOnce(Desk, CancellationToken) -> F,
    ) -> Result<T, TeamError>
    where
        T: Send + 'static,
        F: Future<Output = Result<Answer<T>, TeamError>> + Send + 'static,
    {
        let desk = self.desk().await?;
        let manager = desk.manager.clone();
        let cancel = cancel.child_token();
        let _gives_up = cancel.clone().drop_guard();
        let work = work(desk, cancel);
        let (answer, answered) = oneshot::channel();
        manager.inner.shared.spawn({
            let manager = manager.clone();
            async move {
                let work = work.await;
                // Nobody may be there any more.
                let _ = answer.send(Delivery { answer: Some(work), manager });
            }
        });
        match answered.await {
            Ok(delivery) => delivery.take(),
            Err(_) => Err(Error::from(Kind::Internal).into()),
        }
    }
}

/// An answer on its way. Where its caller goes away before it takes it, the reports in it are told by messages.
struct Delivery<T> {
    answer: Option<Result<Answer<T>, TeamError>>,
    manager: Manager,
}

impl<T> Delivery<T> {
    fn take(mut self) -> Result<T, TeamError> {
        let answer = self.answer.take();
        let answer = answer.unwrap_or_else(|| Err(Error::from(Kind::Internal).into()))?;
        if let Some(carried) = answer.carried {
            carried.claims.carry();
        }
        Ok(answer.value)
    }
}

impl<T> Drop for Delivery<T> {
    fn drop(&mut self) {
        let Some(Ok(Answer { carried: Some(carried), .. })) = self.answer.take() else { return };
        let manager = self.manager.clone();
        self.manager.inner.shared.spawn(async move { manager.tell_uncarried(carried).await });
    }
}

impl Manager {
    /// Nobody got these reports: the session hears of them by messages.
    async fn tell_uncarried(&self, carried: Carried) {
        let Carried { to, from, claims, waits } = carried;
        drop((claims, waits));
        // Some may have waited there before.
        if let Err(error) = to.show_waiting().await {
            tracing::warn!(%error, "reports of agents wait for the next start");
        }
        for agent in from {
            self.report_when_idle(Arc::clone(&to), agent, None, false);
        }
        if to.parent().is_none() && self.inner.shared.clients.settings().agents.wake {
            to.wake().await;
        }
    }
}
