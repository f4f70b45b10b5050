//! What a model is told, with a message, of what its person has before them: open files, cursor,
//! selection and the plan. It moves with every keystroke, so that it stands in the newest message
//! and never in the instructions, whose change would have the server read the whole chat again.

use std::fmt::Write;
use std::path::Path;

use crate::message::{Context, OpenFile, Todo, TodoState};

/// The most names of open files.
const MOST_FILES: usize = 30;
/// The most bytes of a selection, and of the lines around a cursor.
const MOST_TEXT: usize = 8 * 1024;

/// What is known when a person's message is made.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// What the person has before them.
    pub context: &'a Context,
    /// The session's plan.
    pub todos: &'a [Todo],
    /// What the person rejected of the model's changes since they last wrote, as a patch.
    pub rejected: Option<&'a str>,
    /// What they had rejected before, and wanted after all since then, as a patch.
    pub regained: Option<&'a str>,
    /// The folder to work in.
    pub project: Option<&'a Path>,
}

impl Seen<'_> {
    /// All of it as the model reads it; none where there is nothing to tell.
    pub fn describe(&self) -> Option<String> {
        let mut text = String::new();
        self.open_files(&mut text);
        if let Some(active) = self.context.active() {
            self.active(&mut text, active);
        }
        if let Some(patch) = self.rejected.filter(|patch| !patch.is_empty()) {
            block(
                &mut text,
                "The person took these changes of yours back; do not make them again:",
            );
            let _ = write!(text, "\n<rejected>\n{}\n</rejected>", patch.trim_end());
        }
        if let Some(patch) = self.regained.filter(|patch| !patch.is_empty()) {
            block(&mut text, "The person wants these changes after all, which are there again:");
            let _ = write!(text, "\n<restored>\n{}\n</restored>", patch.trim_end());
        }
        if !self.todos.is_empty() {
            block(&mut text, "Plan:");
            for todo in self.todos {
                let mark = match todo.state {
                    TodoState::Done => 'x',
                    TodoState::Doing => '~',
                    TodoState::Open => ' ',
                };
                let _ = write!(text, "\n- [{mark}] {}", todo.text);
            }
        }
        (!text.is_empty()).then(|| format!("<context>\n{text}\n</context>"))
    }

    fn open_files(&self, text: &mut String) {
        let files = &self.context.open_files;
        if files.is_empty() {
            return;
        }
        block(text, "Open files:");
        for file in files.iter().take(MOST_FILES) {
            let unsaved = if file.unsaved { " (unsaved changes)" } else { "" };
            let _ = write!(text, "\n- {}{unsaved}", self.name(&file.path));
        }
        if files.len() > MOST_FILES {
            let _ = write!(text, "\n- and {} more", files.len() - MOST_FILES);
        }
    }

    fn active(&self, text: &mut String, file: &OpenFile) {
        block(text, "Active file: ");
        let name = self.name(&file.path);
        text.push_str(&name);
        if let Some(line) = file.line {
            let _ = write!(text, ", cursor at line {line}");
            if let Some(column) = file.column {
                let _ = write!(text, ", column {column}");
            }
        }
        if let Some(selection) = &file.selection {
            let (from, to) = (selection.from, selection.to);
            let (shown, cut) = head(&selection.text, MOST_TEXT);
            let _ = write!(text, "\n<selection path={name:?} lines=\"{from}-{to}\">\n{shown}");
            end(text, cut, "</selection>");
        }
        if let Some(around) = &file.around {
            let (shown, cut) = head(&around.text, MOST_TEXT);
            let to = around.from as usize + shown.lines().count().saturating_sub(1);
            let from = around.from;
            let _ = write!(text, "\n<surroundings path={name:?} lines=\"{from}-{to}\">\n{shown}");
            end(text, cut, "</surroundings>");
        }
    }

    /// A path as tools take it: relative to the project where it lies in it.
    fn name(&self, path: &Path) -> String {
        let inside = self.project.and_then(|project| path.strip_prefix(project).ok());
        inside.unwrap_or(path).display().to_string()
    }
}

fn block(text: &mut String, heading: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(heading);
}

fn end(text: &mut String, cut: bool, tag: &str) {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    if cut {
        text.push_str("(cut here)\n");
    }
    text.push_str(tag);
}

/// The beginning of a text, whole lines where it has such, and whether more follows.
fn head(text: &str, most: usize) -> (&str, bool) {
    if text.len() <= most {
        return (text, false);
    }
    let at = text.floor_char_boundary(most);
    let at = text[..at].rfind('\n').map_or(at, |line| line + 1);
    (&text[..at], true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Excerpt, Selection};

    fn seen<'a>(context: &'a Context, todos: &'a [Todo]) -> Seen<'a> {
        Seen { context, todos, rejected: None, regained: None, project: Some(Path::new("/p")) }
    }

    #[test]
    fn nothing_is_told_of_nothing() {
        assert_eq!(seen(&Context::default(), &[]).describe(), None);
    }

    #[test]
    fn open_files_cursor_selection_and_plan_are_told() {
        let active = OpenFile {
            path: "/p/src/main.rs".into(),
            active: true,
            line: Some(12),
            column: Some(5),
            selection: Some(Selection { from: 12, to: 13, text: "let a = 1;\nlet b = 2;".into() }),
            around: Some(Excerpt {
                from: 11,
                text: "fn main() {\nlet a = 1;\nlet b = 2;\n}\n".into(),
            }),
            unsaved: true,
        };
        let other = OpenFile { path: "/elsewhere/b.rs".into(), ..OpenFile::default() };
        let context = Context { open_files: vec![active, other], ..Context::default() };
        let todo = |text: &str, state| Todo { text: text.into(), state };
        let todos = [todo("Look", TodoState::Done), todo("Mend", TodoState::Doing)];
        let told = Seen { rejected: Some("-a\n+b\n"), ..seen(&context, &todos) };
        insta::assert_snapshot!(told.describe().expect("there is something"));
    }

    #[test]
    fn long_texts_are_cut_at_a_line() {
        let line = "ä".repeat(60) + "\n";
        let long = line.repeat(200);
        let (shown, cut) = head(&long, MOST_TEXT);
        assert!(cut && shown.len() <= MOST_TEXT && shown.ends_with('\n'));
        let (shown, cut) = head(&long[..line.len()], MOST_TEXT);
        assert!(!cut && shown == line);
        let wide = "ä".repeat(MOST_TEXT);
        assert!(head(&wide, MOST_TEXT).0.len() <= MOST_TEXT);
    }
}
