//! Shortens earlier messages as the markers of a conversation say. The messages themselves stay.

use std::borrow::Cow;
use std::sync::Arc;

use super::prompt_context::{open_plan, todos};
use crate::message::{Compaction, Message, MessageId, Part, Role, ToolResult};

/// Introduces the summary of what the model cannot read any more.
const EARLIER: &str =
    "This conversation started earlier. A summary of everything said and done until then:";

/// What stands above the plan there.
const PLAN: &str = "The plan at that point:";

/// What stands above the results that last.
const LASTING: &str = "Instructions that were loaded until then and still apply:";

/// From which length on lasting results are shortened with the others: only where nothing else is enough.
const SHORTENS_LASTING: usize = 500;

/// How much of what is kept of a long result is its head, of 100.
const HEAD: usize = 60;

/// A history as it goes out: what the markers in it stand for is taken out or shortened. The same
/// history always gives the same; what comes behind changes nothing before it.
pub(super) fn shortened(history: &[Arc<Message>]) -> Cow<'_, [Arc<Message>]> {
    let place = |id: MessageId| history.iter().position(|message| message.id == id);
    let mut summary: Option<(usize, &Arc<Message>, &str, u32)> = None;
    let mut shrunk: Vec<(usize, usize)> = Vec::new();
    for marker in history.iter().filter(|message| message.role == Role::Ui) {
        for compaction in marker.compactions().filter(|compaction| !compaction.undone) {
            let Some(upto) = place(compaction.upto) else { continue };
            match &compaction.summary {
                Some(text) => summary = Some((upto, marker, text, compaction.keep)),
                None => shrunk.push((upto, compaction.keep as usize)),
            }
        }
    }
    if summary.is_none() && shrunk.is_empty() {
        return Cow::Borrowed(history);
    }
    let mut out = Vec::with_capacity(history.len());
    let from = summary.map_or(0, |(upto, ..)| upto + 1);
    let mut rest = history.iter().enumerate().skip(from).peekable();
    if let Some((upto, marker, text, keep)) = summary {
        // A result without its call is refused by strict servers.
        while rest.next_if(|(_, message)| matches!(message.role, Role::Tool | Role::Ui)).is_some() {
        }
        let asks = rest.peek().is_some_and(|(_, message)| message.role == Role::User);
        let question = if asks { None } else { last_words(&history[..=upto]) };
        let lasting = lasting(&history[..=upto], keep as usize);
        out.push(Arc::new(summed_up(marker, text, &history[..=upto], &lasting, question)));
    }
    for (at, message) in rest {
        let keep = shrunk.iter().filter(|(upto, _)| *upto >= at).map(|(_, keep)| *keep).min();
        out.push(
            keep.map_or_else(|| Arc::clone(message), |keep| with_short_results(message, keep)),
        );
    }
    Cow::Owned(out)
}

/// The results that last in what a summary stands for, in their order: each once, the newest of them in at most so
/// many bytes.
pub(super) fn lasting(history: &[Arc<Message>], most: usize) -> Vec<&str> {
    let parts = history.iter().rev().flat_map(|message| message.parts.iter().rev());
    let mut left = most;
    let mut found: Vec<&str> = Vec::new();
    for part in parts {
        let Part::ToolResult(result) = part else { continue };
        let text = result.text.trim();
        if result.lasting && text.len() <= left && !found.contains(&text) {
            left -= text.len();
            found.push(text);
        }
    }
    found.reverse();
    found
}

/// The summary as the user's message, with the plan as it stood where something of it was open, and the results that
/// last; and with what they said last, where the work on it goes on.
fn summed_up(
    marker: &Message,
    text: &str,
    history: &[Arc<Message>],
    lasting: &[&str],
    question: Option<&Arc<Message>>,
) -> Message {
    let mut text = format!("{EARLIER}\n\n{}", text.trim());
    if let Some(plan) = open_plan(&todos(history)) {
        text = format!("{text}\n\n{PLAN}\n{plan}");
    }
    if !lasting.is_empty() {
        text = format!("{text}\n\n{LASTING}\n\n{}", lasting.join("\n\n"));
    }
    let parts = std::iter::once(Part::Context { text });
    let question = question.into_iter().flat_map(|message| message.parts.iter().cloned());
    Message { role: Role::User, parts: parts.chain(question).collect(), ..marker.clone() }
}

/// What the person said last in their own words.
fn last_words(history: &[Arc<Message>]) -> Option<&Arc<Message>> {
    history.iter().rfind(|message| message.role == Role::User && !message.plain_text().is_empty())
}

/// Whether a context stands for earlier messages.
pub(super) fn is_summary(text: &str) -> bool {
    text.starts_with(EARLIER)
}

/// A message with results of at most so many bytes each, and a note of what is missing.
pub(super) fn with_short_results(message: &Arc<Message>, keep: usize) -> Arc<Message> {
    let long = |part: &Part| matches!(part, Part::ToolResult(result) if is_long(result, keep));
    if !message.parts.iter().any(long) {
        return Arc::clone(message);
    }
    let mut message = Message::clone(message);
    for part in &mut message.parts {
        if let Part::ToolResult(result) = part
            && is_long(result, keep)
        {
            result.text = head_and_tail(&result.text, keep);
        }
    }
    Arc::new(message)
}

/// Whether shortening gains something: the note is not for nothing.
fn is_long(result: &ToolResult, keep: usize) -> bool {
    let may_be_shortened = !result.lasting || keep <= SHORTENS_LASTING;
    may_be_shortened && result.text.len() > keep + 100
}

pub(super) fn head_and_tail(text: &str, keep: usize) -> String {
    let head = text.floor_char_boundary(keep * HEAD / 100);
    let tail = text.ceil_char_boundary(text.len() - keep * (100 - HEAD) / 100);
    let missing = tail - head;
    format!(
        "{}\n[{missing} bytes of this earlier result are omitted here; make the call again if you need them]\n{}",
        &text[..head],
        &text[tail..]
    )
}

/// A marker of these.
pub(super) fn marker(compactions: Vec<Compaction>) -> Message {
    Message {
        parts: compactions.into_iter().map(Part::Compaction).collect(),
        ..Message::text(Role::Ui, None, "")
    }
}

#[cfg(test)]
pub(super) mod tests;
