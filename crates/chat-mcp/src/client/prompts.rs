//! Lists and gets the prompts of a server.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use chat_core::tool::{PromptArgument, PromptEntry, PromptMessage};
use rmcp::model::{
    ArgumentInfo, ClientRequest, CompleteRequest, CompleteRequestParams, CompletionContext,
    GetPromptRequest, GetPromptRequestParams, ListPromptsRequest, Reference,
};
use serde_json::Value;

use super::content::Content;
use super::pages::{Listed, text};
use super::{Client, Fault};

/// How long getting one may take.
const GET: Duration = Duration::from_mins(1);
/// How long completing a value may take: longer, and it is typed by then.
const COMPLETE: Duration = Duration::from_secs(5);
/// The longest name, title and description, in characters.
const NAME: usize = 200;
const DESCRIPTION: usize = 1_000;
/// So many arguments are taken of one, and so many values that complete one.
const MOST_ARGUMENTS: usize = 50;
const MOST_VALUES: usize = 100;

impl Client {
    /// All prompts of the server; none where it has none.
    ///
    /// # Errors
    /// Why they are not known.
    pub async fn prompts(&self) -> Result<Listed<PromptEntry>, Fault> {
        if self.capabilities().prompts.is_none() {
            return Ok(Listed::default());
        }
        let request =
            |page| ClientRequest::ListPromptsRequest(ListPromptsRequest::with_param(page));
        self.listed("prompts", request, entry).await
    }

    /// Gets a prompt with these arguments. Dropping the future gives that up.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub async fn prompt(
        &self,
        name: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<Vec<PromptMessage>, Fault> {
        let arguments = arguments.into_iter().map(|(name, value)| (name, Value::String(value)));
        let params = GetPromptRequestParams::new(name).with_arguments(arguments.collect());
        let request = ClientRequest::GetPromptRequest(GetPromptRequest::new(params));
        messages(&self.answer(request, GET).await?)
    }

    /// The values that an argument of a prompt may have that begin like this one; none where the server completes
    /// nothing. `given` are the values of the other arguments.
    ///
    /// # Errors
    /// Why they are not known.
    pub async fn complete(
        &self,
        prompt: &str,
        argument: &str,
        value: &str,
        given: BTreeMap<String, String>,
    ) -> Result<Vec<String>, Fault> {
        if self.capabilities().completions.is_none() {
            return Ok(Vec::new());
        }
        let given: HashMap<_, _> = given.into_iter().collect();
        let argument = ArgumentInfo::new(argument, value);
        let params = CompleteRequestParams::new(Reference::for_prompt(prompt), argument)
            .with_context(CompletionContext::with_arguments(given));
        let request = ClientRequest::CompleteRequest(CompleteRequest::new(params));
        Ok(values(&self.answer(request, COMPLETE).await?))
    }
}

fn entry(item: &Value) -> Option<PromptEntry> {
    let arguments = item.get("arguments").and_then(Value::as_array);
    let arguments = arguments.into_iter().flatten().filter_map(|argument| {
        Some(PromptArgument {
            name: name(argument)?,
            title: text(argument, "title", NAME),
            description: text(argument, "description", DESCRIPTION),
            is_required: argument.get("required").and_then(Value::as_bool).unwrap_or_default(),
        })
    });
    Some(PromptEntry {
        name: name(item)?,
        title: text(item, "title", NAME),
        description: text(item, "description", DESCRIPTION),
        arguments: arguments.take(MOST_ARGUMENTS).collect(),
    })
}

fn name(item: &Value) -> Option<String> {
    let name = item.get("name")?.as_str()?;
    (!name.is_empty() && name.chars().count() <= NAME).then(|| name.to_owned())
}

fn messages(answer: &Value) -> Result<Vec<PromptMessage>, Fault> {
    let Some(Value::Array(messages)) = answer.get("messages") else { return Err(Fault::Invalid) };
    let mut all = Content::default();
    let message = |message: &Value| {
        match message.get("content") {
            Some(Value::Array(blocks)) => blocks.iter().for_each(|block| all.add_block(block)),
            Some(block) => all.add_block(block),
            None => {}
        }
        let is_model = message.get("role").and_then(Value::as_str) == Some("assistant");
        PromptMessage { is_model, parts: std::mem::take(&mut all.parts) }
    };
    Ok(messages.iter().map(message).collect())
}

fn values(answer: &Value) -> Vec<String> {
    let values = answer.pointer("/completion/values").and_then(Value::as_array);
    let values = values.into_iter().flatten().filter_map(Value::as_str);
    values.take(MOST_VALUES).map(|value| value.chars().take(NAME).collect()).collect()
}

#[cfg(test)]
mod tests {
    use chat_core::tool::ServerPart;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_prompt_is_read_with_the_arguments_that_have_names() {
        let item = json!({ "name": "review", "title": 1, "description": "Reviews", "arguments": [
            { "name": "code", "required": true, "description": "What" },
            { "title": "no name" },
            { "name": "tone" },
        ] });
        let argument = |name: &str, description: &str, is_required| PromptArgument {
            name: name.to_owned(),
            title: String::new(),
            description: description.to_owned(),
            is_required,
        };
        let expected = PromptEntry {
            name: "review".to_owned(),
            title: String::new(),
            description: "Reviews".to_owned(),
            arguments: vec![argument("code", "What", true), argument("tone", "", false)],
        };
        assert_eq!(entry(&item), Some(expected));
        assert_eq!(entry(&json!({ "title": "no name" })), None);
    }

    #[test]
    fn messages_keep_who_says_them() {
        let answer = json!({ "messages": [
            { "role": "user", "content": { "type": "text", "text": "Hello" } },
            { "role": "assistant", "content": [{ "type": "text", "text": "Hi" }, 7] },
        ] });
        let text = |text: &str| ServerPart::Text(text.to_owned());
        let expected = vec![
            PromptMessage { is_model: false, parts: vec![text("Hello")] },
            PromptMessage {
                is_model: true,
                parts: vec![text("Hi"), ServerPart::Unreadable(String::new())],
            },
        ];
        assert_eq!(messages(&answer), Ok(expected));
        assert_eq!(messages(&json!({ "messages": "none" })), Err(Fault::Invalid));
    }

    #[test]
    fn values_are_bounded() {
        let answer = json!({ "completion": { "values": vec!["a"; 500], "total": 500 } });
        assert_eq!(values(&answer).len(), MOST_VALUES);
        assert_eq!(values(&json!({ "completion": { "values": ["b", 5] } })), ["b"]);
        assert!(values(&json!({})).is_empty());
    }
}
