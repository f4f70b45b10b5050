//! Holds what is written but not yet sent: the text, and what is pinned to it.

use std::sync::Arc;

pub(super) use chat_core::message::may_begin_mention as begins;
use chat_core::message::{Attachment, Content, Mention};
use chat_presentation::slash_commands;
use gettextrs::gettext;
use serde::{Deserialize, Serialize};

use super::attached::{Attached, Unread};
use super::plain_words::PlainWords;
use crate::letters::plain;

/// How many things of one name get numbered words when a message is edited again.
const NUMBERED: usize = 99;

/// The content of the composer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) text: String,
    /// What is attached to it, in the order in which it was pinned.
    pub(crate) pins: Vec<Arc<Pin>>,
    /// Its `@` words that mention nothing.
    pub(crate) plain: PlainWords,
}

/// Something that is attached to a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pin {
    /// The text that the user sees.
    pub(crate) label: String,
    /// The word in the text that stands for it, which begins with an `@`. Without this word in the
    /// text it is not attached. A pin that has no word is attached until it is removed.
    pub(crate) word: Option<String>,
    pub(crate) what: Pinned,
}

/// What is attached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Pinned {
    /// What the user mentions.
    Mention(Mention),
    /// A pasted text.
    Text(String),
    /// A picture, from a message that is edited again.
    Picture(Attachment),
    /// A file that was read.
    Attached(Box<Attached>),
    /// A file that is still to be read.
    Unread(Unread),
}

impl Written {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Converts it for the engine: the text, and the mentions in the order of their words.
    pub(crate) fn content(&self) -> (Content, Vec<Mention>) {
        let mut attachments = Vec::new();
        let mut mentions = Vec::new();
        let places = self.places();
        for (pin, at) in self.pins.iter().zip(places) {
            match &pin.what {
                Pinned::Text(text) => attachments
                    .push(Attachment::File { name: pin.label.clone(), text: text.clone() }),
                Pinned::Picture(picture) => attachments.push(picture.clone()),
                Pinned::Attached(attached) => attachments.push(attached.named(&pin.label)),
                // Nothing is sent until it was read.
                Pinned::Unread(_) => {}
                Pinned::Mention(mention) => {
                    mentions.push((at.unwrap_or(usize::MAX), mention.clone()));
                }
            }
        }
        mentions.sort_by_key(|(at, _)| *at);
        let mentions = mentions.into_iter().map(|(_, mention)| mention).collect();
        (Content { attachments, ..Content::text(self.text.clone()) }, mentions)
    }

    /// The position of each pin's word.
    fn places(&self) -> Vec<Option<usize>> {
        // A pin without a word has no position.
        let words = self.pins.iter().map(|pin| pin.word.as_deref().unwrap_or_default());
        places(&self.text, &words.collect::<Vec<_>>())
    }

    /// Restores a message to be edited. `name` returns the label of a mention.
    pub(crate) fn of(
        content: Content,
        mentions: Vec<Mention>,
        name: impl Fn(&Mention) -> String,
    ) -> Self {
        let text = slash_commands::as_typed(&content);
        // What an agent said is not edited.
        let Content { text: _, attachments, agent: _ } = content;
        let files = attachments.into_iter().filter_map(|attachment| match attachment {
            Attachment::File { name, text } => {
                Some(Pin { label: name, word: None, what: Pinned::Text(text) })
            }
            Attachment::Image { .. } => {
                Some(Pin { label: gettext("Image"), word: None, what: Pinned::Picture(attachment) })
            }
            // It is looked up again when the message is sent.
            Attachment::Command(_) => None,
        });
        let mut taken: Vec<String> = Vec::new();
        let mut pins: Vec<_> = files.collect();
        for mention in mentions {
            let label = name(&mention);
            // Mentions come in the order of their words: of several with one name, the first is
            // meant.
            let wanted = match &mention {
                Mention::Resource { server, uri, .. } => resource_word(server, uri),
                _ => format!("@{label}"),
            };
            let free: Vec<_> =
                words(&wanted, NUMBERED).filter(|word| !taken.contains(word)).collect();
            let places = places(&text, &free.iter().map(String::as_str).collect::<Vec<_>>());
            let standing = places.into_iter().zip(free).filter_map(|(at, word)| Some((at?, word)));
            let word = standing.min().map(|(_, word)| word);
            taken.extend(word.clone());
            pins.push(Pin { label, word, what: Pinned::Mention(mention) });
        }
        // What was a mention when it was sent is a pin again; other words are plain.
        let (mut plain, mut meant) = (PlainWords::default(), PlainWords::default());
        meant.extend(taken);
        plain.add_but(PlainWords::of(&text), &meant);
        Self { text, pins: pins.into_iter().map(Arc::new).collect(), plain }
    }
}

