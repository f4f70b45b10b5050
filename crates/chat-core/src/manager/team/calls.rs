//! Carries out what a tool asks of agents, also where the tool's call has ended by then.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::super::{Kind, Manager, MessageId, Result};
use super::{Desk, Member};
use crate::error::Error;
use crate::session::{Owed, Session, WaitsFor};
use crate::tool::TeamError;

/// What a call gives, and the agents whose reports are in it: they are owed again where nobody gets it.
pub(super) struct Answer<T> {
    pub(super) value: T,
    pub(super) told: Vec<Told>,
    /// Until it arrives, the session counts as waiting for them, so that nothing else reports them.
    pub(super) waits: Option<WaitsFor>,
}

/// An agent that reported by a call, and the message that the report is about, where it is known.
pub(super) type Told = (Arc<Session>, Option<MessageId>);

impl<T> From<T> for Answer<T> {
    fn from(value: T) -> Self {
        Self { value, told: Vec::new(), waits: None }
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
            Ok(delivery) => Ok(delivery.take()?.value),
            Err(_) => Err(Error::from(Kind::Internal).into()),
        }
    }
}

/// An answer on its way. Where its caller goes away before it takes it, the reports in it are owed again.
struct Delivery<T> {
    answer: Option<Result<Answer<T>, TeamError>>,
    manager: Manager,
}

impl<T> Delivery<T> {
    fn take(mut self) -> Result<Answer<T>, TeamError> {
        self.answer.take().unwrap_or_else(|| Err(Error::from(Kind::Internal).into()))
    }
}

impl<T> Drop for Delivery<T> {
    fn drop(&mut self) {
        let Some(Ok(Answer { told, waits, .. })) = self.answer.take() else { return };
        if told.is_empty() {
            return;
        }
        let manager = self.manager.clone();
        self.manager.inner.shared.spawn(async move {
            manager.owe_again(told).await;
            drop(waits);
        });
    }
}

impl Manager {
    /// Has an agent's parent hear of what comes of a message, or of its last work. Says whether it would
    /// have heard of nothing before.
    pub(super) async fn owe(&self, agent: &Session, message: Option<MessageId>) -> Result<bool> {
        let Some(parent) = agent.parent() else { return Ok(false) };
        let is_new = self.inner.shared.store.set_reports(agent.fid(), true).await?;
        if is_new {
            agent.set_owed(Some(Owed { to: parent.fid().clone(), message }));
        }
        Ok(is_new)
    }

    /// Nobody got the reports of these agents: their parents hear of them by messages.
    async fn owe_again(&self, agents: Vec<Told>) {
        for (agent, message) in agents {
            match self.owe(&agent, message).await {
                Ok(_) => self.report_to_parent(agent, None),
                Err(error) => tracing::warn!(%error, "the report of an agent is lost"),
            }
        }
    }
}
