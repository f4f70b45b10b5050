//! Carries out the built-in commands that window and terminal share.

use std::path::Path;

use chat_core::error::{Error, Kind};
use chat_core::manager::AgentKind;
use chat_core::message::ChatRequest;
use chat_presentation::slash_commands::{
    BuiltIn, SlashCommand, SlashCommands, invalid_words, shadowed_words,
};
use chat_presentation::words;

use super::{Conversation, command};
use crate::error::{CliError, Result};
use crate::request;
use crate::say;
use crate::show;

impl Conversation<'_> {
    /// Carries out a command. Gives back the message that is to be sent, if one follows.
    pub(super) async fn carry_out(
        &mut self,
        command: BuiltIn,
        arguments: &str,
        all: &SlashCommands,
    ) -> Result<Option<String>> {
        let argument = Some(arguments).filter(|argument| !argument.is_empty());
        match command {
            BuiltIn::Clear => {
                self.request = self.request_like_this().await;
                self.remark(&say::new_chat());
            }
            BuiltIn::Compact => match argument {
                None => self.compact(false).await?,
                Some("undo") => self.compact(true).await?,
                Some(other) => {
                    return Err(CliError::Usage(invalid_words(command, other, "undo")));
                }
            },
            BuiltIn::Plan => {
                self.mode(Some("plan")).await?;
                return Ok(argument.map(str::to_owned));
            }
            BuiltIn::Review => self.changes().await?,
            BuiltIn::Export => self.export(argument.map(Path::new)).await?,
            BuiltIn::Model => self.model(argument).await?,
            BuiltIn::Agent => self.agent(argument).await?,
            BuiltIn::Mode => self.mode(argument).await?,
            BuiltIn::Undo => self.undo().await?,
            BuiltIn::Help => self.help(all),
        }
        Ok(None)
    }

    /// Lists the models, or uses this one from the next message on.
    async fn model(&mut self, name: Option<&str>) -> Result<()> {
        let Some(name) = name else {
            let list = crate::models::lines(self.program).await;
            if list.is_empty() {
                self.remark(&say::no_models());
            }
            return self.program.output.print(list).await;
        };
        let model = request::find(name, self.program).await?;
        self.remark(&say::uses_model(&say::model(&model)));
        self.request.model = Some(model);
        Ok(())
    }

    /// Lists the agents, or has this one reply from the next message on.
    async fn agent(&mut self, name: Option<&str>) -> Result<()> {
        let (folder, manager) = (self.folder().await?, &self.program.manager);
        // Agents in the files of the project are known once these are read.
        let definitions = manager.definitions().of_project(folder.as_deref()).await;
        let agents = manager.agent_kinds().of_project(folder.as_deref());
        let Some(name) = name else {
            let line = |agent: &AgentKind| {
                format!("{}  {}\n", agent.name, words::agent_description(agent))
            };
            return self.program.output.print(agents.iter().map(line).collect()).await;
        };
        let Some(agent) = agents.iter().find(|agent| agent.name == name) else {
            let names: Vec<_> = agents.iter().map(|agent| agent.name.as_str()).collect();
            let invalid = || invalid_words(BuiltIn::Agent, name, &names.join(", "));
            let words = words::unusable_agent(name, &definitions).unwrap_or_else(invalid);
            return Err(CliError::Usage(words));
        };
        self.remark(&say::uses_agent(&words::agent_title(agent)));
        self.request.agent = Some(agent.name.clone());
        Ok(())
    }

    /// Lists the changes that nobody reviewed yet.
    async fn changes(&mut self) -> Result<()> {
        let Some(fid) = self.begun() else { return Ok(()) };
        let changes = self.program.manager.review().changes(&fid).await?;
        if changes.is_empty() {
            self.remark(&say::no_changes());
        }
        let agents = self.program.manager.agents().list(Some(&fid)).await?;
        let line = |change: &chat_core::review::FileChange| {
            let path = words::one_line(&change.path.display().to_string());
            let by = agents.iter().find(|agent| agent.fid.as_str() == change.session);
            let by = by.filter(|agent| agent.fid != fid).and_then(|agent| agent.name.as_deref());
            let by = by.map(|name| format!("  {}", say::changed_by(name))).unwrap_or_default();
            format!("{path} +{} −{}{by}\n", change.added, change.removed)
        };
        self.program.output.print(changes.iter().map(line).collect()).await
    }

    /// Writes the chat as Markdown.
    async fn export(&mut self, path: Option<&Path>) -> Result<()> {
        let Some(fid) = self.begun() else { return Ok(()) };
        show::export_markdown(fid.as_str(), path, self.program).await?;
        if let Some(path) = path {
            self.remark(&say::exported(path));
        }
        Ok(())
    }

    /// Brings the files back to how they were before the user's last message; in an agent's chat before
    /// what it was asked last.
    async fn undo(&mut self) -> Result<()> {
        let Some(fid) = self.begun() else { return Ok(()) };
        let said = self.program.manager.sessions().transcript(&fid).await?;
        let of_agent = self.session(&fid).await?.meta.parent.is_some();
        let last = said.iter().rev().find(|message| message.asks_for_work(of_agent));
        let last = last.ok_or_else(|| Error::from(Kind::NothingChanged))?;
        let restored = self.program.manager.review().restore_files(&fid, last.id).await?;
        self.remark(&say::restored(restored.changed.len()));
        let skipped = restored.conflicts.iter().map(|conflict| conflict.path.display().to_string());
        let skipped: Vec<_> = skipped.map(|path| words::one_line(&path)).collect();
        if !skipped.is_empty() {
            self.remark(&say::skipped(&skipped.join(", ")));
        }
        Ok(())
    }

    /// Shows the prompts of a server.
    pub(super) fn list_prompts(&self, server: &str, prompts: &[&SlashCommand]) {
        if prompts.is_empty() {
            self.remark(&say::no_prompts(server));
        }
        for command in prompts {
            self.remark(&line_of(command));
        }
    }

    /// Shows all commands.
    fn help(&self, all: &SlashCommands) {
        let line = |name: &str, does: &str| self.remark(&format!("{name:20} {does}"));
        let (skills, commands): (Vec<_>, Vec<_>) =
            all.all().iter().partition(|command| command.is_skill());
        for command in commands {
            self.remark(&line_of(command));
        }
        for (name, does) in say::commands() {
            line(&name, &does);
        }
        if !skills.is_empty() {
            self.remark(&say::skills());
        }
        for skill in skills {
            line(&format!("/{}", skill.name), &skill.description);
        }
        self.remark(&say::long_lines());
        let is_hidden = |name: &String| command::read(&format!("/{name}")).is_some();
        let hidden = all.all().iter().map(|command| command.name.clone()).filter(is_hidden);
        let hidden: Vec<_> = all.shadowed().iter().cloned().chain(hidden).collect();
        if let Some(words) = shadowed_words(&hidden) {
            self.remark(&words);
        }
    }

    /// The settings for another new chat: model, agent, thinking, options, folder and mode of this
    /// one, the rules from the command line, and files that were not sent yet.
    async fn request_like_this(&self) -> ChatRequest {
        let mut request = ChatRequest { allow: self.allow.clone(), ..self.request.clone() };
        let Some(fid) = request.session.take() else {
            return ChatRequest { agent: None, ..request };
        };
        if let Ok(session) = self.session(&fid).await.map(|session| session.meta) {
            request.model = request.model.or(session.model);
            request.agent.get_or_insert(session.agent);
            request.thinking.get_or_insert(session.thinking);
            request.options = request.options.or(&session.options);
            request.project = request.project.or(session.project);
            request.mode.get_or_insert(session.mode);
        }
        request
    }
}

/// A command and what it does, in a line.
fn line_of(command: &SlashCommand) -> String {
    let name = format!("/{} {}", command.name, command.arguments);
    format!("{:20} {}", name.trim_end(), command.description)
}