/// The word of a resource of a server, as it is typed.
pub(crate) fn resource_word(server: &str, uri: &str) -> String {
    let name = plain(&format!("{server}:{uri}"));
    if name.contains(char::is_whitespace) { format!("@\"{name}\"") } else { format!("@{name}") }
}

/// The words for things of one name: the name, and then numbered ones, up to this number.
pub(super) fn words(wanted: &str, most: usize) -> impl Iterator<Item = String> {
    let numbered = (2..=most).map(move |number| format!("{wanted}#{number}"));
    std::iter::once(wanted.to_owned()).chain(numbered)
}

/// The first positions of these words in a text, as whole words: `@a.rs` does not match in
/// `@a.rs.bak`. The text is scanned once, however many words there are.
pub(super) fn places(text: &str, words: &[&str]) -> Vec<Option<usize>> {
    let sorted = sorted(words);
    let mut places = vec![None; words.len()];
    let mut sought: Vec<usize> = (0..words.len()).collect();
    for (at, _) in text.match_indices('@') {
        if sought.is_empty() {
            break;
        }
        if begins(text[..at].chars().next_back()) {
            sought.retain(|word| {
                let stands = stands(&text[at..], words[*word], &sorted);
                if stands {
                    places[*word] = Some(at);
                }
                !stands
            });
        }
    }
    places
}

/// All positions of one of these words in a text, as a whole word.
pub(super) fn all_places(text: &str, word: &str, words: &[&str]) -> Vec<usize> {
    let sorted = sorted(words);
    let begun = text.match_indices('@').map(|(at, _)| at);
    let begun = begun.filter(|at| begins(text[..*at].chars().next_back()));
    begun.filter(|at| stands(&text[*at..], word, &sorted)).collect()
}

fn sorted<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut sorted = words.to_vec();
    sorted.sort_unstable();
    sorted
}

/// Whether the text begins with this word, and not with a longer one: `@Notes` does not match in
/// `@Notes of May` if that is a word, too.
fn stands(text: &str, word: &str, sorted: &[&str]) -> bool {
    let is_here = |word: &str| text.strip_prefix(word).is_some_and(ends);
    if !is_here(word) {
        return false;
    }
    let longer = &sorted[sorted.partition_point(|other| *other <= word)..];
    !longer.iter().take_while(|other| other.starts_with(word)).any(|other| is_here(other))
}

/// Whether a mention ends before this text: a full stop ends it if no letter follows.
fn ends(after: &str) -> bool {
    let mut after = after.chars();
    match after.next() {
        None => true,
        Some(letter) if letter.is_whitespace() => true,
        Some(letter) => {
            ",.;:!?)]}>\"'”“’‘»«›‹…–—、。，；：！？」』）".contains(letter)
                && after.next().is_none_or(|next| !next.is_alphanumeric())
        }
    }
}

#[cfg(test)]
mod tests {
    use chat_core::message::CommandText;

    use super::*;

    #[test]
    fn a_word_stands_as_a_whole_or_not_at_all() {
        let cases = [
            ("see @a.rs", Some(4)),
            ("see @a.rs, please", Some(4)),
            ("(@a.rs)", Some(1)),
            ("@a.rs. And then", Some(0)),
            ("@a.rs.bak", None),
            ("@a.rs.bak and @a.rs", Some(14)),
            ("me@a.rs", None),
        ];
        for (text, at) in cases {
            assert_eq!(places(text, &["@a.rs"]), [at], "{text:?}");
        }
        assert_eq!(places("@b @a @b @", &["@a", "", "@b", "@c"]), [Some(3), None, Some(0), None]);
        assert_eq!(all_places("@a, (@a) me@a @a.b @a", "@a", &["@a"]), [0, 5, 19]);
        for text in ["„@a“", "‚@a‘", "»@a«", "‹@a›", "『@a』", "@a…", "@a – or", "（@a），"]
        {
            assert_eq!(all_places(text, "@a", &["@a"]).len(), 1, "{text:?}");
        }
    }

    #[test]
    fn of_words_that_begin_alike_the_longest_stands() {
        let (short, long) = ("@Parser", "@Parser tests");
        assert_eq!(places("see @Parser tests", &[short, long]), [None, Some(4)]);
        assert_eq!(places("@Parser tests, @Parser", &[long, short]), [Some(0), Some(15)]);
        assert_eq!(all_places("@Parser tests, @Parser", short, &[long, short]), [15]);
        assert_eq!(places("@Parser testsuite", &[short, long]), [Some(0), None]);
    }

