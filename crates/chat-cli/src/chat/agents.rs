//! Runs the commands about the agents of a chat: `/agents`, `/agents stop`, `/agents close`.

use chat_core::message::Fid;

use super::Conversation;
use crate::agents;
use crate::error::{CliError, Result};
use crate::say;
use crate::turn::names;

/// Stands for all agents, unless one has this name.
const ALL: &str = "all";

impl Conversation<'_> {
    /// Names the agents of a chat that is opened which were interrupted when a program ended.
    pub(super) async fn report_interrupted(&self, fid: &Fid) -> Result<()> {
        let mut agents = self.program.manager.agents().list(Some(fid)).await?;
        agents.retain(|agent| {
            agent.fid != *fid && agents::State::of(agent, true) == agents::State::Interrupted
        });
        let names = names(&agents);
        if !names.is_empty() {
            self.remark(&say::were_interrupted(&names));
        }
        Ok(())
    }

    /// Lists the agents of this chat.
    pub(super) async fn list_agents(&self) -> Result<()> {
        let Some(fid) = self.begun() else { return Ok(()) };
        agents::print(Some(&fid), false, self.program).await
    }

    /// Stops the agent of this name, or all. What they wrote stays.
    pub(super) async fn stop_agents(&self, name: &str) -> Result<()> {
        let Some(fid) = self.begun() else { return Ok(()) };
        let agents = self.program.manager.agents();
        if let Some(agent) = self.agent_named(&fid, name).await? {
            agents.interrupt(&agent);
            self.remark(&say::stopped_agent(name));
        } else {
            agents.interrupt_all(&fid).await?;
            self.remark(&say::stopped_agents());
        }
        Ok(())
    }

    /// Closes the agent of this name, or all. Their chats stay.
    pub(super) async fn close_agents(&self, name: &str) -> Result<()> {
        let Some(fid) = self.begun() else { return Ok(()) };
        let agents = self.program.manager.agents();
        if let Some(agent) = self.agent_named(&fid, name).await? {
            agents.close(&agent).await?;
            self.remark(&say::closed_agent(name));
        } else {
            let all = agents.list(Some(&fid)).await?;
            agents.close_all(&fid).await?;
            self.remark(&say::closed_agents(all.iter().filter(|it| !it.closed).count()));
        }
        Ok(())
    }

    /// The agent of this name; none for all.
    async fn agent_named(&self, fid: &Fid, name: &str) -> Result<Option<Fid>> {
        match self.program.manager.agents().find_by_name(fid, name).await? {
            Some(agent) => Ok(Some(agent.meta.fid)),
            None if name == ALL => Ok(None),
            None => Err(CliError::Said(say::no_such_agent_here(name))),
        }
    }
}
