//! Lists a server's tools: page by page, within bounds, and each for itself, so that one that cannot be read
//! hides no other.

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool};
use serde_json::Value;

use super::pages::{MOST_ITEMS, MOST_PAGES, in_time};
use super::{Client, Fault, LIST};

/// So many bytes of memory are kept of the tools of one server …
const MOST_BYTES: usize = 64 << 20;
/// … and of the schema of one: of a larger one no part would be used.
const LARGEST_SCHEMA: usize = 1 << 20;
/// What a value takes in memory besides its text.
const VALUE: usize = 32;
/// So many bytes are kept of a description, of which a model gets less, and of a title.
const DESCRIPTION: usize = 16 << 10;
const TITLE: usize = 1 << 10;
/// The longest name. No tool that has a longer one is used.
const NAME: usize = 1 << 10;

/// The tools of a server.
#[derive(Clone, Debug, Default)]
pub struct ToolList {
    /// Those that can be read, in the server's order, without what is of no use to anybody.
    pub tools: Vec<Tool>,
    /// How many could not be read, or are too large to be used.
    pub unreadable: usize,
    /// Whether there are more than are taken.
    pub is_cut: bool,
}

/// A list as it grows.
#[derive(Default)]
struct Growing {
    list: ToolList,
    bytes: usize,
}

impl Client {
    /// All tools of the server.
    ///
    /// # Errors
    /// Why they are not known.
    pub async fn tools(&self) -> Result<ToolList, Fault> {
        if self.capabilities().tools.is_none() {
            return Ok(ToolList::default());
        }
        in_time(self.all_tools()).await
    }

    async fn all_tools(&self) -> Result<ToolList, Fault> {
        let mut growing = Growing::default();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ListToolsRequest::with_param(params);
            let asking = self.peer().send_request(ClientRequest::ListToolsRequest(request));
            let answer = tokio::time::timeout(LIST, asking).await.map_err(|_| Fault::TimedOut)?;
            cursor = match answer.map_err(|error| self.fault(&error))? {
                ServerResult::ListToolsResult(page) => {
                    page.tools.into_iter().for_each(|tool| growing.add(tool));
                    page.next_cursor
                }
                // One of the page's tools is not as it should be.
                ServerResult::CustomResult(page) => growing.add_readable(page.0)?,
                ServerResult::EmptyResult(_) => None,
                _ => return Err(Fault::Invalid),
            };
            if cursor.is_none() || growing.list.is_cut {
                return Ok(growing.list);
            }
        }
        growing.list.is_cut = true;
        Ok(growing.list)
    }
}

impl Growing {
    fn add(&mut self, tool: Tool) {
        let Some((tool, bytes)) = kept(tool) else {
            self.list.unreadable += 1;
            return;
        };
        if self.list.tools.len() == MOST_ITEMS || self.bytes + bytes > MOST_BYTES {
            self.list.is_cut = true;
        }
        if !self.list.is_cut {
            self.bytes += bytes;
            self.list.tools.push(tool);
        }
    }

    /// Takes what can be read of a page, and gives the cursor of the next.
    fn add_readable(&mut self, mut page: Value) -> Result<Option<String>, Fault> {
        let tools = page.get_mut("tools").map(Value::take);
        let Some(Value::Array(tools)) = tools else { return Err(Fault::Invalid) };
        for tool in tools {
            match serde_json::from_value(tool) {
                Ok(tool) => self.add(tool),
                Err(_) => self.list.unreadable += 1,
            }
        }
        Ok(page.get("nextCursor").and_then(Value::as_str).map(str::to_owned))
    }
}

/// A tool without what is of no use, and about how much memory that takes. None if it is too large.
fn kept(mut tool: Tool) -> Option<(Tool, usize)> {
    let schema = tool.input_schema.iter().map(|(key, value)| key.len() + VALUE + weight(value));
    let schema: usize = schema.sum();
    if schema > LARGEST_SCHEMA || tool.name.len() > NAME {
        return None;
    }
    tool.description = tool.description.map(|text| cut(text.into_owned(), DESCRIPTION).into());
    tool.title = tool.title.map(|title| cut(title, TITLE));
    if let Some(claims) = &mut tool.annotations {
        claims.title = claims.title.take().map(|title| cut(title, TITLE));
    }
    (tool.output_schema, tool.icons, tool.meta) = (None, None, None);
    let texts = [tool.description.as_deref(), tool.title.as_deref()];
    let texts: usize = texts.into_iter().flatten().map(str::len).sum();
    let bytes = size_of::<Tool>() + tool.name.len() + texts + schema;
    Some((tool, bytes))
}

fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.shrink_to_fit();
    }
    text
}

/// About how much memory a value takes. Its JSON has at least a sixteenth of that.
fn weight(value: &Value) -> usize {
    let inside: usize = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(object) => {
            object.iter().map(|(key, value)| key.len() + VALUE + weight(value)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    VALUE + inside
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(value: Value) -> Tool {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_tool_that_cannot_be_read_hides_no_other() {
        let mut growing = Growing::default();
        let page = json!({ "tools": [
            { "name": "good", "inputSchema": { "type": "object" } },
            { "name": "bad" },
            5,
        ], "nextCursor": "2" });
        assert_eq!(growing.add_readable(page), Ok(Some("2".to_owned())));
        assert_eq!((growing.list.tools.len(), growing.list.unreadable), (1, 2));
        assert_eq!(growing.add_readable(json!({ "tools": 1 })), Err(Fault::Invalid));
    }

    #[test]
    fn a_tool_is_kept_without_what_nobody_needs() {
        let text = "é".repeat(DESCRIPTION);
        let full = tool(json!({
            "name": "a", "title": text, "description": text,
            "inputSchema": { "type": "object" }, "outputSchema": { "type": "object" },
            "annotations": { "title": text, "readOnlyHint": true },
            "icons": [{ "src": "data:," }], "_meta": { "a": text },
        }));
        let (found, bytes) = kept(full).unwrap();
        let short = json!({
            "name": "a", "title": "é".repeat(TITLE / 2), "description": "é".repeat(DESCRIPTION / 2),
            "inputSchema": { "type": "object" }, "annotations": { "title": "é".repeat(TITLE / 2), "readOnlyHint": true },
        });
        assert_eq!(found, tool(short));
        assert!((DESCRIPTION + TITLE..DESCRIPTION + TITLE + 1024).contains(&bytes), "{bytes}");
    }

    #[test]
    fn what_is_too_large_is_left_out_and_what_is_too_much_is_cut() {
        let mut growing = Growing::default();
        let zeros = vec![0; LARGEST_SCHEMA / VALUE];
        growing.add(tool(json!({ "name": "a", "inputSchema": { "enum": zeros } })));
        growing.add(tool(json!({ "name": "a".repeat(NAME + 1), "inputSchema": {} })));
        assert_eq!((growing.list.tools.len(), growing.list.unreadable), (0, 2));
        let large = tool(json!({ "name": "a", "inputSchema": { "title": "x".repeat(1 << 19) } }));
        (0..200).for_each(|_| growing.add(large.clone()));
        assert!(growing.list.is_cut && growing.bytes <= MOST_BYTES);
        assert!((120..=128).contains(&growing.list.tools.len()), "{}", growing.list.tools.len());
    }
}
