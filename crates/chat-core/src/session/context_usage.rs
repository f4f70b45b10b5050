//! Measures how full the window of a session's model is, and previews its next request.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::compaction::holds;
use super::parts::last_usage::Measured;
use super::resolved_request::ResolvedRequest;
use super::user_message::UserMessageBuilder;
use super::{Session, SessionServices};
use crate::agent::{ContextSize, Scale, compaction_limit, outgoing, scale_of, tool_bytes};
use crate::client::{ContextWindow, Price, as_text};
use crate::error::Result;
use crate::message::{
    ChatRequest, ContextUsage, Message, ModelRef, Options, Part, PromptPreview, Role, SessionMeta,
};
use crate::store::SessionRecord;
use crate::tool::Registry;

/// What the tools of each server take, in tokens, the largest first.
fn by_server(tools: &Registry, scale: Scale) -> Vec<(String, u64)> {
    let mut bytes: BTreeMap<&str, u64> = BTreeMap::new();
    for tool in tools.all() {
        if let Some(server) = tool.server() {
            *bytes.entry(server).or_default() += tool_bytes(&tool.info().spec) as u64;
        }
    }
    let tokens = |(server, bytes): (&str, u64)| (server.to_owned(), scale.tokens(bytes));
    let mut by_server: Vec<_> = bytes.into_iter().map(tokens).collect();
    by_server.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
    by_server
}

impl Session {
    /// A session that is not stored, to see what its first request would be.
    pub(crate) fn sketch(services: &Arc<SessionServices>, request: &ChatRequest) -> Arc<Self> {
        let settings = services.clients.settings();
        let meta = SessionMeta {
            project: request.project.clone(),
            agent: request.agent.clone().unwrap_or_else(|| settings.chat.agent.clone()),
            mode: request.mode.unwrap_or(settings.permissions.mode),
            ..SessionMeta::default()
        };
        let record = SessionRecord { meta, ..SessionRecord::default() };
        Self::new(Arc::clone(services), None, record, Vec::new())
    }

    /// A view of how full its model's window is.
    pub(crate) fn context_usage(self: &Arc<Self>) -> ContextUsageReader<'_> {
        ContextUsageReader { session: self }
    }
}

/// Measures how full the window of a session's model is. From [`Session::context_usage`].
pub(crate) struct ContextUsageReader<'a> {
    session: &'a Arc<Session>,
}

