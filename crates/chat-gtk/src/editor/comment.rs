//! Toggles comments: a pure function of lines, and the code that applies its edits as one undo
//! step.

use gtk::{TextIter, glib};
use relm4::gtk::prelude::*;
use sourceview5::prelude::*;

/// The comment markers of a language.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CommentTokens {
    start: String,
    /// The end marker; empty if the comment ends with the line.
    end: String,
}

/// A byte range of a line to replace.
#[derive(Debug, PartialEq, Eq)]
struct Edit {
    line: usize,
    at: std::ops::Range<usize>,
    text: String,
}

/// Makes Ctrl+/ toggle comments in a view, before the view itself handles the key, which would
/// select everything. In a language without comments it only beeps.
pub(super) fn install(view: &sourceview5::View) {
    let keys = gtk::ShortcutController::new();
    keys.set_propagation_phase(gtk::PropagationPhase::Capture);
    for key in ["<Control>slash", "<Control>KP_Divide"] {
        let weak = view.downgrade();
        let act = gtk::CallbackAction::new(move |_, _| {
            let view = weak.upgrade().filter(TextViewExt::is_editable);
            let buffer =
                view.as_ref().and_then(|view| view.buffer().downcast::<sourceview5::Buffer>().ok());
            if let (Some(view), Some(buffer)) = (view, buffer)
                && !toggle(&buffer)
            {
                view.error_bell();
            }
            glib::Propagation::Stop
        });
        let trigger = gtk::ShortcutTrigger::parse_string(key);
        keys.add_shortcut(gtk::Shortcut::new(trigger, Some(act)));
    }
    view.add_controller(keys);
}

/// Comments out the selected lines, or uncomments them if all of them are comments; without a
/// selection it toggles the cursor's line. Returns whether the file's language has comments at all.
fn toggle(buffer: &sourceview5::Buffer) -> bool {
    let Some(tokens) = buffer.language().as_ref().and_then(CommentTokens::of) else { return false };
    let (start, end) = buffer.selection_bounds().unwrap_or_else(|| {
        let cursor = buffer.iter_at_mark(&buffer.get_insert());
        (cursor, cursor)
    });
    let first = start.line();
    // A selection that ends before a line's first letter does not include that line.
    let is_before = end.line() > first && end.starts_line();
    let last = end.line() - i32::from(is_before);
    let lines: Vec<String> = (first..=last).map(|line| text_of(buffer, line)).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    buffer.begin_user_action();
    // From the end, so that earlier positions stay valid.
    for edit in toggled(&lines, &tokens).into_iter().rev() {
        let line = first + edit.line as i32;
        let at = |bytes: usize| iter_at(buffer, line, bytes);
        if let (Some(mut from), Some(mut to)) = (at(edit.at.start), at(edit.at.end)) {
            buffer.delete(&mut from, &mut to);
            buffer.insert(&mut from, &edit.text);
        }
    }
    buffer.end_user_action();
    true
}

fn text_of(buffer: &sourceview5::Buffer, line: i32) -> String {
    let Some(start) = buffer.iter_at_line(line) else { return String::new() };
    let mut end = start;
    if !end.ends_line() {
        end.forward_to_line_end();
    }
    buffer.text(&start, &end, true).into()
}

fn iter_at(buffer: &sourceview5::Buffer, line: i32, bytes: usize) -> Option<TextIter> {
    buffer.iter_at_line_index(line, bytes as i32)
}

impl CommentTokens {
    /// The markers of a language: those of line comments if it has any, otherwise of block
    /// comments.
    fn of(language: &sourceview5::Language) -> Option<Self> {
        let mark = |name: &str| language.metadata(name).map(String::from);
        let mark = |name: &str| mark(name).filter(|mark| !mark.is_empty());
        if let Some(start) = mark("line-comment-start") {
            return Some(Self { start, end: String::new() });
        }
        let (start, end) = (mark("block-comment-start")?, mark("block-comment-end")?);
        Some(Self { start, end })
    }
}

