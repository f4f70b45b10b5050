//! Decides which parts of a conversation are shortened. Pure: it depends on the measured sizes
//! alone.

use std::sync::Arc;

use super::context_size::{ContextSize, Scale};
use super::{Agent, Surroundings, truncation};
use crate::client::SentReasoning;
use crate::message::{Compaction, Message, MessageId, Part, Role, ToolSpec};

/// How old results are shortened first: so many of the newest rounds stay whole, and of each
/// result before them so many bytes.
const GENTLY: [(usize, u32); 3] = [(2, 2_000), (2, 800), (1, 800)];

/// How they are shortened where all else is not enough: the newest ones, too.
const HARD: [(usize, u32); 3] = [(0, 4_000), (0, 1_500), (0, 500)];

/// How full the window is to be afterwards, of 100 of it: else it would begin again soon, and the server
/// read everything again each time.
const TARGET: u64 = 45;

/// The same, of 100 of what begins it: not all of the window may be used.
const AT_MOST: u64 = 75;

/// How much of what begins it a summary is expected to take, and how much of earlier turns stays as it
/// is where instructions and tools leave no room, both of 100.
const SUMMARY: u64 = 10;

/// From how many tokens on a conversation is made shorter, and how many it is to have then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Goal {
    pub limit: u64,
    pub target: u64,
}

impl Goal {
    /// For a window of so many tokens.
    pub(crate) fn new(limit: u64, window: u64) -> Self {
        Self { limit, target: (window * TARGET / 100).min(limit * AT_MOST / 100) }
    }
}

/// What must be gained for it to be worth while, of 100 of what begins it.
const GAIN: u64 = 8;

/// How much of what begins it the results may take that last beyond a summary, of 100.
const LASTING: u64 = 15;

/// How many bytes of a result stand at most in what stays.
const RESULT: u64 = 2_000;

/// What a conversation is measured with.
pub(super) struct Measure<'a> {
    pub agent: &'a dyn Agent,
    pub around: &'a Surroundings,
    pub tools: &'a [ToolSpec],
    pub scale: Scale,
    pub reasoning: &'a SentReasoning,
}

impl Measure<'_> {
    /// What a request has with this history, in tokens.
    pub(super) fn tokens(&self, history: &[Arc<Message>]) -> u64 {
        let messages = self.agent.build_messages(history, self.around);
        ContextSize::of(&messages, self.reasoning).and_tools(self.tools).tokens(self.scale)
    }

    /// The history with these markers at its end.
    fn tokens_with(&self, history: &[Arc<Message>], compactions: &[Compaction]) -> u64 {
        let marker = truncation::marker(compactions.to_vec());
        let mut history = history.to_vec();
        history.push(Arc::new(marker));
        self.tokens(&history)
    }

    /// How many bytes of the results that last stay beyond a summary of these messages; 0 where none do.
    pub(super) fn lasting(&self, messages: &[Arc<Message>], goal: Goal) -> u32 {
        let most = u32::try_from(self.scale.bytes(goal.limit * LASTING / 100)).unwrap_or(u32::MAX);
        if truncation::lasting(messages, most as usize).is_empty() { 0 } else { most }
    }

    /// Shortens old results until the target is met. Without that being enough it gives nothing:
    /// then a summary is better.
    pub(super) fn shrink_gently(&self, history: &[Arc<Message>], goal: Goal) -> Option<Compaction> {
        let before = self.tokens(history);
        let candidates = GENTLY.iter().filter_map(|level| shrink(history, *level));
        { candidates }.find(|compaction| {
            let after = self.tokens_with(history, std::slice::from_ref(compaction));
            after <= goal.target && before.saturating_sub(after) >= gain(goal.limit)
        })
    }

    /// Shortens results until they fit next to what was decided already; all that can be where
    /// nothing is enough.
    pub(super) fn shrink_hard(
        &self,
        history: &[Arc<Message>],
        decided: &[Compaction],
        goal: Goal,
    ) -> Option<Compaction> {
        let with = |more: Option<Compaction>| {
            let all: Vec<_> = decided.iter().cloned().chain(more).collect();
            self.tokens_with(history, &all)
        };
        let mut least = with(None);
        if least <= goal.target {
            return None;
        }
        let mut best = None;
        for (at, level) in GENTLY.into_iter().chain(HARD).enumerate() {
            // The newest results are worth more than room.
            if at >= GENTLY.len() && least <= goal.limit * AT_MOST / 100 {
                break;
            }
            let Some(compaction) = shrink(history, level) else { continue };
            let tokens = with(Some(compaction.clone()));
            if tokens + gain(goal.limit) <= least || (tokens < least && tokens <= goal.limit) {
                (least, best) = (tokens, Some(compaction));
            }
            if tokens <= goal.target {
                break;
            }
        }
        best
    }

    /// Up to where a summary is to stand for the messages: as much as fits stays, from a message of
    /// the person on where that can be. None where nothing would be gained.
    pub(super) fn boundary(&self, history: &[Arc<Message>], goal: Goal) -> Option<usize> {
        let from = summed_up(history).map_or(0, |at| at + 1);
        let lasting = truncation::lasting(history, self.lasting(history, goal) as usize);
        let lasting: u64 = lasting.iter().map(|text| text.len() as u64).sum();
        let reserve = goal.limit * SUMMARY / 100 + self.scale.tokens(lasting);
        let stays = goal.target.saturating_sub(self.tokens(&[]) + reserve).max(reserve);
        let budget = self.scale.bytes(stays);
        let (mut stays, mut turn, mut round, mut fits) = (0, None, None, true);
        for at in (from..history.len()).rev() {
            stays += weight(&history[at], self.reasoning);
            // The newest round stays, whatever it takes.
            fits = stays <= budget || round.is_none();
            if !fits {
                break;
            }
            if at > from && matches!(history[at].role, Role::User | Role::Assistant) {
                round = Some(at);
                turn = if history[at].role == Role::User { round } else { turn };
            }
        }
        let at = turn.or(round).filter(|_| !fits)?;
        let gone: u64 = history[from..at].iter().map(|m| weight(m, self.reasoning)).sum();
        (self.scale.tokens(gone) >= gain(goal.limit)).then_some(at)
    }
}

