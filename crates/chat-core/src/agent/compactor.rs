//! Makes a conversation fit its model's context window, before each round of a request and when the
//! user asks for it.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::compaction::{self, Goal, Measure};
use super::context_size::scale_of;
use super::summary::Summary;
use super::{Agent, ReplySink, Surroundings, truncation};
use crate::client::{Client, ContextWindow, SentReasoning};
use crate::error::{Error, Result};
use crate::message::{Message, ModelRef, Options, Part, Thinking, ToolSpec, Usage};

/// The window where nobody knows it and the person wants a summary, in tokens.
const UNKNOWN: u32 = 8_192;

/// How many tokens a summary may have at least, and at most.
const SUMMARY: std::ops::RangeInclusive<u32> = 160..=1_200;

/// What a compaction is made with.
pub(crate) struct Compactor {
    pub agent: Arc<dyn Agent>,
    pub around: Surroundings,
    pub client: Arc<dyn Client>,
    pub model: ModelRef,
    pub thinking: Thinking,
    pub options: Options,
    pub cancel: CancellationToken,
    /// The sink of the turn that is compacted for; none where the user asks for it.
    pub sink: Option<Arc<dyn ReplySink>>,
}

/// What came of it: the marker that says so, none where nothing was to be gained; and what went
/// wrong on the way.
pub(crate) struct Compacted {
    pub marker: Option<Message>,
    pub error: Option<Error>,
}

/// From how many tokens on a conversation is made shorter; none where it never is, or where the
/// window is not known.
pub(crate) fn limit(context_window: &ContextWindow, percent: u8, options: &Options) -> Option<u64> {
    let window = u64::from(context_window.largest.or(context_window.now)?);
    if percent == 0 {
        return None;
    }
    // The room that the user reserved for a reply stays free, up to half of the window.
    let reply = u64::from(options.max_tokens.unwrap_or(0)).min(window / 2);
    Some((window * u64::from(percent.min(100)) / 100).min(window - reply))
}

impl Compactor {
    pub(super) fn measure<'a>(
        &'a self,
        history: &[Arc<Message>],
        tools: &'a [ToolSpec],
        reasoning: &'a SentReasoning,
    ) -> Measure<'a> {
        let scale = scale_of(&*self.agent, history, &self.around, reasoning);
        Measure { agent: &*self.agent, around: &self.around, tools, scale, reasoning }
    }

    /// Makes a history that is too long shorter: first old results, then by a summary, and where
    /// that is not enough the newest results, too. `wanted`: the person wants a summary now.
    pub(crate) async fn compact(
        &self,
        history: &[Arc<Message>],
        tools: &[ToolSpec],
        context_window: &ContextWindow,
        limit: u64,
        wanted: bool,
    ) -> Compacted {
        let measure = self.measure(history, tools, &context_window.reasoning);
        let goal = Goal::new(
            limit,
            context_window.largest.or(context_window.now).map_or(limit, u64::from),
        );
        if !wanted && let Some(shrunk) = measure.shrink_gently(history, goal) {
            return Compacted { marker: Some(truncation::marker(vec![shrunk])), error: None };
        }
        let mut decided = Vec::new();
        let (mut error, mut usage) = (None, None);
        let boundary =
            if wanted { compaction::newest_turn(history) } else { measure.boundary(history, goal) };
        if let Some(at) = boundary {
            match self.sum_up(&history[..at], &measure, context_window).await {
                Ok(Some((text, spent))) => {
                    let lasting = measure.lasting(&history[..at], goal);
                    decided.push(compaction::summed(history[at - 1].id, text, lasting));
                    usage = Some(spent);
                }
                Ok(None) => return Compacted { marker: None, error: None },
                Err(failed) => error = Some(failed),
            }
        }
        decided.extend(measure.shrink_hard(history, &decided, goal));
        let marker = (!decided.is_empty()).then(|| Message {
            usage,
            model: Some(self.model.clone()),
            ..truncation::marker(decided)
        });
        Compacted { marker, error }
    }

    async fn sum_up(
        &self,
        messages: &[Arc<Message>],
        measure: &Measure<'_>,
        context_window: &ContextWindow,
    ) -> Result<Option<(String, Usage)>> {
        let window = context_window.largest.or(context_window.now).unwrap_or(UNKNOWN);
        let from = compaction::summed_up(messages).map_or(0, |at| at + 1);
        let thinks = messages.iter().flat_map(|message| &message.parts);
        let thinks = { thinks }.any(|part| matches!(part, Part::Thinking { .. }));
        let summary = Summary {
            sink: self.sink.as_deref(),
            client: &self.client,
            model: &self.model.model,
            options: &self.options,
            // Thoughts would spend what a summary may have.
            thinking: if thinks || self.thinking != Thinking::Default {
                Thinking::Off
            } else {
                Thinking::Default
            },
            most: measure.scale.bytes(u64::from(window) / 2) as usize,
            tokens: (window / 8).clamp(*SUMMARY.start(), *SUMMARY.end()),
        };
        summary.of(&messages[from..], compaction::summary(messages), &self.cancel).await
    }
}