/// The edits that toggle lines, in order. Blank lines stay as they are, unless there are no others.
fn toggled(lines: &[&str], tokens: &CommentTokens) -> Vec<Edit> {
    let is_blank = |line: &str| line.trim().is_empty();
    let all_blank = lines.iter().all(|line| is_blank(line));
    let meant = || lines.iter().enumerate().filter(|(_, line)| all_blank || !is_blank(line));
    let commented: Option<Vec<_>> =
        meant().map(|(at, line)| uncommented(at, line, tokens)).collect();
    if let Some(edits) = commented {
        return edits.into_iter().flatten().collect();
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let common = meant().map(|(_, line)| indent(line)).min().unwrap_or_default();
    let edits = meant().flat_map(|(line, text)| {
        let start = Edit { line, at: common..common, text: format!("{} ", tokens.start) };
        let length = text.trim_end().len().max(common);
        let end = (!tokens.end.is_empty()).then(|| Edit {
            line,
            at: length..length,
            text: format!(" {}", tokens.end),
        });
        [Some(start), end].into_iter().flatten()
    });
    edits.collect()
}

/// The edits that uncomment a line; none if it is not a comment.
fn uncommented(line: usize, text: &str, tokens: &CommentTokens) -> Option<Vec<Edit>> {
    let from = text.len() - text.trim_start().len();
    let rest = text[from..].strip_prefix(&tokens.start)?;
    let to = from + tokens.start.len() + usize::from(rest.starts_with(' '));
    let start = Edit { line, at: from..to, text: String::new() };
    if tokens.end.is_empty() {
        return Some(vec![start]);
    }
    let end = text.trim_end().len();
    let inside = text[..end].strip_suffix(&tokens.end).filter(|inside| inside.len() >= to)?;
    let blank = usize::from(inside.len() > to && inside.ends_with(' '));
    let end = Edit { line, at: inside.len() - blank..end, text: String::new() };
    Some(vec![start, end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(start: &str, end: &str) -> CommentTokens {
        CommentTokens { start: start.to_owned(), end: end.to_owned() }
    }

    fn after(text: &str, tokens: &CommentTokens) -> String {
        let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        let all: Vec<_> = lines.iter().map(String::as_str).collect();
        for edit in toggled(&all, tokens).into_iter().rev() {
            lines[edit.line].replace_range(edit.at, &edit.text);
        }
        lines.join("\n")
    }

    #[test]
    fn lines_become_comments_at_their_common_indentation_and_come_back() {
        let rust = tokens("//", "");
        let text = "    if a {\n\n        b();\n    }";
        let commented = "    // if a {\n\n    //     b();\n    // }";
        assert_eq!(after(text, &rust), commented);
        assert_eq!(after(commented, &rust), text);
        // One line that is not a comment makes all of them comments.
        assert_eq!(after("// a\nb", &rust), "// // a\n// b");
        assert_eq!(after("//a", &rust), "a");
        assert_eq!(after("", &rust), "// ");
    }

    #[test]
    fn a_language_without_line_comments_has_each_line_wrapped() {
        let html = tokens("<!--", "-->");
        assert_eq!(after("<p>\n  a\n</p> ", &html), "<!-- <p> -->\n<!--   a -->\n<!-- </p> --> ");
        assert_eq!(after("  <!-- a -->", &html), "  a");
        assert_eq!(after("<!---->", &html), "");
        assert_eq!(after("<!-->", &html), "<!-- <!--> -->");
    }

    proptest! {
        #[test]
        fn toggled_twice_it_is_as_before(
            text in "([ ]{0,4}[aä/]{0,3}\n){0,3}[ ]{0,4}b",
            block in any::<bool>(),
        ) {
            let tokens = if block { tokens("/*", "*/") } else { tokens("#", "") };
            prop_assert_eq!(after(&after(&text, &tokens), &tokens), text);
        }
    }

    #[gtk::test]
    fn it_is_one_step_to_undo() {
        crate::init();
        let language = sourceview5::LanguageManager::default().language("rust");
        let buffer = sourceview5::Buffer::new(None);
        assert!(!toggle(&buffer), "a plain text has no comments");
        buffer.set_language(language.as_ref());
        buffer.set_text("a();\nb();\nc();\n");
        let (start, end) = (buffer.start_iter(), buffer.iter_at_line(2).unwrap());
        buffer.select_range(&start, &end);
        assert!(toggle(&buffer));
        let text = || {
            let (start, end) = buffer.bounds();
            buffer.text(&start, &end, true).to_string()
        };
        assert_eq!(text(), "// a();\n// b();\nc();\n");
        buffer.undo();
        assert_eq!(text(), "a();\nb();\nc();\n");
    }
}
