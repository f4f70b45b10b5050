//! Finds what the switcher can go to.

use chat_core::message::{Fid, ModelRef};
use chat_presentation::fuzzy;
use gettextrs::gettext;

use super::super::keys::Action;
use crate::preferences;

/// As many of a kind as can be taken in at a glance.
const LIMIT: usize = 9;
/// As many of a kind while all kinds are shown.
const LIMIT_AMONG_OTHERS: usize = 5;

/// How many more of a kind each use of its last row shows.
const STEP: usize = 50;

/// What can be gone to.
#[derive(Clone, Debug)]
pub(in crate::window) enum Target {
    Chat(Fid),
    Action(Action),
    /// A slash command of the shown chat.
    Command(String),
    Model(ModelRef),
    Setting(preferences::Page),
}

/// The kinds of targets, each with a sign that leads to it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Chats,
    Commands,
    Models,
    Settings,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Chats, Self::Commands, Self::Models, Self::Settings];

    fn sign(self) -> Option<char> {
        match self {
            Self::Chats => None,
            Self::Commands => Some('>'),
            Self::Models => Some('@'),
            Self::Settings => Some('#'),
        }
    }

    pub(super) fn title(self) -> String {
        match self {
            Self::Chats => gettext("Chats"),
            Self::Commands => gettext("Commands"),
            Self::Models => gettext("Models"),
            Self::Settings => gettext("Settings"),
        }
    }
}

/// Something that can be gone to.
#[derive(Clone, Debug)]
pub(in crate::window) struct Entry {
    pub(in crate::window) target: Target,
    pub(in crate::window) name: String,
    /// A remark at the end of its row, such as a key.
    pub(in crate::window) aside: String,
}

impl Entry {
    pub(super) fn kind(&self) -> Kind {
        match self.target {
            Target::Chat(_) => Kind::Chats,
            Target::Action(_) | Target::Command(_) => Kind::Commands,
            Target::Model(_) => Kind::Models,
            Target::Setting(_) => Kind::Settings,
        }
    }
}

/// A row of the switcher.
#[derive(Clone, Copy, Debug)]
pub(super) enum Line<'a> {
    Entry(&'a Entry),
    /// Shows more of a kind, of which so many are shown.
    More {
        kind: Kind,
        shown: usize,
        all: usize,
    },
}

/// How often more was asked for of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked([usize; Kind::ALL.len()]);

impl Asked {
    /// More of this kind is asked for.
    pub(super) fn add(&mut self, kind: Kind) {
        self.0[kind as usize] += 1;
    }

    fn more_of(self, kind: Kind) -> usize {
        self.0[kind as usize] * STEP
    }
}

/// The lines for a query, kind by kind. Without a query these are the latest chats; a sign at its
/// beginning asks for one kind alone.
pub(super) fn found<'a>(query: &str, entries: &'a [Entry], asked: Asked) -> Vec<Line<'a>> {
    let query = query.trim_start();
    let only =
        Kind::ALL.into_iter().find(|kind| kind.sign().is_some_and(|it| query.starts_with(it)));
    let text = query.strip_prefix(|c| only.and_then(Kind::sign) == Some(c)).unwrap_or(query);
    let kinds: Vec<Kind> = match only {
        Some(kind) => vec![kind],
        None if text.trim().is_empty() => vec![Kind::Chats],
        None => Kind::ALL.to_vec(),
    };
    let limit = if kinds.len() == 1 { LIMIT } else { LIMIT_AMONG_OTHERS };
    let mut lines = Vec::new();
    for kind in kinds {
        let of_kind: Vec<&Entry> = entries.iter().filter(|entry| entry.kind() == kind).collect();
        let best = fuzzy::best(text, &of_kind, |entry| &entry.name, usize::MAX);
        let (all, mut shown) = (best.len(), limit + asked.more_of(kind));
        // A row that shows one more would take its place.
        if all == shown + 1 {
            shown = all;
        }
        lines.extend(best.into_iter().take(shown).map(|entry| Line::Entry(entry)));
        if all > shown {
            lines.push(Line::More { kind, shown, all });
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(target: Target, name: &str) -> Entry {
        Entry { target, name: name.to_owned(), aside: String::new() }
    }

    fn chats(count: usize) -> Vec<Entry> {
        let chat =
            |at: usize| entry(Target::Chat(Fid::new(at.to_string())), &format!("Models {at}"));
        (0..count).map(chat).collect()
    }

    /// The names in the lines; of a last one how many are shown of how many.
    fn names(query: &str, entries: &[Entry], asked: Asked) -> Vec<String> {
        let name = |line| match line {
            Line::Entry(entry) => entry.name.clone(),
            Line::More { shown, all, .. } => format!("{shown} of {all}"),
        };
        found(query, entries, asked).into_iter().map(name).collect()
    }

    #[test]
    fn signs_lead_to_one_kind_and_without_one_all_are_found() {
        let mut entries = chats(20);
        entries.push(entry(Target::Action(Action::NewChat), "New chat"));
        entries.push(entry(Target::Command("model".to_owned()), "/model"));
        entries.push(entry(Target::Model(ModelRef::new("local", "smol")), "smol"));
        entries.push(entry(Target::Setting(preferences::Page::Models), "Models"));
        let names = |query: &str| names(query, &entries, Asked::default());
        let mut latest: Vec<String> = (0..LIMIT).map(|at| format!("Models {at}")).collect();
        latest.push("9 of 20".to_owned());
        assert_eq!(names(""), latest);
        assert_eq!(names(">"), ["New chat", "/model"]);
        assert_eq!(names("> nc"), ["New chat"]);
        assert_eq!(
            (names("@sm"), names("#")),
            (vec!["smol".to_owned()], vec!["Models".to_owned()])
        );
        let all = names("model");
        assert_eq!(all[LIMIT_AMONG_OTHERS..], ["5 of 20", "/model", "Models"]);
    }

    #[test]
    fn what_does_not_fit_is_shown_step_by_step() {
        let entries = chats(LIMIT + STEP + 3);
        let mut asked = Asked::default();
        let last = |asked| names("", &entries, asked).pop().unwrap();
        assert_eq!(last(asked), "9 of 62");
        asked.add(Kind::Chats);
        assert_eq!(last(asked), "59 of 62");
        asked.add(Kind::Chats);
        assert_eq!(last(asked), "Models 61");
        // A row is not spent on saying that there is one more.
        assert_eq!(names("", &chats(LIMIT + 1), Asked::default()).len(), LIMIT + 1);
    }
}
