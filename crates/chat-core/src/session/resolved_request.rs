//! Fills in the defaults of a request: agent, model, thinking and options.

use std::path::PathBuf;
use std::sync::Arc;

use chat_permission::{Effect, Entry, Rule, Scope};

use super::SessionServices;
use super::parts::permission_rules::of_any_folder;
use super::parts::steering::Answering;
use crate::agent::Agent;
use crate::error::{Kind, Result};
use crate::message::{ChatRequest, ModelRef, Options, SessionChange, Thinking};
use crate::store::{SessionPatch, SessionRecord};

/// A request whose agent and model are known.
pub(super) struct ResolvedRequest {
    pub agent: Arc<dyn Agent>,
    pub model: ModelRef,
    pub thinking: Thinking,
    pub options: Options,
}

impl ResolvedRequest {
    /// Waits until what the request needs is known: servers may still be looked for. Nobody else
    /// is to wait for that, so that it comes before the gate.
    pub(super) async fn wait_until_known(
        services: &SessionServices,
        request: &ChatRequest,
        known: Option<&SessionRecord>,
    ) {
        let project = request.project.as_deref().or(known.and_then(|it| it.project.as_deref()));
        services.definitions.load(project).await;
        let agent = Self::agent(services, request, known).ok();
        let of_agent = agent.as_ref().and_then(|agent| of_changed_agent(&**agent, known));
        let known = known.and_then(|known| known.model.as_ref());
        let connection = match (&request.model, of_agent.and_then(|it| it.split_once('/'))) {
            (Some(model), _) => Some(model.connection.as_str()),
            (None, Some((connection, _))) => Some(connection),
            (None, None) => known.map(|model| model.connection.as_str()),
        };
        services.clients.wait_until_known(connection).await;
    }

    fn agent(
        services: &SessionServices,
        request: &ChatRequest,
        known: Option<&SessionRecord>,
    ) -> Result<Arc<dyn Agent>> {
        let project = request.project.as_deref().or(known.and_then(|it| it.project.as_deref()));
        let agent = request.agent.as_deref().or(known.map(|known| known.agent.as_str()));
        services.agent(agent.unwrap_or(&services.clients.settings().chat.agent), project)
    }

    /// Fills in the defaults of the request.
    pub(super) fn resolve(
        services: &SessionServices,
        request: &ChatRequest,
        known: Option<&SessionRecord>,
    ) -> Result<Self> {
        let agent = Self::agent(services, request, known)?;
        let other = || {
            let known = known.and_then(|known| known.model.clone());
            known.or_else(|| services.clients.default_model())
        };
        let model = match (&request.model, of_changed_agent(&*agent, known)) {
            (Some(model), _) => model.clone(),
            (None, Some(name)) => services.model_named(name, other().as_ref()),
            (None, None) => other().ok_or_else(|| services.no_model())?,
        };
        if !services.clients.has(&model.connection) {
            return Err(Kind::ConnectionMissing { name: model.connection }.into());
        }
        let usage = services.clients.usage(&model);
        let thinking = request.thinking.or(known.map(|known| known.thinking));
        let known_options = known.map(|known| known.options.clone()).unwrap_or_default();
        Ok(Self {
            model,
            thinking: thinking.unwrap_or(usage.thinking),
            options: request
                .options
                .clone()
                .or(&known_options)
                .or(&agent.options())
                .or(&usage.options),
            agent,
        })
    }

    /// How it answers in this project.
    pub(super) fn answering(&self, project: Option<PathBuf>) -> Answering {
        Answering {
            agent: self.agent.name().to_owned(),
            model: self.model.clone(),
            thinking: self.thinking,
            options: self.options.clone(),
            project,
        }
    }

    /// What the session's row must say for the next request to be made in the same way.
    pub(super) fn patch(
        &self,
        request: &ChatRequest,
        known: &SessionRecord,
    ) -> Option<SessionPatch> {
        let project = request.project.clone();
        let project = project.filter(|project| Some(project) != known.project.as_ref());
        // What was allowed in the one folder is not allowed in the other.
        let rules =
            if project.is_some() { of_any_folder(&known.rules) } else { known.rules.clone() };
        let change = SessionChange {
            agent: Some(self.agent.name().to_owned()).filter(|agent| *agent != known.agent),
            model: Some(self.model.clone()).filter(|model| Some(model) != known.model.as_ref()),
            thinking: request.thinking.filter(|thinking| *thinking != known.thinking),
            options: Some(request.options.clone().or(&known.options))
                .filter(|o| *o != known.options),
            instructions: request
                .instructions
                .clone()
                .map(Some)
                .filter(|instructions| *instructions != known.instructions),
            project: project.map(Some),
            mode: request.mode.filter(|mode| *mode != known.mode),
        };
        let patch = SessionPatch {
            change,
            rules: Some(with_rules(&rules, &request.allow)).filter(|rules| *rules != known.rules),
            // Whoever writes in an archived chat needs it again.
            archived: known.archived.map(|_| false),
            ..SessionPatch::default()
        };
        (patch != SessionPatch::default()).then_some(patch)
    }
}

/// The model of an agent that the session did not have before.
fn of_changed_agent<'a>(agent: &'a dyn Agent, known: Option<&SessionRecord>) -> Option<&'a str> {
    let is_known = known.is_some_and(|known| known.agent == agent.name());
    agent.model().filter(|_| !is_known)
}

/// Rules that a request brings for its session.
pub(super) fn entries(rules: &[Rule]) -> impl Iterator<Item = Entry> {
    rules.iter().map(|rule| Entry {
        rule: rule.clone(),
        effect: Effect::Allow,
        scope: Scope::Session,
    })
}

/// The rules that there are, and those that a request brings.
fn with_rules(known: &[Entry], more: &[Rule]) -> Vec<Entry> {
    let kept = known.iter().filter(|entry| !more.contains(&entry.rule)).cloned();
    kept.chain(entries(more)).collect()
}