/// Up to where a summary is to stand for the messages since the person wants one: only the newest
/// turn stays, of a single turn its newest round.
pub(super) fn newest_turn(history: &[Arc<Message>]) -> Option<usize> {
    let from = summed_up(history).map_or(0, |at| at + 1);
    let newest = |role| {
        let rest = history.get(from + 1..)?;
        rest.iter().rposition(|message| message.role == role).map(|at| from + 1 + at)
    };
    newest(Role::User).or_else(|| newest(Role::Assistant))
}

fn gain(limit: u64) -> u64 {
    limit * GAIN / 100
}

/// Up to which message a summary stands for them already.
pub(super) fn summed_up(history: &[Arc<Message>]) -> Option<usize> {
    let markers = history.iter().rev().filter(|message| message.role == Role::Ui);
    let mut summaries = markers
        .flat_map(|marker| marker.compactions())
        .filter(|compaction| !compaction.undone && compaction.summary.is_some());
    let upto = summaries.next()?.upto;
    history.iter().position(|message| message.id == upto)
}

/// The summary that stands there now.
pub(super) fn summary(history: &[Arc<Message>]) -> Option<&str> {
    let markers = history.iter().rev().filter(|message| message.role == Role::Ui);
    let compactions = markers.flat_map(|marker| marker.compactions());
    { compactions }.filter(|compaction| !compaction.undone).find_map(|c| c.summary.as_deref())
}

/// Shortens the results before the newest rounds; none where there are none.
fn shrink(history: &[Arc<Message>], (whole, keep): (usize, u32)) -> Option<Compaction> {
    let rounds = history.iter().enumerate().rev();
    let mut rounds = rounds.filter(|(_, message)| message.tool_calls().next().is_some());
    let upto = match whole {
        0 => history.len() - rounds.next().map(|_| 1)?,
        whole => rounds.nth(whole - 1)?.0.checked_sub(1)?,
    };
    Some(Compaction { upto: history[upto].id, summary: None, keep, undone: false })
}

/// What a message takes at most once its results are short, in bytes.
fn weight(message: &Arc<Message>, reasoning: &SentReasoning) -> u64 {
    let results = message.parts.iter().map(|part| match part {
        Part::ToolResult(result) if !result.lasting => {
            (result.text.len() as u64).saturating_sub(RESULT)
        }
        _ => 0,
    });
    let all = ContextSize::of(std::slice::from_ref(message), reasoning).bytes();
    all - results.sum::<u64>()
}

/// A summary that stands for all up to a message, but for so many bytes of the results that last.
pub(super) fn summed(upto: MessageId, text: String, lasting: u32) -> Compaction {
    Compaction { upto, summary: Some(text), keep: lasting, undone: false }
}

#[cfg(test)]
mod tests;
