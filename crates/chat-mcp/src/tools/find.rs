//! `find_tools`: looks for tools of servers, where there are too many to describe them all to the model.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use chat_core::message::ToolSpec;
use chat_core::tool::{
    CallData, Label, Labels, N_, Tense, Text, Tool, ToolContext, ToolFailure, ToolIcon, ToolInfo,
    ToolKind, ToolOutput,
};
use serde_json::{Value, json};

use super::offer::{Loaded, Offer, Offered};

/// The name by which models call it.
pub const FIND_TOOLS: &str = "find_tools";
/// So many tools are loaded at once.
const MOST: usize = 10;
/// So many servers are named in its description.
const MOST_SERVERS: usize = 30;
/// How much of a tool's description stands in the list of what was found, in characters.
const SUMMARY: usize = 200;

/// Looks for tools.
pub(crate) struct FindTools {
    info: ToolInfo,
    offers: Vec<(String, Arc<Offer>)>,
}

impl FindTools {
    pub(crate) fn new(offers: Vec<(String, Arc<Offer>)>) -> Self {
        let mut servers: Vec<String> = offers
            .iter()
            .filter(|(_, offer)| offer.on().next().is_some())
            .map(|(server, offer)| format!("{server} ({} tools)", offer.on().count()))
            .collect();
        let more = servers.len().saturating_sub(MOST_SERVERS);
        servers.truncate(MOST_SERVERS);
        if more > 0 {
            servers.push(format!("{more} more servers"));
        }
        let spec = ToolSpec {
            name: FIND_TOOLS.to_owned(),
            description: format!(
                "Find tools by what they do. You have more tools than are listed here; those that match can be called \
                 in your next step. Servers with tools: {}.",
                servers.join(", ")
            ),
            parameters: json!({
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "A few words about what you need, or a tool's name",
                    },
                },
                "required": ["query"],
                "additionalProperties": false,
            }),
        };
        let info = ToolInfo {
            title: Text::from(N_("Find Tools")),
            summary: Text::from(N_(
                "Finds tools of servers where there are too many to describe them all to the model",
            )),
            // It changes nothing, and says only what servers say of themselves.
            kind: ToolKind::Reads,
            icon: ToolIcon::Search,
            labels: Labels::Own(label),
            ..ToolInfo::foreign(spec)
        };
        Self { info, offers }
    }

    /// The tools that match best, the best first.
    fn search(&self, query: &str) -> Vec<&Offered> {
        let words = words(query);
        let tools = self.offers.iter().flat_map(|(_, offer)| offer.on());
        let mut found: Vec<(usize, &Offered)> =
            tools.map(|tool| (score(&words, tool), tool)).filter(|(score, _)| *score > 0).collect();
        found.sort_by(|(one, a), (other, b)| {
            other.cmp(one).then_with(|| a.tool.info().name().cmp(b.tool.info().name()))
        });
        found.truncate(MOST);
        found.into_iter().map(|(_, tool)| tool).collect()
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let sentence = match tense {
        Tense::ToDo => N_("Find tools for {what}"),
        Tense::Doing => N_("Finding tools for {what}"),
        Tense::Done => N_("Looked for tools for {what}"),
        Tense::Failed => N_("Couldn’t look for tools for {what}"),
    };
    Label::what(sentence, call.text("query"))
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// How well a tool matches: a word in its name says more than one in its description.
fn score(words: &[String], tool: &Offered) -> usize {
    let name = tool.tool.info().name().to_lowercase();
    let title = tool.definition.title.to_lowercase();
    let description = tool.definition.description.to_lowercase();
    let of = |word: &String| {
        let places = [(&name, 4), (&title, 3), (&description, 1)];
        places
            .iter()
            .filter(|(text, _)| text.contains(word.as_str()))
            .map(|(_, it)| it)
            .sum::<usize>()
    };
    words.iter().map(of).sum()
}

#[async_trait]
impl Tool for FindTools {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn finds_tools(&self) -> bool {
        true
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let query = given.get("query").and_then(Value::as_str).unwrap_or_default();
        if words(query).is_empty() {
            return Err(ToolFailure::new("Say in the query what the tool should do."));
        }
        let found = self.search(query);
        if found.is_empty() {
            return Ok(ToolOutput::text("No tool matches. Try other words."));
        }
        let mut text = "You can call these tools in your next step:\n".to_owned();
        for offered in &found {
            let info = offered.tool.info();
            let summary: String =
                info.spec.description.split_whitespace().collect::<Vec<_>>().join(" ");
            let summary: String = summary.chars().take(SUMMARY).collect();
            // Writing into a string cannot fail.
            let _ = writeln!(text, "- {}: {summary}", info.name());
        }
        let names = found.iter().map(|offered| offered.tool.info().name().to_owned());
        context.memory.get::<Loaded>().add(names);
        Ok(ToolOutput::text(text))
    }
}