    fn file(name: &str) -> Arc<Pin> {
        let mention = Mention::File { path: name.into(), lines: None };
        let word = Some(format!("@{name}"));
        Arc::new(Pin { label: name.to_owned(), word, what: Pinned::Mention(mention) })
    }

    #[test]
    fn what_is_pointed_at_goes_out_in_the_order_of_the_words() {
        let pins = vec![file("b"), file("a")];
        let (content, mentions) = Written { pins, ..Written::text("@a and @b") }.content();
        assert_eq!(content, Content::text("@a and @b"));
        let path = |name: &str| Mention::File { path: name.into(), lines: None };
        assert_eq!(mentions, [path("a"), path("b")]);
    }

    #[test]
    fn what_was_pasted_goes_out_as_a_file() {
        let pin = Pin {
            label: "Pasted text".to_owned(),
            word: None,
            what: Pinned::Text("log".to_owned()),
        };
        let written = Written { pins: vec![Arc::new(pin)], ..Written::default() };
        let (content, mentions) = written.content();
        let file = Attachment::File { name: "Pasted text".to_owned(), text: "log".to_owned() };
        assert_eq!((content.attachments, mentions), (vec![file], Vec::new()));
    }

    #[test]
    fn what_waited_comes_back_as_it_was() {
        let written = Written { pins: vec![file("a")], ..Written::text("see @a") };
        let (content, mentions) = written.content();
        assert_eq!(Written::of(content, mentions, |_| "a".to_owned()), written);
    }

    #[test]
    fn a_picture_comes_back_with_its_message_and_a_draft_keeps_it() {
        let picture = Attachment::Image { mime: "image/png".to_owned(), data: [1, 2].into() };
        let file = Attachment::File { name: "log".to_owned(), text: "a line".to_owned() };
        let said = Content { attachments: vec![picture, file], ..Content::text("see") };
        let written = Written::of(said.clone(), Vec::new(), |_| String::new());
        assert_eq!(written.content().0, said);
        let kept = serde_json::to_string(&*written.pins[0]).unwrap();
        assert_eq!(serde_json::from_str::<Pin>(&kept).unwrap(), *written.pins[0]);
    }

    #[test]
    fn a_command_comes_back_as_it_was_typed() {
        let command = CommandText { name: "fix".to_owned(), text: "Fix #12.".to_owned() };
        let said =
            Content { attachments: vec![Attachment::Command(command)], ..Content::text("/fix 12") };
        let written = Written::of(said, Vec::new(), |_| String::new());
        assert_eq!(written, Written::text("/fix 12"));
    }

    #[test]
    fn a_resource_that_was_read_comes_back_with_its_word() {
        let mention = |text: Option<&str>| Mention::Resource {
            server: "wiki".to_owned(),
            uri: "note://a".to_owned(),
            title: "A note".to_owned(),
            text: text.map(str::to_owned),
        };
        let said = Content::text("see @wiki:note://a.");
        let written =
            Written::of(said.clone(), vec![mention(Some("text"))], |_| "A note".to_owned());
        let pin = &written.pins[0];
        assert_eq!((pin.label.as_str(), pin.word.as_deref()), ("A note", Some("@wiki:note://a")));
        assert!(pin.is_of(&Pinned::Mention(mention(None))), "it is the same one");
        assert_eq!(written.content(), (said, vec![mention(Some("text"))]));
        assert_eq!(resource_word("wiki", "a b"), "@\"wiki:a b\"");
    }

    #[test]
    fn what_has_the_same_name_comes_back_with_its_own_word() {
        let pin = |path: &str, word: &str| {
            let what = Pinned::Mention(Mention::File { path: path.into(), lines: None });
            Arc::new(Pin { label: "run".to_owned(), word: Some(word.to_owned()), what })
        };
        let text = || "first @run#2, then @run".to_owned();
        let both =
            Written { pins: vec![pin("b", "@run#2"), pin("a", "@run")], ..Written::text(text()) };
        let one = Written { pins: vec![pin("b", "@run#2")], ..Written::text(text()) };
        for written in [both, Written { text: "first @run#2".to_owned(), ..one }] {
            let (content, mentions) = written.content();
            assert_eq!(Written::of(content, mentions, |_| "run".to_owned()), written);
        }
    }
}
