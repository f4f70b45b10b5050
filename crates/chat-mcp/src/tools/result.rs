//! Turns what a server answers into what a model and people get, within the bounds of every tool's result.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chat_core::tool::{ToolContext, ToolFailure, ToolOutput};
use chat_tools::beginning_of;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

/// The largest picture that is taken over, in bytes.
const LARGEST_PICTURE: usize = 10 << 20;
/// So many pictures of one result are taken over.
const MOST_PICTURES: usize = 8;
/// The formats of pictures that models take.
const FORMATS: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// What has been read of a result.
#[derive(Default)]
struct Read {
    texts: Vec<String>,
    pictures: Vec<(String, Arc<[u8]>)>,
    sees: bool,
}

/// A result as it should be.
pub(super) async fn output(
    found: CallToolResult,
    context: &ToolContext,
) -> Result<ToolOutput, ToolFailure> {
    let mut read = Read { sees: context.sees, ..Read::default() };
    for block in found.content {
        read.block(block);
    }
    shortened(read.done(found.structured_content, found.is_error == Some(true)), context).await
}

/// The same with as much of its text as a model gets at once. All of it is kept, as other tools keep theirs.
async fn shortened(
    done: Result<ToolOutput, ToolFailure>,
    context: &ToolContext,
) -> Result<ToolOutput, ToolFailure> {
    match done {
        Ok(output) => {
            let text = beginning_of(output.text, context).await;
            Ok(ToolOutput { text, ..output })
        }
        Err(failure) => Err(ToolFailure::new(beginning_of(failure.text, context).await)),
    }
}

/// A result of which a part is not as it should be: what can be read of it.
pub(super) async fn odd(value: &Value, context: &ToolContext) -> Result<ToolOutput, ToolFailure> {
    let mut read = Read { sees: context.sees, ..Read::default() };
    let mut unreadable = 0;
    if let Some(Value::Array(blocks)) = value.get("content") {
        for block in blocks {
            match serde_json::from_value(block.clone()) {
                Ok(block) => read.block(block),
                Err(_) => unreadable += 1,
            }
        }
    }
    if unreadable > 0 {
        read.texts.push(format!("[{unreadable} parts of the result could not be read]"));
    }
    let is_error = value.get("isError").and_then(Value::as_bool) == Some(true);
    let structured = value.get("structuredContent").filter(|it| !it.is_null()).cloned();
    shortened(read.done(structured, is_error), context).await
}

impl Read {
    fn block(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.texts.push(text.text),
            ContentBlock::Image(image) => self.picture(&image.mime_type, &image.data),
            ContentBlock::Audio(audio) => self.note(&format!("audio, {}", audio.mime_type)),
            ContentBlock::Resource(embedded) => match embedded.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    self.texts.push(format!("{uri}:\n{text}"));
                }
                ResourceContents::BlobResourceContents { mime_type, blob, .. }
                    if mime_type.as_deref().is_some_and(|it| FORMATS.contains(&it)) =>
                {
                    self.picture(mime_type.as_deref().unwrap_or_default(), &blob);
                }
                ResourceContents::BlobResourceContents { uri, blob, .. } => {
                    self.note(&format!("data of some {} bytes: {uri}", blob.len() / 4 * 3));
                }
                _ => self.note("a resource"),
            },
            ContentBlock::ResourceLink(link) => {
                self.texts.push(format!("Resource {}: {}", link.name, link.uri));
            }
            _ => self.note("content of an unknown kind"),
        }
    }

    fn picture(&mut self, mime: &str, data: &str) {
        if !FORMATS.contains(&mime) {
            return self.note(&format!("a picture of an unknown format, {mime}"));
        }
        if self.pictures.len() == MOST_PICTURES || data.len() / 4 * 3 > LARGEST_PICTURE {
            return self.note("a picture that is too much");
        }
        match STANDARD.decode(data) {
            Ok(bytes) if self.sees => self.pictures.push((mime.to_owned(), bytes.into())),
            Ok(_) => self.note("a picture, which you cannot see"),
            Err(_) => self.note("a damaged picture"),
        }
    }

    /// What cannot be given to a model.
    fn note(&mut self, what: &str) {
        self.texts.push(format!("[{what}]"));
    }

    fn done(self, structured: Option<Value>, is_error: bool) -> Result<ToolOutput, ToolFailure> {
        let mut text = self.texts.join("\n\n");
        // Servers give the same as text, too, as the protocol asks for.
        if let Some(structured) = structured.filter(|_| text.trim().is_empty()) {
            text = serde_json::to_string_pretty(&structured).unwrap_or_default();
        }
        if is_error {
            let text = if text.trim().is_empty() { "The tool failed.".to_owned() } else { text };
            return Err(ToolFailure::new(text));
        }
        if text.is_empty() && self.pictures.is_empty() {
            text.push_str("The tool gave no result.");
        }
        Ok(ToolOutput { text, pictures: self.pictures, ..ToolOutput::default() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Result<ToolOutput, ToolFailure> {
        let found: CallToolResult = serde_json::from_value(value).unwrap();
        let mut read = Read { sees: true, ..Read::default() };
        for block in found.content {
            read.block(block);
        }
        read.done(found.structured_content, found.is_error == Some(true))
    }

    #[test]
    fn all_kinds_of_content_are_given() {
        let found = read(json!({ "content": [
            { "type": "text", "text": "one" },
            { "type": "image", "mimeType": "image/png", "data": "AAAA" },
            { "type": "image", "mimeType": "image/x-odd", "data": "AAAA" },
            { "type": "image", "mimeType": "image/png", "data": "?" },
            { "type": "audio", "mimeType": "audio/wav", "data": "AAAA" },
            { "type": "resource", "resource": { "uri": "note://a", "text": "two" } },
            { "type": "resource", "resource": { "uri": "note://b", "blob": "AAAA" } },
            { "type": "resource_link", "name": "c", "uri": "note://c" },
        ] }));
        let found = found.unwrap();
        assert_eq!(found.pictures.len(), 1);
        assert_eq!(
            found.text,
            "one\n\n[a picture of an unknown format, image/x-odd]\n\n[a damaged picture]\n\n[audio, audio/wav]\n\n\
             note://a:\ntwo\n\n[data of some 3 bytes: note://b]\n\nResource c: note://c"
        );
    }

    #[test]
    fn structured_content_stands_in_where_there_is_no_text() {
        let found = read(json!({ "content": [], "structuredContent": { "sum": 3 } })).unwrap();
        assert_eq!(found.text, "{\n  \"sum\": 3\n}");
        let both = json!({ "content": [{ "type": "text", "text": "3" }], "structuredContent": {} });
        assert_eq!(read(both).unwrap().text, "3");
        assert_eq!(read(json!({ "content": [] })).unwrap().text, "The tool gave no result.");
    }

    #[test]
    fn an_error_is_a_failure() {
        let failed =
            json!({ "content": [{ "type": "text", "text": "no such file" }], "isError": true });
        assert_eq!(read(failed).unwrap_err().text, "no such file");
    }
}
