//! Decides which models can be chosen, in which order, and what the list shows about each.

use chat_core::client::{Capabilities, ModelInfo};
use chat_core::event::ModelEntry;
use chat_core::message::ModelRef;
use chat_core::models::display_name;
use chat_presentation::words;
use gettextrs::gettext;

use crate::models::words::connection;

/// The heading of a group of models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heading {
    Favourites,
    /// The name of their connection.
    Connection(String),
}

/// A model in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Set where a group begins.
    pub(super) heading: Option<Heading>,
    pub(super) model: ModelRef,
    /// Its connection, if no heading shows it and there is more than one.
    pub(super) connection: Option<String>,
    /// Its size, as text.
    pub(super) size: String,
    pub(super) can: Capabilities,
    pub(super) favourite: bool,
}

/// The models that can chat and whose names contain every word of the query: the favourites, then
/// the others by connection, in the order of the connections.
pub(super) fn rows(models: &[ModelEntry], favourites: &[ModelRef], query: &str) -> Vec<Row> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let fits = |entry: &&ModelEntry| {
        let model = &entry.model;
        let name = format!("{model} {}", display_name(model)).to_lowercase();
        can_chat(entry) && words.iter().all(|word| name.contains(word.as_str()))
    };
    let (favourite, others): (Vec<_>, Vec<_>) =
        models.iter().filter(fits).partition(|entry| favourites.contains(&entry.model));
    let mut groups: Vec<(Heading, Vec<&ModelEntry>)> = Vec::new();
    if !favourite.is_empty() {
        groups.push((Heading::Favourites, favourite));
    }
    for entry in others {
        let heading = Heading::Connection(entry.model.connection.clone());
        match groups.iter_mut().find(|(known, _)| *known == heading) {
            Some((_, entries)) => entries.push(entry),
            None => groups.push((heading, vec![entry])),
        }
    }
    let several = models.iter().any(|entry| entry.model.connection != models[0].model.connection);
    let mut rows = Vec::new();
    for (heading, entries) in groups {
        let favourite = heading == Heading::Favourites;
        let mut heading = Some(heading);
        rows.extend(entries.into_iter().map(|entry| Row {
            heading: heading.take(),
            connection: (favourite && several).then(|| connection(&entry.model.connection)),
            favourite,
            ..row(entry)
        }));
    }
    rows
}

fn can_chat(entry: &ModelEntry) -> bool {
    entry.info.capabilities.chat != Some(false)
}

fn row(entry: &ModelEntry) -> Row {
    Row {
        heading: None,
        model: entry.model.clone(),
        connection: None,
        size: size(&entry.info),
        can: entry.info.capabilities,
        favourite: false,
    }
}

/// `8.0B · 4.9 GB`, as far as it is known.
fn size(info: &ModelInfo) -> String {
    let bytes = info.size.filter(|size| *size > 0).map(bytes);
    let parts: Vec<String> = info.parameters.clone().into_iter().chain(bytes).collect();
    parts.join(" · ")
}

fn bytes(size: u64) -> String {
    let size = size as f64;
    if size >= 1e9 {
        words::fill(&gettext("{n} GB"), &[("n", &words::tenths(size / 1e9))])
    } else {
        words::fill(&gettext("{n} MB"), &[("n", &format!("{:.0}", size / 1e6))])
    }
}

#[cfg(test)]
mod tests {
    use chat_core::models::CONNECTION;

    use super::*;

    fn entry(connection: &str, name: &str) -> ModelEntry {
        ModelEntry {
            model: ModelRef::new(connection, name),
            info: ModelInfo { name: name.to_owned(), ..ModelInfo::default() },
        }
    }

    /// The rows as lines, with headings in brackets.
    fn lines(rows: &[Row]) -> Vec<String> {
        let line = |row: &Row| {
            let heading = row.heading.as_ref().map(|heading| match heading {
                Heading::Favourites => "[*]".to_owned(),
                Heading::Connection(name) => format!("[{name}]"),
            });
            let connection = row.connection.as_ref().map(|name| format!("({name})"));
            let name = Some(row.model.model.clone());
            [heading, name, connection].into_iter().flatten().collect::<Vec<_>>().join(" ")
        };
        rows.iter().map(line).collect()
    }

    #[test]
    fn models_stand_by_connection_in_their_order() {
        let models = [entry("Work", "b"), entry("Home", "a"), entry("Work", "c")];
        assert_eq!(lines(&rows(&models, &[], "")), ["[Work] b", "c", "[Home] a"]);
    }

    #[test]
    fn favourites_stand_first_and_nowhere_else() {
        let models = [entry("Work", "b"), entry("Home", "a"), entry("Work", "c")];
        let favourites = [ModelRef::new("Home", "a"), ModelRef::new("Gone", "x")];
        let found = rows(&models, &favourites, "");
        assert_eq!(lines(&found), ["[*] a (Home)", "[Work] b", "c"]);
        assert!(found[0].favourite && !found[1].favourite);
        // With one connection there is nothing to distinguish.
        let found = rows(&models[1..2], &favourites, "");
        assert_eq!(lines(&found), ["[*] a"]);
    }

    #[test]
    fn every_word_must_fit_name_or_connection() {
        let models = [entry("Home", "qwen3:8b"), entry("Home", "llama3"), entry("Work", "Qwen3")];
        let found = |query| lines(&rows(&models, &[], query));
        assert_eq!(found("QWEN"), ["[Home] qwen3:8b", "[Work] Qwen3"]);
        assert_eq!(found("work qwen"), ["[Work] Qwen3"]);
        assert!(found("mistral").is_empty());
        // By the name that is shown, and by the server's own name.
        let own = [entry(CONNECTION, "qwen3-4b")];
        let found = |query| rows(&own, &[], query).len();
        assert_eq!((found("qwen3 4b instruct"), found("qwen3-4b"), found("8b")), (1, 1, 0));
    }

    #[test]
    fn models_that_cannot_chat_are_not_offered() {
        let mut embedding = entry("Home", "bge-m3");
        embedding.info.capabilities.chat = Some(false);
        assert!(rows(&[embedding], &[], "").is_empty());
    }

    #[test]
    fn size_is_said_as_far_as_it_is_known() {
        let mut model = entry("Home", "qwen3");
        model.info.parameters = Some("8.0B".to_owned());
        model.info.size = Some(4_900_000_000);
        model.info.capabilities = Capabilities { tools: Some(true), ..Capabilities::default() };
        let row = &rows(&[model], &[], "")[0];
        assert_eq!(row.size, "8.0B · 4.9 GB");
        assert_eq!((row.can.tools, row.can.vision), (Some(true), None));
    }
}
