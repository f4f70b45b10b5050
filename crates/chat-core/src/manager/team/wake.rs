//! Has sessions hear of the ends of agents, and go on with that.

use std::sync::Arc;
use std::time::Duration;

use super::super::Result;
use crate::session::{Place, Session, SessionServices};

/// Once the agent's work has ended, has this session hear of it, unless somebody waits for it. It has its
/// place until then.
pub(super) fn report_when_idle(
    services: &Arc<SessionServices>,
    to: Arc<Session>,
    agent: Arc<Session>,
    place: Option<Place>,
) {
    let shared = Arc::clone(services);
    services.spawn(async move {
        agent.idle().await;
        drop(place);
        // Whoever waits reports it. Where the program ends, the next start does.
        if agent.tree().is_waited_for(agent.fid()) || agent.is_halted() {
            return;
        }
        // One that asked and was closed since has no use for it.
        let to = agent.parent().filter(|_| to.is_closed()).cloned().unwrap_or(to);
        if let Err(error) = report(&shared, &to, &agent).await {
            tracing::warn!(%error, "the report of an agent waits for the next start");
        }
    });
}

async fn report(services: &Arc<SessionServices>, to: &Arc<Session>, agent: &Session) -> Result<()> {
    let received = to.receive(agent.report().await?).await?;
    if received && services.clients.settings().agents.wake {
        wake(services, to).await?;
    }
    Ok(())
}

/// Begins a turn with what waits in a session, where nothing is at work in it. An agent gets a place
/// first, which it waits for, and its end is reported, too.
async fn wake(services: &Arc<SessionServices>, session: &Arc<Session>) -> Result<()> {
    let Some(parent) = session.parent() else {
        session.send_waiting().await;
        return Ok(());
    };
    // One at work hears of it by itself.
    if session.is_busy_or_begins_next() {
        return Ok(());
    }
    let settings = services.clients.settings().agents;
    let limit = Duration::from_secs(u64::from(settings.minutes.max(1)) * 60);
    let place = session.tree().place(session.fid(), settings.at_once as usize);
    // After that it waits for the user, or for the next message.
    let Ok(place) = tokio::time::timeout(limit, place).await else { return Ok(()) };
    if session.is_busy_or_begins_next() || session.is_halted() {
        return Ok(());
    }
    // Before it begins, so that no end of the program comes in between.
    let is_new = services.store.set_reports(session.fid(), true).await?;
    if session.send_waiting().await {
        report_when_idle(services, Arc::clone(parent), Arc::clone(session), Some(place));
    } else if is_new && !session.is_busy_or_begins_next() {
        services.store.set_reports(session.fid(), false).await?;
    }
    Ok(())
}
