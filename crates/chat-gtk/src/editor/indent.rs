//! Indents the line after the start of a block; `GtkSourceView` itself only repeats the indentation
//! of the previous line.

use gtk::{gdk, glib};
use relm4::gtk::prelude::*;
use sourceview5::prelude::*;

/// Prose languages: a colon at the end of a line does not open a block there.
const PROSE: [&str; 5] = ["markdown", "rst", "latex", "asciidoc", "diff"];

/// Installs this for Enter in a view. The input method sees the key first, since it may need it.
pub(super) fn install(view: &sourceview5::View) {
    let keys = gtk::EventControllerKey::new();
    keys.set_propagation_phase(gtk::PropagationPhase::Capture);
    let weak = view.downgrade();
    keys.connect_key_pressed(move |keys, key, _, modifiers| {
        let is_enter = matches!(key, gdk::Key::Return | gdk::Key::KP_Enter);
        let modifiers = modifiers & gtk::accelerator_get_default_mod_mask();
        let view = weak
            .upgrade()
            .filter(|view| is_enter && modifiers.is_empty() && view.is_editable() && opens(view));
        let Some(view) = view else { return glib::Propagation::Proceed };
        if keys.current_event().is_some_and(|event| view.im_context_filter_keypress(&event)) {
            return glib::Propagation::Stop;
        }
        break_line(&view);
        glib::Propagation::Stop
    });
    view.add_controller(keys);
}

/// Whether the text before the cursor, or before the selection, opens a block.
fn opens(view: &sourceview5::View) -> bool {
    let (buffer, at) = place(view);
    let before = before(&buffer, &at);
    let language = buffer.language().map(|language| language.id());
    let is_opened = opened(&before, language.as_deref()).is_some();
    let mut last = at;
    let is_comment = |at: &gtk::TextIter| {
        ["comment", "string"].iter().any(|class| buffer.iter_has_context_class(at, class))
    };
    is_opened && (!last.backward_char() || !is_comment(&last))
}

fn place(view: &sourceview5::View) -> (sourceview5::Buffer, gtk::TextIter) {
    let buffer: sourceview5::Buffer = view.buffer().downcast().unwrap_or_default();
    let at = match buffer.selection_bounds() {
        Some((start, _)) => start,
        None => buffer.iter_at_mark(&buffer.get_insert()),
    };
    (buffer, at)
}

/// The line up to a position.
fn before(buffer: &sourceview5::Buffer, at: &gtk::TextIter) -> String {
    let mut start = *at;
    start.set_line_offset(0);
    buffer.text(&start, at, true).into()
}

/// What closes the block that the end of a line opens; none if it opens no block.
fn opened(line: &str, language: Option<&str>) -> Option<&'static str> {
    match line.trim_end().chars().next_back()? {
        '{' => Some("}"),
        '(' => Some(")"),
        '[' => Some("]"),
        ':' if language.is_some_and(|language| !PROSE.contains(&language)) => Some(""),
        _ => None,
    }
}

/// Breaks the line and indents by one step. What closes the block gets its own line.
fn break_line(view: &sourceview5::View) {
    let (buffer, _) = place(view);
    buffer.begin_user_action();
    buffer.delete_selection(true, true);
    let (_, mut at) = place(view);
    let line = before(&buffer, &at);
    let language = buffer.language().map(|language| language.id());
    let closing = opened(&line, language.as_deref()).unwrap_or_default();
    let indent = &line[..line.len() - line.trim_start().len()];
    let mut end = at;
    if !end.ends_line() {
        end.forward_to_line_end();
    }
    let is_closed =
        !closing.is_empty() && buffer.text(&at, &end, true).trim_start().starts_with(closing);
    // The text after the cursor begins the new line.
    let mut blank = at;
    while !blank.ends_line() && matches!(blank.char(), ' ' | '\t') {
        blank.forward_char();
    }
    buffer.delete(&mut at, &mut blank);
    buffer.insert(&mut at, &format!("\n{indent}{}", step(view)));
    if is_closed {
        let offset = at.offset();
        buffer.insert(&mut at, &format!("\n{indent}"));
        buffer.place_cursor(&buffer.iter_at_offset(offset));
    }
    buffer.end_user_action();
    view.scroll_mark_onscreen(&buffer.get_insert());
}

/// One step of indentation, in the file's own style.
fn step(view: &sourceview5::View) -> String {
    if !view.is_insert_spaces_instead_of_tabs() {
        return "\t".to_owned();
    }
    let width = view.indent_width();
    let width = if width > 0 { width as usize } else { view.tab_width() as usize };
    " ".repeat(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_opened_at_the_end_of_a_line() {
        assert_eq!(opened("fn main() {", Some("rust")), Some("}"));
        assert_eq!(opened("    call( ", None), Some(")"));
        assert_eq!(opened("if a:", Some("python3")), Some(""));
        assert_eq!(opened("Note:", Some("markdown")), None);
        assert_eq!(opened("Note:", None), None);
        assert_eq!(opened("a;", Some("rust")), None);
    }

    #[gtk::test]
    fn a_new_line_is_deeper_and_what_closes_has_its_own() {
        crate::init();
        let buffer = sourceview5::Buffer::new(None);
        let view = sourceview5::View::with_buffer(&buffer);
        view.set_insert_spaces_instead_of_tabs(true);
        view.set_indent_width(2);
        let broken = |text: &str, at: i32, language: &str| {
            let language = sourceview5::LanguageManager::default().language(language);
            buffer.set_language(language.as_ref());
            buffer.set_text(text);
            buffer.place_cursor(&buffer.iter_at_offset(at));
            if !opens(&view) {
                return None;
            }
            break_line(&view);
            buffer.insert_at_cursor("|");
            let (start, end) = buffer.bounds();
            Some(buffer.text(&start, &end, true).to_string())
        };
        assert_eq!(broken("  a {\n  }\n", 5, "rust").unwrap(), "  a {\n    |\n  }\n");
        assert_eq!(broken("  a {}\n", 5, "rust").unwrap(), "  a {\n    |\n  }\n");
        assert_eq!(broken("if a:", 5, "python3").unwrap(), "if a:\n  |");
        assert_eq!(broken("if a: b", 5, "python3").unwrap(), "if a:\n  |b");
        assert_eq!(broken("a b", 3, "rust"), None);
        buffer.undo();
        view.set_insert_spaces_instead_of_tabs(false);
        assert_eq!(broken("a {", 3, "rust").unwrap(), "a {\n\t|");
    }
}
