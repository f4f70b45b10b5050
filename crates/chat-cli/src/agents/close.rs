//! Runs `natter-cli agents close`.

use chat_core::event::SessionPlaceholder;
use chat_core::message::Fid;

use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::say;
use crate::terminal;

/// Closes the agent of this name or FID, in a chat or wherever there is only one that is open.
pub async fn one(name: &str, session: Option<&Fid>, program: &Program) -> Result<Outcome> {
    let agents = program.manager.agents();
    let found = match session {
        Some(session) => agents.find_by_name(session, name).await?,
        None => None,
    };
    let agent = match found {
        Some(agent) => agent,
        None => among(agents.list(session).await?, name)?,
    };
    agents.close(&agent.fid).await?;
    remark(&say::closed_agent(agent.name.as_deref().unwrap_or_default()));
    Ok(Outcome::Done)
}

/// Closes all agents of a chat.
pub async fn all(session: &Fid, program: &Program) -> Result<Outcome> {
    let agents = program.manager.agents();
    let open = agents.list(Some(session)).await?.iter().filter(|agent| !agent.closed).count();
    agents.close_all(session).await?;
    remark(&say::closed_agents(open));
    Ok(Outcome::Done)
}

/// The agent that is meant by a name or a FID.
fn among(agents: Vec<SessionPlaceholder>, name: &str) -> Result<SessionPlaceholder> {
    let is_named = |agent: &SessionPlaceholder| agent.name.as_deref() == Some(name);
    let is_known = agents.iter().any(is_named);
    let is_meant = |agent: &SessionPlaceholder| {
        agent.fid.as_str() == name || (is_named(agent) && !agent.closed)
    };
    let mut meant: Vec<_> = agents.into_iter().filter(is_meant).collect();
    match (meant.pop(), meant.is_empty()) {
        (Some(agent), true) => Ok(agent),
        (Some(_), false) => Err(CliError::Said(say::several_agents(name))),
        (None, _) if is_known => Err(CliError::Said(say::closed_already(name))),
        (None, _) => Err(CliError::Said(say::no_such_agent(name))),
    }
}

fn remark(text: &str) {
    terminal::say(&format!("{}\n", terminal::clean(text)));
}
