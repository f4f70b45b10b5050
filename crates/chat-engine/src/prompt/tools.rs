//! Puts tools into a prompt: how a model is told of them, how it calls one, and the grammar that
//! holds it to a call.

use minijinja::Value;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::template::Template;
use crate::failure::Failure;
use crate::request::{Choice, Content, Message};

/// A tool that the model may call.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// The JSON schema of its arguments, as it came.
    pub parameters: String,
    /// All of it, for the template.
    pub value: Value,
}

#[derive(Deserialize)]
struct Outer {
    function: Inner,
}

#[derive(Deserialize)]
struct Inner {
    name: String,
    #[serde(default)]
    parameters: Option<Box<RawValue>>,
}

/// Reads the tools of a request.
///
/// # Errors
/// `Request` where one is no tool.
pub fn read(tools: &[Box<RawValue>]) -> Result<Vec<Tool>, Failure> {
    let bad =
        |error: serde_json::Error| Failure::Request(format!("a tool cannot be read: {error}"));
    tools
        .iter()
        .map(|raw| {
            let outer: Outer = serde_json::from_str(raw.get()).map_err(bad)?;
            let parameters = outer.function.parameters.map(|raw| raw.get().to_owned());
            Ok(Tool {
                name: outer.function.name,
                parameters: parameters.unwrap_or_else(|| r#"{"type":"object"}"#.to_owned()),
                value: serde_json::from_str(raw.get()).map_err(bad)?,
            })
        })
        .collect()
}

/// Which tools a request lets the model call.
#[derive(Clone, Debug)]
pub enum Calls {
    /// None.
    None,
    /// It may call these, in its own way.
    May(Vec<Tool>),
    /// It must call one of these.
    Must(Vec<Tool>),
}

impl Calls {
    /// What a request wants.
    ///
    /// # Errors
    /// `Request` where it names a tool that it does not bring.
    pub fn of(tools: Vec<Tool>, choice: Option<&Choice>) -> Result<Self, Failure> {
        match choice {
            _ if tools.is_empty() => Ok(Self::None),
            Some(Choice::Word(word)) if word == "none" => Ok(Self::None),
            Some(Choice::Word(word)) if word == "required" => Ok(Self::Must(tools)),
            Some(Choice::Named { function }) => {
                let named: Vec<_> =
                    tools.into_iter().filter(|tool| tool.name == function.name).collect();
                if named.is_empty() {
                    return Err(Failure::Request(format!("there is no tool {}", function.name)));
                }
                Ok(Self::Must(named))
            }
            Some(Choice::Word(_)) | None => Ok(Self::May(tools)),
        }
    }

    /// The tools that the model is told of.
    pub fn tools(&self) -> &[Tool] {
        match self {
            Self::None => &[],
            Self::May(tools) | Self::Must(tools) => tools,
        }
    }
}

/// How a model writes its calls, as its template shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `<tool_call>{"name": …, "arguments": …}</tool_call>` (Hermes and Qwen).
    Tagged,
    /// `<tool_call><function=…><parameter=…>…</parameter></function></tool_call>` (Qwen's newer
    /// models, Granite).
    Tags,
    /// `[TOOL_CALLS][{"name": …, "arguments": …}]` (Mistral).
    Listed {
        /// What stands before the list.
        mark: &'static str,
    },
    /// `[TOOL_CALLS]NAME[ARGS]{…}` (Mistral since 2025, Ministral 3).
    Named,
    /// `<|tool_call>call:NAME{…}<tool_call|>`, with texts between `<|"|>` (Gemma 4).
    Gemma,
    /// `{"name": …, "parameters": …}` as the whole answer (Llama 3).
    Bare,
}

impl Style {
    /// What stands before the arguments of a call that is [`Named`](Self::Named).
    pub const ARGUMENTS: &str = "[ARGS]";
    /// What stands behind its name, in some models.
    pub const CALL_ID: &str = "[CALL_ID]";

    /// The style of a template that has a place for tools.
    pub fn of(template: &Template) -> Option<Self> {
        if !template.takes_tools() {
            return None;
        }
        let listed = ["[TOOL_CALLS]", "<|tool_call|>", "functools"];
        if template.mentions("<|tool_call>") {
            Some(Self::Gemma)
        } else if template.mentions("[TOOL_CALLS]") && template.mentions(Self::ARGUMENTS) {
            Some(Self::Named)
        } else if template.mentions("<function=") {
            Some(Self::Tags)
        } else if template.mentions("<tool_call>") {
            Some(Self::Tagged)
        } else if let Some(mark) = listed.into_iter().find(|mark| template.mentions(mark)) {
            Some(Self::Listed { mark })
        } else if template.mentions("\"parameters\"") || template.mentions("<|python_tag|>") {
            Some(Self::Bare)
        } else {
            None
        }
    }

