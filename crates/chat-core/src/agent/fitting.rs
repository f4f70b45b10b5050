//! Makes what a round sends fit the model's context window.

use std::sync::Arc;

use super::compactor::limit;
use super::{Turn, TurnContext, TurnProgress};
use crate::client::SentReasoning;
use crate::error::{Kind, Result};
use crate::message::Message;

/// How full a window may be by an estimate before a request is refused, in percent.
const SURELY_FULL: u64 = 115;

impl Turn {
    /// Shortens the conversation where it no longer fits. Returns all messages to send where they are
    /// other than before, or the first of the turn; none where the results of tools just follow.
    ///
    /// # Errors
    /// `ContextFull`: nothing that could be sent would fit. `AgentBudget`, and the store's.
    pub(super) async fn fit(&mut self, context: &TurnContext) -> Result<Option<Vec<Arc<Message>>>> {
        let Self { sink, compactor, chat, tools, .. } = self;
        let mut history = context.history.clone();
        let build =
            |history: &[Arc<Message>]| compactor.agent.build_messages(history, &compactor.around);
        let mut messages = chat.messages().is_empty().then(|| build(&history));
        let measured = |history: &[Arc<Message>], reasoning: &SentReasoning| {
            let measure = compactor.measure(history, tools, reasoning);
            (measure.tokens(history), measure.scale.measured)
        };
        let (mut tokens, _) = measured(&history, &SentReasoning { text: true, data_of: None });
        let context_window = tokio::select! {
            biased;
            () = compactor.cancel.cancelled() => return Ok(messages),
            context_window = sink.context_window(&compactor.options, tokens) => context_window,
        };
        let mut sure;
        (tokens, sure) = measured(&history, &context_window.reasoning);
        let limit = limit(&context_window, context.compact_at, &compactor.options);
        if let Some(limit) = limit.filter(|limit| tokens > *limit) {
            sink.progress(TurnProgress::Compacting);
            let compacted = compactor.compact(&history, tools, &context_window, limit, false).await;
            if let Some(error) = compacted.error {
                if matches!(error.kind, Kind::AgentBudget { .. }) {
                    return Err(error);
                }
                sink.progress(TurnProgress::Notice(error));
            }
            if let Some(marker) = compacted.marker {
                sink.add_marker(marker).await?;
                history = sink.context().history;
                messages = Some(build(&history));
                (tokens, sure) = measured(&history, &context_window.reasoning);
            }
        }
        if let Some(window) = context_window.largest
            && sure
            && tokens * 100 > u64::from(window) * SURELY_FULL
            && !compactor.cancel.is_cancelled()
        {
            return Err(Kind::ContextFull { window }.into());
        }
        chat.set_tokens(Some(tokens));
        Ok(messages)
    }
}
