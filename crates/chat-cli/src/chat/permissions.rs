//! Runs the commands about permissions: `/project`, `/mode`, `/rules`.

use std::path::PathBuf;

use chat_core::permission::{Entry, Mode, Rule, Scope};
use chat_presentation::words;

use super::Conversation;
use crate::definitions;
use crate::error::{CliError, Result};
use crate::request;
use crate::rules;
use crate::say;

impl Conversation<'_> {
    /// Shows the folder, or changes it from the next message on.
    pub(super) async fn project(&mut self, given: Option<&str>) -> Result<()> {
        if let Some(given) = given {
            let folder = request::folder(&at_home(given))?;
            self.remark(&say::works_in(&folder));
            if self.request.session.is_none() && self.request.agent.is_none() {
                self.request.agent = Some(self.program.manager.sessions().agent_for(&folder).await);
            }
            self.request.project = Some(folder);
            definitions::ask_for_trust(&self.request, self.program, &mut self.typed).await?;
        } else {
            let folder = self.folder().await?;
            self.remark(&say::worked_in(folder.as_deref()));
        }
        Ok(())
    }

    /// Shows the mode, or changes it from the next message on.
    pub(super) async fn mode(&mut self, given: Option<&str>) -> Result<()> {
        let mode = match given {
            Some(given) => {
                let mode: Mode = given.parse().map_err(|_| CliError::Usage(say::no_mode(given)))?;
                self.request.mode = Some(mode);
                mode
            }
            None => match (self.request.mode, &self.request.session) {
                (Some(mode), _) => mode,
                (None, Some(fid)) => self.session(fid).await?.mode,
                (None, None) => self.program.manager.settings().current().permissions.mode,
            },
        };
        self.remark(&say::mode(mode));
        Ok(())
    }

    /// Lists the rules that apply here.
    pub(super) async fn rules(&mut self) -> Result<()> {
        let folder = self.folder().await?;
        let mut entries = self.of_this_chat().await?;
        let settings = self.program.manager.settings().current();
        entries.extend(settings.permissions.entries(folder.as_deref()));
        if entries.is_empty() {
            self.remark(&say::no_rules());
        }
        for Entry { rule, effect, scope } in entries {
            let place = match (scope, &folder) {
                (Scope::Session, _) => say::in_this_chat(),
                (Scope::Project, Some(folder)) => folder.display().to_string(),
                (Scope::Project | Scope::Everywhere, _) => say::everywhere(),
            };
            let line = format!("{} {rule} ({place})", words::effect(effect));
            self.remark(&words::visible_line(&line));
        }
        Ok(())
    }

    /// Removes a rule that applies here, in every scope.
    pub(super) async fn forget(&mut self, given: &str) -> Result<()> {
        let rule: Rule = given.parse().map_err(|bad| CliError::Usage(words::bad_rule(&bad)))?;
        let folder = self.folder().await?;
        let mut was_there = self.request.allow.contains(&rule);
        self.request.allow.retain(|known| *known != rule);
        self.allow.retain(|known| *known != rule);
        if let Some(fid) = &self.request.session {
            was_there |= self.program.manager.permissions().forget_rule(fid, &rule).await?;
        }
        let here = |project: Option<&PathBuf>| project.is_none() || project == folder.as_ref();
        was_there |= rules::forget(&rule, self.program, here).await?;
        if !was_there {
            return Err(CliError::Said(say::no_rule(&rule)));
        }
        self.remark(&say::rule_removed(&rule));
        Ok(())
    }

    /// The folder for the next message.
    pub(super) async fn folder(&self) -> Result<Option<PathBuf>> {
        match (&self.request.project, &self.request.session) {
            (Some(folder), _) => Ok(Some(folder.clone())),
            (None, Some(fid)) => Ok(self.session(fid).await?.meta.project),
            (None, None) => Ok(None),
        }
    }

    /// The rules of this chat alone, including those of its next message.
    async fn of_this_chat(&self) -> Result<Vec<Entry>> {
        let mut entries = match &self.request.session {
            Some(fid) => self.program.manager.permissions().session_rules(fid).await?,
            None => Vec::new(),
        };
        let new = self.request.allow.iter().cloned();
        entries.extend(new.map(|rule| Entry::allow(rule, Scope::Session)));
        Ok(entries)
    }
}

/// Expands the tilde of a typed path to the home folder, as a shell would.
fn at_home(given: &str) -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match (given.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(given),
    }
}
