//! Has sessions hear of the ends of agents by messages, and go on with that.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::super::{Fid, Manager, Result};
use crate::error::{Error, Kind};
use crate::session::{AwaitsEnd, HandIn, Place, Session, SessionServices};

impl Manager {
    /// Has sessions hear of agents that an earlier start of the program left in the background, or of
    /// these alone. An agent that cannot be read does not keep the others back.
    pub(in super::super) async fn report_left_over(&self, among: Option<&[Fid]>) -> Result<()> {
        for (record, to) in self.inner.shared.store.unreported().await? {
            if among.is_some_and(|among| !among.contains(&record.fid)) {
                continue;
            }
            if let Err(error) = self.report_one_left_over(&record.fid, &to).await {
                tracing::warn!(%error, "the report of an agent waits for the next start");
            }
        }
        Ok(())
    }

    async fn report_one_left_over(&self, fid: &Fid, to: &Fid) -> Result<()> {
        let agent = self.session(fid).await?;
        let to = match self.session(to).await {
            Ok(to) => to,
            Err(Error { kind: Kind::SessionNotFound { .. }, .. }) => {
                let Some(parent) = agent.parent().cloned() else { return Ok(()) };
                self.inner.shared.store.pass_on_owed(fid, to, parent.fid()).await?;
                parent
            }
            Err(error) => return Err(error),
        };
        // The user decides when it goes on.
        match agent.hand_in(&to, true).await? {
            HandIn::AtWork | HandIn::Later | HandIn::Waiting => {
                self.report_when_idle(to, agent, None, true);
            }
            HandIn::Delivered | HandIn::NotOwed => {}
        }
        Ok(())
    }

    /// [The same](Self::report_when_idle) for the agent's parent.
    pub(in super::super) fn report_to_parent(&self, agent: Arc<Session>, place: Option<Place>) {
        if let Some(parent) = agent.parent().cloned() {
            self.report_when_idle(parent, agent, place, false);
        }
    }

    /// Once the agent's work has ended, has this session hear of it, unless it is told in another way.
    /// The agent has its place until then.
    pub(super) fn report_when_idle(
        &self,
        to: Arc<Session>,
        agent: Arc<Session>,
        place: Option<Place>,
        left_over: bool,
    ) {
        let closing = self.inner.closing.clone();
        Watch { services: Arc::clone(&self.inner.shared), closing, to, agent, left_over }
            .start(place);
    }
}

/// Waits for the end of an agent's work.
struct Watch {
    services: Arc<SessionServices>,
    /// Where the program ends, the next start reports it.
    closing: CancellationToken,
    to: Arc<Session>,
    agent: Arc<Session>,
    left_over: bool,
}

impl Watch {
    fn start(mut self, place: Option<Place>) {
        let (services, closing) = (Arc::clone(&self.services), self.closing.clone());
        // With what an earlier start left the user decides when it goes on.
        let awaits = (!self.left_over).then(|| self.agent.tree().await_end());
        services.spawn(async move {
            let report = self.report(place, awaits);
            if let Some(Err(error)) = closing.run_until_cancelled(report).await {
                tracing::warn!(%error, "the report of an agent waits for the next start");
            }
        });
    }

    async fn report(
        &mut self,
        mut place: Option<Place>,
        mut awaits: Option<AwaitsEnd>,
    ) -> Result<()> {
        let agent = Arc::clone(&self.agent);
        loop {
            agent.idle().await;
            drop(place.take());
            // Where that is taken back, what it owes is reported then.
            if agent.is_deleted() {
                return Ok(());
            }
            let (changed, ended) = (agent.tree().changed(), agent.next_end());
            tokio::pin!(changed, ended);
            // From here on no change and no end is missed.
            changed.as_mut().enable();
            ended.as_mut().enable();
            self.pass_on().await?;
            match agent.hand_in(&self.to, self.left_over).await? {
                HandIn::AtWork => {}
                HandIn::Later => changed.await,
                HandIn::Waiting => {
                    // Nobody goes on by that until somebody sends it.
                    drop(awaits.take());
                    tokio::select! {
                        () = changed => {}
                        () = ended => {}
                    }
                }
                HandIn::NotOwed => return Ok(()),
                // It may owe more, which a call is about to tell.
                HandIn::Delivered => self.wake().await?,
            }
        }
    }

    /// One that gave the agent work and was closed or deleted since has no use for its reports: its parent
    /// gets them.
    async fn pass_on(&mut self) -> Result<()> {
        let is_gone = self.to.is_closed() || self.to.is_halted();
        if let Some(parent) = self.agent.parent()
            && is_gone
            && parent.fid() != self.to.fid()
        {
            let _undisturbed = self.agent.undisturbed().await;
            let (agent, from, to) = (self.agent.fid(), self.to.fid(), parent.fid());
            self.services.store.pass_on_owed(agent, from, to).await?;
            self.to = Arc::clone(parent);
        }
        Ok(())
    }

    /// Begins a turn with the report, where nothing is at work. An agent gets a place first, which it waits
    /// for, and its end is reported, too.
    async fn wake(&self) -> Result<()> {
        let settings = self.services.clients.settings().agents;
        if self.left_over || !settings.wake {
            return Ok(());
        }
        let Some(parent) = self.to.parent() else {
            self.to.wake().await;
            return Ok(());
        };
        // One at work hears of it by itself.
        if self.to.is_busy_or_begins_next() {
            return Ok(());
        }
        let limit = Duration::from_secs(u64::from(settings.minutes.max(1)) * 60);
        let place = self.to.tree().place(self.to.fid(), settings.at_once as usize);
        // After that it waits for the user, or for the next message.
        let Ok(place) = tokio::time::timeout(limit, place).await else { return Ok(()) };
        let _undisturbed = self.to.undisturbed().await;
        if self.to.is_busy_or_begins_next() || self.to.is_halted() {
            return Ok(());
        }
        // Before it begins, so that no end of the program comes in between.
        let owed = self.services.store.owe_last_work(self.to.fid(), parent.fid()).await?;
        if self.to.wake().await {
            let (to, agent) = (Arc::clone(parent), Arc::clone(&self.to));
            let (services, closing) = (Arc::clone(&self.services), self.closing.clone());
            Self { services, closing, to, agent, left_over: false }.start(Some(place));
        } else if !self.to.is_busy_or_begins_next() {
            self.services.store.forget_owed(Vec::from_iter(owed)).await?;
        }
        Ok(())
    }
}
