//! Lists what a server has, page by page and within bounds. What is on a page stays as it came, so that each item can be
//! read for itself: one that is odd hides no other.

use std::time::Duration;

use rmcp::model::{ClientRequest, PaginatedRequestParams, ServerResult};
use serde_json::Value;

use super::{Client, Fault, LIST};

/// So many items are taken of one list, and so many pages asked for.
pub(super) const MOST_ITEMS: usize = 10_000;
pub(super) const MOST_PAGES: usize = 1_000;
/// How long all pages of a list may take.
const ALL: Duration = Duration::from_mins(1);
/// The code of a server that does not know what it is asked for.
const NO_METHOD: i32 = -32601;

/// What a server lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    /// What can be read, in the server's order.
    pub items: Vec<T>,
    /// How many could not be read.
    pub unreadable: usize,
    /// Whether there are more than are taken.
    pub is_cut: bool,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { items: Vec::new(), unreadable: 0, is_cut: false }
    }
}

impl<T> Listed<T> {
    fn add(&mut self, items: Vec<Value>, read: impl Fn(&Value) -> Option<T>) {
        for item in items {
            if self.items.len() == MOST_ITEMS {
                self.is_cut = true;
                return;
            }
            match read(&item) {
                Some(item) => self.items.push(item),
                None => self.unreadable += 1,
            }
        }
    }
}

impl Client {
    /// Lists what pages have under `key`. `request` makes the request for one of them.
    pub(super) async fn listed<T>(
        &self,
        key: &str,
        request: impl Fn(PaginatedRequestParams) -> ClientRequest,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Listed<T>, Fault> {
        in_time(self.all_pages(key, request, read)).await
    }

    async fn all_pages<T>(
        &self,
        key: &str,
        request: impl Fn(PaginatedRequestParams) -> ClientRequest,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Listed<T>, Fault> {
        let (mut list, mut cursor) = (Listed::default(), None);
        for _ in 0..MOST_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.answer(request(page), LIST).await?;
            let (items, next) = page_of(page, key)?;
            list.add(items, &read);
            cursor = next;
            if cursor.is_none() || list.is_cut {
                return Ok(list);
            }
        }
        list.is_cut = true;
        Ok(list)
    }

    /// Sends a request, and gives the answer as it came. Dropping the future gives it up.
    pub(super) async fn answer(
        &self,
        request: ClientRequest,
        limit: Duration,
    ) -> Result<Value, Fault> {
        let asking = self.peer().send_request(request);
        let answer = tokio::time::timeout(limit, asking).await.map_err(|_| Fault::TimedOut)?;
        match answer.map_err(|error| self.fault(&error))? {
            ServerResult::CustomResult(odd) => Ok(odd.0),
            result => serde_json::to_value(result).map_err(|_| Fault::Invalid),
        }
    }
}

/// What is listed in the time that all pages of a list may take; nothing where the server has no such list.
pub(super) async fn in_time<T: Default>(
    listing: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    match tokio::time::timeout(ALL, listing).await {
        // What a server declares it may still not have.
        Ok(Err(Fault::Refused { code: NO_METHOD, .. })) => Ok(T::default()),
        Ok(listed) => listed,
        Err(_) => Err(Fault::TimedOut),
    }
}

/// The items of a page, and the cursor of the next.
fn page_of(mut page: Value, key: &str) -> Result<(Vec<Value>, Option<String>), Fault> {
    let items = match page.get_mut(key).map(Value::take) {
        Some(Value::Array(items)) => items,
        // A server without any may say nothing at all.
        None if page.as_object().is_some_and(serde_json::Map::is_empty) => Vec::new(),
        _ => return Err(Fault::Invalid),
    };
    Ok((items, page.get("nextCursor").and_then(Value::as_str).map(str::to_owned)))
}

/// A text of an item, with at most so many characters; empty where there is none.
pub(super) fn text(item: &Value, key: &str, most: usize) -> String {
    item.get(key).and_then(Value::as_str).unwrap_or_default().chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_item_that_cannot_be_read_hides_no_other() {
        let page = json!({ "prompts": [{ "name": "a" }, 5, { "name": "b" }], "nextCursor": "2" });
        let (items, next) = page_of(page, "prompts").unwrap();
        assert_eq!(next.as_deref(), Some("2"));
        let mut list = Listed::default();
        list.add(items, |item| item.get("name").cloned());
        assert_eq!(
            list,
            Listed { items: vec![json!("a"), json!("b")], unreadable: 1, is_cut: false }
        );
        assert_eq!(page_of(json!({}), "prompts"), Ok((Vec::new(), None)));
        assert_eq!(page_of(json!({ "prompts": 1 }), "prompts"), Err(Fault::Invalid));
        assert_eq!(page_of(json!({ "inputRequests": {} }), "prompts"), Err(Fault::Invalid));
    }

    #[test]
    fn an_endless_list_is_cut() {
        let mut list = Listed::default();
        list.add(vec![json!(1); MOST_ITEMS], Value::as_i64);
        assert!(!list.is_cut);
        list.add(vec![json!(1)], Value::as_i64);
        assert!(list.is_cut && list.items.len() == MOST_ITEMS);
    }
}