impl ContextUsageReader<'_> {
    async fn resolve(&self, request: &ChatRequest) -> Result<ResolvedRequest> {
        let record = self.session.lock().record.clone();
        let project = request.project.as_deref().or(record.project.as_deref());
        self.session.services.definitions.load(project).await;
        let known = Some(&record).filter(|record| !record.fid.as_str().is_empty());
        ResolvedRequest::resolve(&self.session.services, request, known)
    }

    /// How full the window is. Asks the model's server about it where nobody did before.
    pub(crate) async fn current(&self) -> Result<ContextUsage> {
        let history = self.session.transcript().await?;
        let resolved = self.resolve(&ChatRequest::default()).await?;
        // The rules and the environment may have changed since it was measured.
        let surroundings = self
            .session
            .current_surroundings(&*resolved.agent, &resolved.model, self.session.scope())
            .await?;
        let (agent, context_window) = (Arc::clone(&resolved.agent), ContextWindow::default());
        let mut measured =
            Measured { agent, surroundings, context_window, options: resolved.options };
        let tokens = self.measure(&history, &measured).tokens;
        measured.context_window = self
            .session
            .services
            .clients
            .context_window(&resolved.model, &measured.options, tokens)
            .await;
        let usage = self.measure(&history, &measured);
        // A slow server may answer when another model was chosen.
        let now = self.resolve(&ChatRequest::default()).await?;
        if (&now.model, &now.options) == (&resolved.model, &measured.options) {
            self.session.lock().last_usage.set_measured(measured);
        }
        Ok(usage)
    }

    fn measure(&self, history: &[Arc<Message>], measured: &Measured) -> ContextUsage {
        let Measured { agent, surroundings, context_window, options } = measured;
        let settings = self.session.services.clients.settings();
        let scale = scale_of(&**agent, history, surroundings, &context_window.reasoning);
        let messages = agent.build_messages(history, surroundings);
        let size = ContextSize::of(&messages, &context_window.reasoning)
            .and_tools(&surroundings.tools.specs());
        let size = size.with_rules(surroundings);
        ContextUsage {
            window: context_window.now,
            tokens: size.tokens(scale),
            limit: compaction_limit(context_window, settings.chat.compact_at, options),
            measured: scale.measured,
            by_category: size.by_category(scale),
            by_server: by_server(&surroundings.tools, scale),
            cost: self.cost(history),
            shortened: history.iter().any(holds),
        }
    }

    /// What the conversation cost, as far as its servers report their prices.
    fn cost(&self, history: &[Arc<Message>]) -> Option<u64> {
        let mut prices: HashMap<&ModelRef, Option<Price>> = HashMap::new();
        let mut cost = None;
        for message in history {
            let (Some(model), Some(usage)) = (&message.model, &message.usage) else { continue };
            let price =
                prices.entry(model).or_insert_with(|| self.session.services.clients.price(model));
            if let Some(price) = price {
                *cost.get_or_insert(0_u64) += price.of(usage);
            }
        }
        cost
    }

    /// Notes what a request is measured with, and notifies watchers.
    pub(super) fn measured_with(&self, context_window: ContextWindow, options: &Options) {
        {
            let mut state = self.session.lock();
            let project = state.record.project.as_deref();
            let agent = self.session.services.agent(&state.record.agent, project);
            let Ok(agent) = agent else { return };
            state.last_usage.measure_request(agent, context_window, options.clone());
        }
        self.tell();
    }

    /// Notifies watchers how full the window is, where that is known and has changed.
    pub(super) fn tell(&self) {
        let (history, measured) = {
            let mut state = self.session.lock();
            if !state.is_watched() {
                return;
            }
            let Some(measured) = state.last_usage.measured().cloned() else { return };
            (state.transcript.branch().unwrap_or_default(), measured)
        };
        let usage = self.measure(&history, &measured);
        let mut state = self.session.lock();
        if let Some(event) = state.last_usage.set_context_usage(usage) {
            state.tell(event);
        }
    }

    /// What would go out for a request. Stores nothing.
    pub(crate) async fn preview(&self, request: &ChatRequest) -> Result<PromptPreview> {
        let resolved = self.resolve(request).await?;
        let stored = !self.session.fid.as_str().is_empty();
        let mut history = if stored { self.session.transcript().await? } else { Vec::new() };
        let scope = self.session.scope().of(request);
        let project = scope.project.clone();
        let surroundings =
            self.session.current_surroundings(&*resolved.agent, &resolved.model, scope).await?;
        let rejected = self.session.review().rejected(project.clone(), &history).await;
        let builder = UserMessageBuilder::gather(
            &self.session.services,
            request,
            project,
            &history,
            rejected,
        )
        .await;
        let user = builder.build(&*resolved.agent, None);
        let is_text = |part: &Part| matches!(part, Part::Text(_));
        let context = user.parts.iter().filter(|part| !is_text(part)).cloned().collect();
        let context = as_text(&Message { parts: context, ..user.clone() }).into_owned();
        let messages = outgoing(&history).len();
        let specs = surroundings.tools.specs();
        let context_window = self
            .session
            .services
            .clients
            .context_window(&resolved.model, &resolved.options, 0)
            .await;
        let scale = scale_of(&*resolved.agent, &history, &surroundings, &context_window.reasoning);
        let now = resolved.agent.build_messages(&history, &surroundings);
        let now = ContextSize::of(&now, &context_window.reasoning).and_tools(&specs).tokens(scale);
        history.push(Arc::new(user));
        let out = resolved.agent.build_messages(&history, &surroundings);
        let size = ContextSize::of(&out, &context_window.reasoning).and_tools(&specs);
        let system = out.first().filter(|message| message.role == Role::System);
        Ok(PromptPreview {
            system: system.map(|message| message.plain_text()).unwrap_or_default(),
            context,
            tools: specs.iter().map(|tool| (tool.name.clone(), tool_bytes(tool))).collect(),
            messages,
            bytes: size.bytes(),
            tokens: size.tokens(scale),
            now,
        })
    }
}
