//! Lists and reads the resources of a server.

use std::time::Duration;

use chat_core::tool::{ResourceEntry, ServerPart};
use rmcp::model::{
    ClientRequest, ListResourceTemplatesRequest, ListResourcesRequest, ReadResourceRequest,
    ReadResourceRequestParams,
};
use serde_json::Value;

use super::content::Content;
use super::pages::{Listed, text};
use super::{Client, Fault};

/// How long reading one may take.
const READ: Duration = Duration::from_mins(1);
/// The longest URI, title and description, in characters.
const URI: usize = 2_000;
const TITLE: usize = 200;
const DESCRIPTION: usize = 1_000;

impl Client {
    /// All resources of the server; none where it has none.
    ///
    /// # Errors
    /// Why they are not known.
    pub async fn resources(&self) -> Result<Listed<ResourceEntry>, Fault> {
        if self.capabilities().resources.is_none() {
            return Ok(Listed::default());
        }
        let request =
            |page| ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(page));
        self.listed("resources", request, |item| entry(item, "uri")).await
    }

    /// The templates of resources that no list has; none where the server has none.
    ///
    /// # Errors
    /// Why they are not known.
    pub async fn resource_templates(&self) -> Result<Listed<ResourceEntry>, Fault> {
        if self.capabilities().resources.is_none() {
            return Ok(Listed::default());
        }
        let request = |page| {
            let request = ListResourceTemplatesRequest::with_param(page);
            ClientRequest::ListResourceTemplatesRequest(request)
        };
        self.listed("resourceTemplates", request, |item| entry(item, "uriTemplate")).await
    }

    /// Reads a resource. Dropping the future gives that up.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub async fn read_resource(&self, uri: &str) -> Result<Vec<ServerPart>, Fault> {
        let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
        let answer = self.answer(ClientRequest::ReadResourceRequest(request), READ).await?;
        contents(&answer)
    }
}

fn entry(item: &Value, key: &str) -> Option<ResourceEntry> {
    let uri = item.get(key)?.as_str()?;
    if uri.is_empty() || uri.chars().count() > URI {
        return None;
    }
    let titles = ["title", "name"].map(|key| text(item, key, TITLE));
    let title = titles.into_iter().find(|title| !title.trim().is_empty());
    Some(ResourceEntry {
        uri: uri.to_owned(),
        title: title.unwrap_or_else(|| uri.chars().take(TITLE).collect()),
        description: text(item, "description", DESCRIPTION),
        is_template: key == "uriTemplate",
    })
}

fn contents(answer: &Value) -> Result<Vec<ServerPart>, Fault> {
    let Some(Value::Array(items)) = answer.get("contents") else { return Err(Fault::Invalid) };
    let mut content = Content::default();
    for item in items {
        // Of a folder, it is said what is what.
        if items.len() > 1 {
            content.add_heading(item);
        }
        content.add_contents(item);
    }
    Ok(content.parts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_resource_has_a_title_in_any_case() {
        let titled = json!({ "uri": "a:b", "name": "b", "title": "B", "description": "of a" });
        let expected = ResourceEntry {
            uri: "a:b".to_owned(),
            title: "B".to_owned(),
            description: "of a".to_owned(),
            is_template: false,
        };
        assert_eq!(entry(&titled, "uri"), Some(expected));
        let title = |item: Value| entry(&item, "uri").map(|entry| entry.title);
        assert_eq!(title(json!({ "uri": "a:b", "name": "b" })).as_deref(), Some("b"));
        assert_eq!(title(json!({ "uri": "a:b", "title": 5 })).as_deref(), Some("a:b"));
        let template = json!({ "uriTemplate": "a:{b}", "name": "b" });
        assert!(entry(&template, "uriTemplate").is_some_and(|entry| entry.is_template));
    }

    #[test]
    fn what_has_no_usable_uri_is_left_out() {
        for item in
            [json!({ "name": "b" }), json!({ "uri": "" }), json!({ "uri": "a".repeat(3_000) })]
        {
            assert_eq!(entry(&item, "uri"), None, "{item}");
        }
        let long =
            json!({ "uri": "a:b", "title": "t".repeat(9_000), "description": "d".repeat(9_000) });
        let long = entry(&long, "uri").unwrap();
        assert_eq!((long.title.len(), long.description.len()), (TITLE, DESCRIPTION));
    }

    #[test]
    fn what_is_read_of_several_is_told_apart() {
        let one = json!({ "contents": [{ "uri": "a:b", "text": "text" }] });
        let text = |text: &str| ServerPart::Text(text.to_owned());
        assert_eq!(contents(&one), Ok(vec![text("text")]));
        let two =
            json!({ "contents": [{ "uri": "a:b", "text": "text" }, { "uri": "a:c", "text": "" }] });
        assert_eq!(contents(&two), Ok(vec![text("a:b"), text("text"), text("a:c"), text("")]));
        assert_eq!(contents(&json!({ "inputRequests": {} })), Err(Fault::Invalid));
    }
}
