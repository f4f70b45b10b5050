//! Lists a server's tools: page by page, within bounds, and each for itself, so that one that cannot be read
//! hides no other.

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool};
use serde_json::Value;

use super::{Client, Fault, LIST};

/// So many tools are taken of one server, and so many pages asked for.
const MOST_TOOLS: usize = 10_000;
const MOST_PAGES: usize = 1_000;

/// The tools of a server.
#[derive(Clone, Debug, Default)]
pub struct ToolList {
    /// Those that can be read, in the server's order.
    pub tools: Vec<Tool>,
    /// How many could not be read.
    pub unreadable: usize,
    /// Whether there are more than are taken.
    pub is_cut: bool,
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
        let mut list = ToolList::default();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ListToolsRequest::with_param(params);
            let asking = self.peer().send_request(ClientRequest::ListToolsRequest(request));
            let answer = tokio::time::timeout(LIST, asking).await.map_err(|_| Fault::TimedOut)?;
            cursor = match answer.map_err(|error| self.fault(&error))? {
                ServerResult::ListToolsResult(page) => {
                    list.tools.extend(page.tools);
                    page.next_cursor
                }
                // One of the page's tools is not as it should be.
                ServerResult::CustomResult(page) => list.add_readable(page.0)?,
                ServerResult::EmptyResult(_) => None,
                _ => return Err(Fault::Invalid),
            };
            if list.tools.len() > MOST_TOOLS {
                list.tools.truncate(MOST_TOOLS);
                list.is_cut = true;
                return Ok(list);
            }
            if cursor.is_none() {
                return Ok(list);
            }
        }
        list.is_cut = true;
        Ok(list)
    }
}

impl ToolList {
    /// Takes what can be read of a page, and gives the cursor of the next.
    fn add_readable(&mut self, mut page: Value) -> Result<Option<String>, Fault> {
        let tools = page.get_mut("tools").map(Value::take);
        let Some(Value::Array(tools)) = tools else { return Err(Fault::Invalid) };
        for tool in tools {
            match serde_json::from_value(tool) {
                Ok(tool) => self.tools.push(tool),
                Err(_) => self.unreadable += 1,
            }
        }
        Ok(page.get("nextCursor").and_then(Value::as_str).map(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_that_cannot_be_read_hides_no_other() {
        let mut list = ToolList::default();
        let page = json!({ "tools": [
            { "name": "good", "inputSchema": { "type": "object" } },
            { "name": "bad" },
            5,
        ], "nextCursor": "2" });
        assert_eq!(list.add_readable(page), Ok(Some("2".to_owned())));
        assert_eq!(list.tools.len(), 1);
        assert_eq!(list.unreadable, 2);
        assert_eq!(list.add_readable(json!({ "tools": 1 })), Err(Fault::Invalid));
    }
}
