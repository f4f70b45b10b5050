//! Draws the whole of what a tool would do, so that a person sees it before they allow it.

use chat_core::message::{PermissionRequest, Preview};
use chat_presentation::words::{
    bytes, changed, command_text, runs_command, server_tool_change, visible,
};
use gettextrs::gettext;

use crate::accessible;
use crate::conversation::model::diff;
use crate::conversation::model::styled_text::{StyledText, TextStyle};
use crate::conversation::widgets::fitted::fitted;
use crate::conversation::widgets::style_tags::StyleTags;

/// The greatest height of it, in pixels: about twelve lines; more scrolls.
const TALLEST: i32 = 230;
/// The same of a change, which is read with what is round it.
const TALLEST_CHANGE: i32 = 340;

/// All that would be done.
pub fn text(asked: &PermissionRequest) -> StyledText {
    let mut out = StyledText::default();
    match &asked.preview {
        Preview::Command { text, .. } => {
            out.push(&visible(&command_text(asked, text)), TextStyle::Plain);
        }
        Preview::Change { diff, .. } => {
            out.push(&visible(&asked.target), TextStyle::Dim);
            out.begin_line(0);
            out.append(&diff::styled(diff));
            out.trim();
        }
        Preview::Move { to } => {
            out.push(&visible(&asked.target), TextStyle::Plain);
            out.push("\n→ ", TextStyle::Dim);
            out.push(&visible(&to.display().to_string()), TextStyle::Plain);
        }
        Preview::ServerTool { arguments, changes, .. } => {
            out.push(&visible(&asked.target), TextStyle::Dim);
            out.push("\n", TextStyle::Dim);
            out.push(&visible(arguments), TextStyle::Plain);
            for (words, diff) in changes.iter().map(server_tool_change) {
                out.push(&format!("\n\n{words}\n"), TextStyle::Dim);
                if let Some(diff) = diff {
                    out.append(&diff::styled(diff));
                }
                out.trim();
            }
        }
        Preview::Address { url } => out.push(&visible(url), TextStyle::Plain),
        Preview::Store { url, .. } => {
            out.push(&visible(url), TextStyle::Plain);
            out.push("\n→ ", TextStyle::Dim);
            out.push(&visible(&asked.target), TextStyle::Plain);
        }
        Preview::Delete | Preview::Target => out.push(&visible(&asked.target), TextStyle::Plain),
    }
    out
}

/// What is to be known of it beyond that, in a word or two.
pub fn aside(asked: &PermissionRequest) -> Option<String> {
    match &asked.preview {
        Preview::Command { .. } if !runs_command(asked) => None,
        Preview::Command { network, sandboxed, .. } => Some(match (sandboxed, network) {
            (true, false) => gettext("sandbox, no network"),
            (true, true) => gettext("sandbox, with network"),
            (false, _) => gettext("no sandbox"),
        }),
        Preview::Change { added, removed, .. } => Some(changed(*added, *removed)),
        Preview::Store { bytes: size, .. } => Some(bytes(*size)),
        Preview::Move { .. }
        | Preview::Delete
        | Preview::Address { .. }
        | Preview::ServerTool { .. }
        | Preview::Target => None,
    }
}

/// The widget of it.
pub fn widget(asked: &PermissionRequest, style_tags: &StyleTags) -> gtk::Box {
    let buffer = style_tags.buffer();
    style_tags.fill(&buffer, &text(asked));
    let view = gtk::TextView::builder()
        .buffer(&buffer)
        .editable(false)
        .cursor_visible(false)
        .wrap_mode(gtk::WrapMode::WordChar)
        .accepts_tab(false)
        .css_classes(["tool-text"])
        .build();
    let (name, tallest) = match &asked.preview {
        Preview::Command { .. } => (gettext("Command"), TALLEST),
        Preview::Change { .. } => (gettext("Changes"), TALLEST_CHANGE),
        Preview::Address { .. } => (gettext("Address"), TALLEST),
        Preview::ServerTool { .. } => (gettext("Arguments"), TALLEST),
        Preview::Move { .. } | Preview::Delete | Preview::Store { .. } | Preview::Target => {
            (gettext("Request Details"), TALLEST)
        }
    };
    accessible::set_label(&view, &name);
    fitted(&view, tallest, &["tool-frame"])
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use chat_core::message::ServerToolChange;
    use chat_core::permission::{Action, Why};

    use super::*;

    fn asked(preview: Preview) -> PermissionRequest {
        let (target, always) = ("src/main.rs".to_owned(), Vec::new());
        let reasons = vec![Why::Mode.into()];
        PermissionRequest { action: Action::Write, target, preview, reasons, always }
    }

    #[test]
    fn all_of_it_is_shown() {
        let command = |text: &str, network, sandboxed| {
            let folder = PathBuf::from("/project");
            let (text, stays_inside) = (text.to_owned(), None);
            let (background, limit) = (false, None);
            asked(Preview::Command {
                text,
                folder,
                network,
                sandboxed,
                background,
                limit,
                stays_inside,
            })
        };
        let long = format!("true\n{}rm -rf ~", "\n".repeat(500));
        assert_eq!(text(&command(&long, false, true)).text(), long);
        assert_eq!(text(&command("ls \u{202e}x", false, true)).text(), "ls ⟨U+202E⟩x");
        assert_eq!(aside(&command("ls", true, true)).unwrap(), "sandbox, with network");
        assert_eq!(aside(&command("ls", true, false)).unwrap(), "no sandbox");
        let diff = "@@ -1 +1 @@\n-a\n+b\n".to_owned();
        let change = Preview::Change { is_new: false, diff, added: 1, removed: 1 };
        assert_eq!(text(&asked(change.clone())).text(), "src/main.rs\n@@ -1 +1 @@\n-a\n+b");
        assert_eq!(aside(&asked(change)).unwrap(), "+1 −1");
        let moved = Preview::Move { to: PathBuf::from("src/lib.rs") };
        assert_eq!(text(&asked(moved)).text(), "src/main.rs\n→ src/lib.rs");
        let address = Preview::Address { url: "https://example.org/?q=1".to_owned() };
        assert_eq!(text(&asked(address)).text(), "https://example.org/?q=1");
        assert_eq!(text(&asked(Preview::Target)).text(), "src/main.rs");
        let diff = "@@ -1 +1 @@\n-Adds.\n+Adds\u{202e}.\n".to_owned();
        let changes =
            vec![ServerToolChange::ReadOnly { now: false }, ServerToolChange::Description { diff }];
        let (title, arguments) = ("Add".to_owned(), "{}".to_owned());
        assert_eq!(
            text(&asked(Preview::ServerTool { title, arguments, changes })).text(),
            "src/main.rs\n{}\n\nThe server no longer says that the tool only reads.\n\n\
             The server changed what it says about the tool:\n@@ -1 +1 @@\n-Adds.\n+Adds⟨U+202E⟩."
        );
    }
}
