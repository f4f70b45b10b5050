//! Which models a person can choose from, in which order, and what is said about each.

use chat_core::client::ModelInfo;
use chat_core::event::ModelEntry;
use chat_core::message::ModelRef;

/// A line of the list of models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// The name of the connection whose models follow.
    Connection(String),
    /// A model.
    Model(Choice),
}

/// A model as it is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) model: ModelRef,
    /// How large it is, in words.
    pub(super) size: String,
    pub(super) tools: bool,
    pub(super) vision: bool,
    pub(super) thinking: bool,
}

/// The models that can hold a conversation and whose names hold every word of the query, by
/// connection, in the order in which the connections come.
pub(super) fn rows(models: &[ModelEntry], query: &str) -> Vec<Row> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let fits = |entry: &&ModelEntry| {
        let name = entry.model.to_string().to_lowercase();
        entry.info.capabilities.chat != Some(false)
            && words.iter().all(|word| name.contains(word.as_str()))
    };
    let mut connections: Vec<(&str, Vec<&ModelEntry>)> = Vec::new();
    for entry in models.iter().filter(fits) {
        let name = entry.model.connection.as_str();
        match connections.iter_mut().find(|(connection, _)| *connection == name) {
            Some((_, entries)) => entries.push(entry),
            None => connections.push((name, vec![entry])),
        }
    }
    let mut rows = Vec::new();
    for (connection, entries) in connections {
        rows.push(Row::Connection(connection.to_owned()));
        rows.extend(entries.into_iter().map(|entry| Row::Model(choice(entry))));
    }
    rows
}

fn choice(entry: &ModelEntry) -> Choice {
    let capabilities = entry.info.capabilities;
    Choice {
        model: entry.model.clone(),
        size: size(&entry.info),
        tools: capabilities.tools == Some(true),
        vision: capabilities.vision == Some(true),
        thinking: capabilities.thinking == Some(true),
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
    if size >= 1e9 { format!("{:.1} GB", size / 1e9) } else { format!("{:.0} MB", size / 1e6) }
}

#[cfg(test)]
mod tests {
    use chat_core::client::Capabilities;

    use super::*;

    fn entry(connection: &str, model: &str) -> ModelEntry {
        ModelEntry {
            model: ModelRef::new(connection, model),
            info: ModelInfo { name: model.to_owned(), ..ModelInfo::default() },
        }
    }

    fn names(rows: &[Row]) -> Vec<String> {
        rows.iter()
            .map(|row| match row {
                Row::Connection(name) => format!("[{name}]"),
                Row::Model(choice) => choice.model.model.clone(),
            })
            .collect()
    }

    #[test]
    fn models_stand_by_connection_in_their_order() {
        let models = [entry("Work", "b"), entry("Home", "a"), entry("Work", "c")];
        assert_eq!(names(&rows(&models, "")), ["[Work]", "b", "c", "[Home]", "a"]);
    }

    #[test]
    fn every_word_must_fit_name_or_connection() {
        let models = [entry("Home", "qwen3:8b"), entry("Home", "llama3"), entry("Work", "Qwen3")];
        assert_eq!(names(&rows(&models, "QWEN")), ["[Home]", "qwen3:8b", "[Work]", "Qwen3"]);
        assert_eq!(names(&rows(&models, "work qwen")), ["[Work]", "Qwen3"]);
        assert!(rows(&models, "mistral").is_empty());
    }

    #[test]
    fn models_that_cannot_chat_are_not_offered() {
        let mut embedding = entry("Home", "bge-m3");
        embedding.info.capabilities.chat = Some(false);
        assert!(rows(&[embedding], "").is_empty());
    }

    #[test]
    fn marks_are_shown_only_for_what_is_known() {
        let mut model = entry("Home", "qwen3");
        model.info.parameters = Some("8.0B".to_owned());
        model.info.size = Some(4_900_000_000);
        model.info.capabilities = Capabilities { tools: Some(true), ..Capabilities::default() };
        let Row::Model(choice) = &rows(&[model], "")[1] else { panic!("a model") };
        assert_eq!(choice.size, "8.0B · 4.9 GB");
        assert!(choice.tools && !choice.vision && !choice.thinking);
    }
}
