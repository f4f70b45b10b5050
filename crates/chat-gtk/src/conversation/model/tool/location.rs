//! Finds the line of a file that a call was about, which the call's line opens.

use chat_core::message::{ToolResult, ToolView};
use chat_core::tool::Target;

use crate::editor::TextPosition;

/// The first line that was read, or the first one that was changed; none where the call is about no line.
pub fn of(target: &Target, result: Option<&ToolResult>) -> Option<TextPosition> {
    let line = match result.and_then(|result| result.view.as_ref()) {
        Some(ToolView::Read { from, .. }) => *from,
        Some(ToolView::Edited { diff, .. }) => first_changed(diff),
        None => target.line,
        Some(_) => None,
    };
    line.map(|line| TextPosition {
        line: u32::try_from(line.max(1)).unwrap_or(u32::MAX),
        column: 1,
    })
}

/// The first line of the new text that came, or before which something went: of a unified diff without its
/// file header.
fn first_changed(diff: &str) -> Option<u64> {
    let mut lines = diff.lines();
    let head = lines.find(|line| line.starts_with("@@"))?;
    let new = head.split(' ').find_map(|word| word.strip_prefix('+'))?;
    let first: u64 = new.split(',').next()?.parse().ok()?;
    let before = lines.take_while(|line| line.starts_with(' ') || line.is_empty()).count();
    Some(first + before as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::state::tests::{call, ours};
    use super::*;

    fn line(name: &str, arguments: Value, view: Option<ToolView>) -> Option<u32> {
        let call = call(name, arguments);
        let result = view
            .map(|view| ToolResult { view: Some(view), ..ToolResult::to(&call, "done", false) });
        let tools = ours();
        let target = (tools.get(name).expect("a tool").target)(&call.arguments)?;
        of(&target, result.as_ref()).map(|place| place.line)
    }

    fn edited(diff: &str) -> Option<u32> {
        let view = ToolView::Edited {
            path: "a".to_owned(),
            diff: diff.to_owned(),
            added: 1,
            removed: 1,
            created: false,
        };
        line("edit_file", json!({ "path": "a" }), Some(view))
    }

    #[test]
    fn what_was_read_leads_to_its_first_line() {
        let read = |from| ToolView::Read { path: "a".to_owned(), from, to: Some(90) };
        let asked = json!({ "path": "a", "from": 12 });
        assert_eq!(line("read_file", asked.clone(), None), Some(12));
        assert_eq!(line("read_file", asked.clone(), Some(read(Some(40)))), Some(40));
        assert_eq!(line("read_file", asked, Some(read(None))), None, "a picture has no lines");
        assert_eq!(line("read_file", json!({ "path": "a", "from": "x" }), None), None);
        assert_eq!(line("search_files", json!({ "path": "a", "from": 12 }), None), None);
    }

    #[test]
    fn what_was_changed_leads_to_its_first_changed_line() {
        assert_eq!(edited("@@ -8,4 +8,4 @@\n a\n b\n-c\n+d\n e\n"), Some(10));
        assert_eq!(edited("@@ -0,0 +1,2 @@\n+a\n+b\n"), Some(1));
        assert_eq!(edited("@@ -1 +0,0 @@\n-a\n"), Some(1), "all of it went");
        assert_eq!(edited("@@ -3,2 +3 @@\n a\n-b\n@@ -90 +89 @@\n-x\n+y\n"), Some(4));
        assert_eq!(edited(""), None);
        assert_eq!(edited("@@ nonsense"), None);
    }
}