    /// What a call begins with; from there a grammar can hold it.
    pub fn trigger(self) -> Option<&'static str> {
        match self {
            Self::Tagged | Self::Tags => Some("<tool_call>"),
            Self::Listed { mark } => Some(mark),
            Self::Named => Some("[TOOL_CALLS]"),
            Self::Gemma => Some("<|tool_call>"),
            Self::Bare => None,
        }
    }

    /// The words round and in a call that may be tokens of the model's own.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Self::Tagged | Self::Tags => &["<tool_call>", "</tool_call>"],
            Self::Listed { .. } => {
                &["[TOOL_CALLS]", "<|tool_call|>", "<|/tool_call|>", "functools"]
            }
            Self::Named => &["[TOOL_CALLS]", Self::CALL_ID, Self::ARGUMENTS],
            Self::Gemma => &["<|tool_call>", "<tool_call|>", "<|\"|>"],
            Self::Bare => &[],
        }
    }
}

/// The schema that one call of any of these tools follows.
pub fn schema(tools: &[Tool]) -> String {
    let (mut calls, mut own) = (Vec::new(), Vec::new());
    for (at, tool) in tools.iter().enumerate() {
        let name = serde_json::Value::from(tool.name.as_str());
        let arguments = match rebased(&tool.parameters, &format!("#/$defs/{at}")) {
            None => tool.parameters.clone(),
            Some(parameters) => {
                own.push(format!(r#""{at}":{parameters}"#));
                format!(r##"{{"$ref":"#/$defs/{at}"}}"##)
            }
        };
        calls.push(format!(
            r#"{{"type":"object","properties":{{"name":{{"const":{name}}},"arguments":{arguments}}},"required":["name","arguments"],"additionalProperties":false}}"#
        ));
    }
    let (calls, own) = (calls.join(","), own.join(","));
    match (tools.len(), own.is_empty()) {
        (1, true) => calls,
        (_, true) => format!(r#"{{"anyOf":[{calls}]}}"#),
        (_, false) => format!(r#"{{"anyOf":[{calls}],"$defs":{{{own}}}}}"#),
    }
}

/// A schema whose references count from its own root, for another place of a document. None where it
/// has none. Only the references change: the order of everything is the order that the model sees.
fn rebased(schema: &str, place: &str) -> Option<String> {
    const KEY: &str = "\"$ref\"";
    let (mut out, mut rest) = (String::new(), schema);
    while let Some(at) = rest.find(KEY) {
        let (before, behind) = rest.split_at(at + KEY.len());
        out.push_str(before);
        rest = behind;
        // In a text the quotes would be escaped; a property of that name holds an object.
        let value = behind.trim_start().strip_prefix(':').map(str::trim_start);
        if let Some(fragment) = value.and_then(|value| value.strip_prefix("\"#")) {
            out.push_str(":\"");
            out.push_str(place);
            rest = fragment;
        }
    }
    let changed = !out.is_empty();
    out.push_str(rest);
    changed.then_some(out)
}

/// Tells a model of tools whose template has no place for them.
pub fn tell(messages: &mut Vec<Message>, tools: &[Tool]) {
    let list: Vec<String> = tools
        .iter()
        .map(|tool| {
            let said = tool.value.get_attr("function").and_then(|f| f.get_attr("description"));
            let said =
                said.ok().and_then(|said| said.as_str().map(str::to_owned)).unwrap_or_default();
            format!("- {}: {said} Arguments (JSON schema): {}", tool.name, tool.parameters)
        })
        .collect();
    let words = format!(
        "You can call these tools:\n{}\nA call is written as JSON: \
         {{\"name\": \"tool\", \"arguments\": {{}}}}",
        list.join("\n")
    );
    match messages.first_mut() {
        Some(first) if first.role == "system" => {
            let before = match &first.content {
                Some(Content::Text(text)) => text.clone(),
                _ => String::new(),
            };
            first.content = Some(Content::Text(format!("{before}\n\n{words}")));
        }
        _ => messages.insert(
            0,
            Message {
                role: "system".to_owned(),
                content: Some(Content::Text(words)),
                tool_calls: None,
                tool_call_id: None,
                name: None,
                reasoning_content: None,
            },
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<Tool> {
        let raw = r#"{"type":"function","function":{"name":"look","description":"Looks.",
            "parameters":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}}}}}"#;
        let other = r#"{"type":"function","function":{"name":"wait"}}"#;
        let raw = [raw, other].map(|text| RawValue::from_string(text.to_owned()).unwrap());
        read(&raw).unwrap()
    }

    #[test]
    fn a_choice_says_what_may_and_what_must_be_called() {
        let choice = |json: &str| serde_json::from_str::<Choice>(json).unwrap();
        assert!(matches!(Calls::of(tools(), None).unwrap(), Calls::May(_)));
        let none = choice(r#""none""#);
        assert!(matches!(Calls::of(tools(), Some(&none)).unwrap(), Calls::None));
        let named = choice(r#"{"type":"function","function":{"name":"wait"}}"#);
        let Calls::Must(must) = Calls::of(tools(), Some(&named)).unwrap() else { panic!() };
        assert_eq!(must.len(), 1);
        let other = choice(r#"{"type":"function","function":{"name":"fly"}}"#);
        assert!(matches!(Calls::of(tools(), Some(&other)), Err(Failure::Request(_))));
    }

    #[test]
    fn the_schema_keeps_the_order_of_the_tools_own() {
        let schema = schema(&tools());
        assert!(schema.find("\"z\"").unwrap() < schema.find("\"a\"").unwrap());
        assert!(schema.starts_with(r#"{"anyOf":["#));
        serde_json::from_str::<serde_json::Value>(&schema).unwrap();
    }

    #[test]
    fn a_tools_references_lead_to_what_they_name() {
        let tool = |name: &str| {
            let raw = format!(
                r##"{{"type":"function","function":{{"name":"{name}","parameters":{{
                "type":"object","properties":{{"at":{{"$ref" : "#/$defs/place"}},
                "say":{{"const":"\"$ref\":\"#/x\""}},"more":{{"type":"array","items":{{"$ref":"#"}}}}}},
                "$defs":{{"place":{{"type":"string"}}}}}}}}}}"##
            );
            read(&[RawValue::from_string(raw).unwrap()]).unwrap().remove(0)
        };
        for tools in [vec![tool("one")], vec![tool("one"), tools().remove(1), tool("other")]] {
            let schema: serde_json::Value = serde_json::from_str(&schema(&tools)).unwrap();
            let mut found = 0;
            let mut all = vec![&schema];
            while let Some(value) = all.pop() {
                if let Some(reference) = value["$ref"].as_str() {
                    found += 1;
                    let place = reference.strip_prefix('#').unwrap();
                    let target = schema.pointer(place).unwrap();
                    let wanted = if place.ends_with("place") { "string" } else { "object" };
                    assert_eq!(target["type"], wanted, "{reference}");
                }
                all.extend(value.as_object().into_iter().flat_map(|object| object.values()));
                all.extend(value.as_array().into_iter().flatten());
            }
            // Two in each, and one to it.
            assert_eq!(found, 3 * tools.iter().filter(|tool| tool.name != "wait").count());
        }
    }

    #[test]
    fn a_template_shows_how_calls_are_written() {
        let style = |source: &str| Style::of(&Template::new(source, "", "").unwrap());
        assert_eq!(style("{{ tools }}<tool_call>"), Some(Style::Tagged));
        assert_eq!(style("{{ tools }}<tool_call><function="), Some(Style::Tags));
        let listed = Some(Style::Listed { mark: "[TOOL_CALLS]" });
        assert_eq!(style("{{ tools }}[TOOL_CALLS]"), listed);
        assert_eq!(style("{{ tools }}[TOOL_CALLS][ARGS]"), Some(Style::Named));
        assert_eq!(style("{{ tools }}<|tool_call>call:"), Some(Style::Gemma));
        assert_eq!(style("{{ tools }}<|python_tag|>"), Some(Style::Bare));
        assert_eq!(style("{{ messages }}<tool_call>"), None);
    }

    #[test]
    fn tools_stand_with_the_systems_words_where_the_template_has_no_place_for_them() {
        let mut messages: Vec<Message> =
            serde_json::from_str(r#"[{"role":"user","content":"Hi"}]"#).unwrap();
        tell(&mut messages, &tools());
        tell(&mut messages, &tools()[1..]);
        assert_eq!(messages.len(), 2);
        let text = messages[0].text().unwrap();
        assert!(text.contains("look: Looks.") && text.contains("wait"));
    }
}
