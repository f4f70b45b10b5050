//! A session's title: first from what the person said, then a better one asked of the model.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Session;
use crate::agent::outgoing;
use crate::chat::Chat;
use crate::error::Result;
use crate::message::{Message, ModelRef, Options, Part, Role, Thinking};
use crate::store::SessionPatch;

/// The most characters of a title.
const LONGEST: usize = 60;

/// The most tokens that a title may cost.
const TOKENS: u32 = 40;

/// What the model is asked. It goes on from the same messages, so that the server need not read
/// them again.
const QUESTION: &str = "Give this conversation a title of two to six words in its own language. Answer with the title alone.";

/// A title from what the person said first.
pub(crate) fn from_text(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    shorten(&line.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A title from what a model answered; none where the answer is none.
fn from_answer(answer: &str) -> Option<String> {
    let line = answer.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.strip_prefix("Title:").unwrap_or(line);
    let line = line.trim_matches(|c: char| c.is_whitespace() || "\"'“”„«»*#`_.".contains(c));
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    (!line.is_empty() && line.chars().count() <= LONGEST).then_some(line)
}

fn shorten(line: &str) -> String {
    if line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    let cut: String = line.chars().take(LONGEST - 1).collect();
    let at_word = cut.rfind(' ').filter(|at| *at > cut.len() / 2).unwrap_or(cut.len());
    format!("{}…", cut[..at_word].trim_end())
}

impl Session {
    /// Asks for a better title in the background, after the first reply. A new request ends the
    /// asking: it must not wait behind it.
    pub(super) fn ask_for_title(self: &Arc<Self>, model: &ModelRef) {
        if !self.world.better_titles || !self.world.clients.settings().chat.better_titles {
            return;
        }
        let (messages, cancel) = {
            let mut state = self.lock();
            let branch = state.branch().unwrap_or_default();
            let said = branch.iter().filter(|m| m.role == Role::User).count();
            if state.record.titled_by_person || state.halted || said != 1 {
                return;
            }
            state.titling = CancellationToken::new();
            let Ok(agent) = self.world.agent(&state.record.agent) else { return };
            (agent.build_messages(&branch), state.titling.clone())
        };
        let (session, model) = (Arc::clone(self), model.clone());
        self.world.spawn(async move {
            let asked = session.title_of(messages, &model, &cancel);
            let title = tokio::select! {
                biased;
                () = cancel.cancelled() => return,
                title = asked => title,
            };
            cancel.cancel();
            match title {
                Ok(Some(title)) => {
                    let patch =
                        SessionPatch { title: Some((title, false)), ..SessionPatch::default() };
                    if let Err(error) = session.patch(patch).await {
                        tracing::warn!(%error, "the better title was not stored");
                    }
                }
                Ok(None) => {}
                // The first title is good enough.
                Err(error) => tracing::debug!(kind = error.kind.name(), "no better title"),
            }
        });
    }

    async fn title_of(
        &self,
        mut messages: Vec<Arc<Message>>,
        model: &ModelRef,
        cancel: &CancellationToken,
    ) -> Result<Option<String>> {
        let client = self.world.clients.client(model).await?;
        let usage = self.world.clients.usage(model);
        let known = self.lock().record.options.clone();
        // A model that thinks would spend on that what a title may cost.
        let thinks = messages.iter().flat_map(|message| &message.parts);
        let thinks = thinks.into_iter().any(|part| matches!(part, Part::Thinking { .. }));
        let thinking = if thinks { Thinking::Off } else { Thinking::Habit };
        // The window must stay as it was, or Ollama loads the model anew.
        let options = Options { max_tokens: Some(TOKENS), ..known.or(&usage.options) };
        messages.push(Arc::new(Message::text(Role::User, None, QUESTION)));
        let mut chat = Chat::new(client, model.model.clone()).options(options).thinking(thinking);
        let response = chat.send(outgoing(&messages), cancel, &mut |_| {}).await?;
        Ok(from_answer(&response.text()))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("  Why is\tthe sky   blue?\nTell me.", "Why is the sky blue?")]
    #[case("\n\n", "")]
    fn a_title_is_the_first_line(#[case] text: &str, #[case] title: &str) {
        assert_eq!(from_text(text), title);
    }

    #[test]
    fn a_long_line_is_cut_at_a_word() {
        let title = from_text(&"wörter ".repeat(30));
        assert!(title.chars().count() <= LONGEST && title.ends_with("wörter…"), "{title}");
        assert_eq!(from_text(&"x".repeat(100)).chars().count(), LONGEST);
    }

    #[rstest]
    #[case("\"Blue Sky\"\n", Some("Blue Sky"))]
    #[case("**Title**", Some("Title"))]
    #[case("Title: Blue Sky.", Some("Blue Sky"))]
    #[case("  ", None)]
    #[case("I would be happy to give this conversation a title, and it would be this one.", None)]
    fn an_answer_is_taken_only_where_it_is_a_title(
        #[case] answer: &str,
        #[case] title: Option<&str>,
    ) {
        assert_eq!(from_answer(answer).as_deref(), title);
    }
}
