//! A session's title: first from what the person said, then a better one asked of the model.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Session;
use crate::agent::outgoing;
use crate::chat::{Chat, Response};
use crate::client::ToolChoice;
use crate::error::Result;
use crate::message::{Ending, Message, ModelRef, Options, Part, Role, Thinking};
use crate::store::SessionPatch;

/// The most characters of a title.
const LONGEST: usize = 60;

/// The most tokens that a title may cost.
const TOKENS: u32 = 40;

/// What the model is asked. It goes on from the same messages, so that the server need not read
/// them again.
const QUESTION: &str = "Give this conversation a title of two to six words in its own language. Answer with the title alone.";

/// The most words of a title that a model gives: it was asked for six.
const MOST_WORDS: usize = 9;

/// A first line shorter than this says too little alone ("Hi,"), in characters.
const TOO_SHORT: usize = 12;

/// A title from what the person said first: the first line, and more where that is short.
pub(crate) fn from_text(text: &str) -> String {
    let mut title = String::new();
    for line in text.lines() {
        for word in line.split_whitespace() {
            if !title.is_empty() {
                title.push(' ');
            }
            title.push_str(word);
        }
        if title.chars().count() >= TOO_SHORT {
            break;
        }
    }
    // What a colon announces does not follow.
    shorten(title.trim_end_matches([':', '：']).trim_end())
}

/// A title from a whole response. One that was cut off is most often what a model thought first.
fn from_response(response: &Response, reply: &str) -> Option<String> {
    if response.ended != Ending::Complete {
        return None;
    }
    from_answer(&response.text(), reply)
}

/// A title from what a model answered; none where it is none, so that the first one stays. Small
/// models answer the question again, explain themselves, or go round in circles.
fn from_answer(answer: &str, reply: &str) -> Option<String> {
    let mut lines = answer.lines().map(bare).filter(|line| !line.is_empty());
    // A line that ends with a colon announces the title.
    let line = lines.find(|line| !line.ends_with([':', '：']))?;
    let line = match line.split_once(':') {
        Some((label, title)) if bare(label).eq_ignore_ascii_case("title") => bare(title),
        _ => line,
    };
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
    let is_title = !words.is_empty()
        && words.len() <= MOST_WORDS
        && line.chars().count() <= LONGEST
        && !goes_in_circles(&words)
        && !line.contains(". ")
        && !is_beginning(&words, reply)
        && !is_beginning(&words, QUESTION);
    is_title.then_some(line)
}

/// A line without the marks that models put round a title.
fn bare(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || "\"'“”„«»*#`_.".contains(c))
}

/// Whether a word comes thrice, or one follows itself.
fn goes_in_circles(words: &[String]) -> bool {
    let thrice = |word| words.iter().filter(|other| *other == word).count() > 2;
    words.windows(2).any(|pair| pair[0] == pair[1]) || words.iter().any(thrice)
}

/// Whether a text begins with these words, three or more: then they were not made for a title.
fn is_beginning(words: &[String], text: &str) -> bool {
    let plain = |word: &str| {
        let letters = word.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect::<String>()
    };
    let text = text.split_whitespace().take(words.len()).map(plain);
    words.len() > 2 && words.iter().map(|word| plain(word)).eq(text)
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
            let branch = state.transcript.branch().unwrap_or_default();
            let said = branch.iter().filter(|m| m.role == Role::User).count();
            if state.record.titled_by_person || state.halted || said != 1 {
                return;
            }
            state.titling = CancellationToken::new();
            let Ok(agent) = self.world.agent(&state.record.agent) else { return };
            (agent.build_messages(&branch, &state.around), state.titling.clone())
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
        let reply = messages.last().map(|message| message.plain_text()).unwrap_or_default();
        messages.push(Arc::new(Message::text(Role::User, None, QUESTION)));
        // The tools stand at the prompt's beginning, which the server knows.
        let tools = self.lock().around.tools.specs();
        let mut chat = Chat::new(client, model.model.clone())
            .tools(tools, ToolChoice::None)
            .options(options)
            .thinking(thinking);
        let response = chat.send(outgoing(&messages), cancel, &mut |_| {}).await?;
        Ok(from_response(&response, &reply))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::message::Usage;

    #[rstest]
    #[case("  Why is\tthe sky   blue?\nTell me.", "Why is the sky blue?")]
    #[case("\n\n", "")]
    #[case("Explain this code:\n\nfn main() {}", "Explain this code")]
    #[case("Hi,\n\nwhy is it raining?\nReally.", "Hi, why is it raining?")]
    #[case("Hi", "Hi")]
    #[case("这是什么：", "这是什么")]
    #[case("At 12:30?", "At 12:30?")]
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
    #[case(Ending::Complete, Some("The user asks for one"))]
    #[case(Ending::Length, None)]
    #[case(Ending::Stopped, None)]
    fn a_response_that_was_cut_off_is_no_title(#[case] ended: Ending, #[case] title: Option<&str>) {
        let parts = vec![Part::Text("The user asks for one".into())];
        let response = Response { parts, ended, usage: Usage::default() };
        assert_eq!(from_response(&response, "The sky is blue.").as_deref(), title);
    }

    #[rstest]
    #[case("\"Blue Sky\"\n", Some("Blue Sky"))]
    #[case("**Title**", Some("Title"))]
    #[case("Title: Blue Sky.", Some("Blue Sky"))]
    #[case("  ", None)]
    #[case("I would be happy to give this conversation a title, and it would be this one.", None)]
    #[case("**Title:** Blue Sky", Some("Blue Sky"))]
    #[case("Title:\n\nBlue Sky", Some("Blue Sky"))]
    #[case("Here is a title:\n\"Blue Sky\"", Some("Blue Sky"))]
    #[case("Rust: Lifetimes", Some("Rust: Lifetimes"))]
    #[case("Here is a title:", None)]
    #[case("the sky the sky the sky", None)]
    #[case("Sky sky", None)]
    #[case("The sky is blue. It is scattered light.", None)]
    #[case("The sky is blue because", None)]
    #[case("Give this conversation a title", None)]
    #[case("One two three four five six seven eight nine ten", None)]
    #[case("天空为什么是蓝色的", Some("天空为什么是蓝色的"))]
    fn an_answer_is_taken_only_where_it_is_a_title(
        #[case] answer: &str,
        #[case] title: Option<&str>,
    ) {
        let reply = "The sky is blue, because light is scattered.";
        assert_eq!(from_answer(answer, reply).as_deref(), title);
    }
}
