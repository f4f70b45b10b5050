//! Describes to the model what the user has in front of them: open files, cursor, selection and the
//! plan. This changes with every keystroke, so that it stands in the newest message and never in the
//! instructions, whose change would have the server read the whole chat again. What an earlier
//! message says already, and the model still reads, is not said again.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use super::outgoing;
use crate::message::{Context, Message, OpenFile, Part, Todo, TodoState, ToolView};

/// The most names of open files.
const MOST_FILES: usize = 30;
/// The most bytes of a selection, and of the lines around a cursor.
const MOST_TEXT: usize = 8 * 1024;

/// What is known when a person's message is made.
#[derive(Clone, Copy, Debug)]
pub struct PromptContext<'a> {
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
    /// What the model already knows.
    pub known: &'a KnownContext,
}

/// What earlier messages already say and the model still reads, by tag. It need not be repeated.
#[derive(Clone, Debug, Default)]
pub struct KnownContext {
    editor: Option<String>,
    plan: Option<String>,
}

impl KnownContext {
    /// Reads it from the messages that go out, as the conversation's markers say.
    pub fn of(history: &[Arc<Message>]) -> Self {
        let mut known = Self::default();
        for message in outgoing(history) {
            for part in &message.parts {
                let Part::Context { text } = part else { continue };
                if text.starts_with(EDITOR.0) {
                    known.editor = Some(text.clone());
                } else if text.starts_with(PLAN.0) {
                    known.plan = Some(text.clone());
                }
            }
        }
        known
    }
}

/// What stands round what the user has open, and round the plan.
const EDITOR: (&str, &str) = ("<editor>", "</editor>");
const PLAN: (&str, &str) = ("<plan>", "</plan>");

impl PromptContext<'_> {
    /// What of it the model does not know yet, as it reads it: a text for each thing.
    pub fn describe(&self) -> Vec<String> {
        let mut told = Vec::new();
        let editor = self.editor();
        let was_open = self.known.editor.as_deref().is_some_and(|known| known != nothing_open());
        let editor = editor.or_else(|| was_open.then(nothing_open));
        told.extend(editor.filter(|editor| self.known.editor.as_ref() != Some(editor)));
        let patch = |heading: &str, tag: &str, patch: Option<&str>| {
            let patch = patch.filter(|patch| !patch.is_empty())?;
            Some(format!("{heading}\n<{tag}>\n{}\n</{tag}>", patch.trim_end()))
        };
        told.extend(patch(
            "The user rejected these changes of yours; do not make them again:",
            "rejected",
            self.rejected,
        ));
        told.extend(patch(
            "The user wants these changes after all; they have been re-applied:",
            "restored",
            self.regained,
        ));
        let plan = open_plan(self.todos).map(|plan| within(PLAN, &plan));
        told.extend(plan.filter(|plan| self.known.plan.as_ref() != Some(plan)));
        told
    }

    /// What the user has open.
    fn editor(&self) -> Option<String> {
        let mut text = String::new();
        self.open_files(&mut text);
        if let Some(active) = self.context.active() {
            self.active(&mut text, active);
        }
        (!text.is_empty()).then(|| within(EDITOR, &text))
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

fn nothing_open() -> String {
    within(EDITOR, "No files are open any more.")
}

fn within((open, close): (&str, &str), text: &str) -> String {
    format!("{open}\n{text}\n{close}")
}

/// A plan as a model reads it; none where nothing of it is open.
pub(super) fn open_plan(todos: &[Todo]) -> Option<String> {
    let open = todos.iter().any(|todo| todo.state != TodoState::Done);
    let line = |todo: &Todo| {
        let mark = match todo.state {
            TodoState::Done => 'x',
            TodoState::Doing => '~',
            TodoState::Open => ' ',
        };
        format!("- [{mark}] {}", todo.text)
    };
    open.then(|| todos.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// The plan as the last call that changed it left it.
pub(crate) fn todos(branch: &[Arc<Message>]) -> Vec<Todo> {
    let parts = branch.iter().rev().flat_map(|message| message.parts.iter().rev());
    let mut plans = parts.filter_map(|part| match part {
        Part::ToolResult(result) => match &result.view {
            Some(ToolView::Todos { todos }) => Some(todos.clone()),
            _ => None,
        },
        _ => None,
    });
    plans.next().unwrap_or_default()
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
    use crate::agent::truncation::{self, tests::user};
    use crate::message::{Compaction, Excerpt, Role, Selection};

    fn prompt_context<'a>(
        context: &'a Context,
        todos: &'a [Todo],
        known: &'a KnownContext,
    ) -> PromptContext<'a> {
        let project = Some(Path::new("/p"));
        PromptContext { context, todos, rejected: None, regained: None, project, known }
    }

    fn todo(text: &str, state: TodoState) -> Todo {
        Todo { text: text.into(), state }
    }

    fn files(names: &[&str]) -> Context {
        let file =
            |name: &&str| OpenFile { path: format!("/p/{name}").into(), ..OpenFile::default() };
        Context { open_files: names.iter().map(file).collect(), ..Context::default() }
    }

    /// A conversation with a message that was told this.
    fn after(told: &[String]) -> Vec<Arc<Message>> {
        let parts = told.iter().map(|text| Part::Context { text: text.clone() });
        let parts = parts.chain([Part::Text("Do it.".into())]).collect();
        vec![Arc::new(Message { parts, ..Message::text(Role::User, None, "") })]
    }

    #[test]
    fn nothing_is_told_of_nothing() {
        let known = KnownContext::default();
        assert_eq!(
            prompt_context(&Context::default(), &[], &known).describe(),
            Vec::<String>::new()
        );
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
        let todos = [todo("Look", TodoState::Done), todo("Fix", TodoState::Doing)];
        let known = KnownContext::default();
        let told = PromptContext {
            rejected: Some("-a\n+b\n"),
            ..prompt_context(&context, &todos, &known)
        };
        insta::assert_snapshot!(told.describe().join("\n\n"));
    }

    #[test]
    fn what_is_the_same_is_told_once_and_what_changed_again() {
        let todos = [todo("Look", TodoState::Done), todo("Fix", TodoState::Open)];
        let (one, two) = (files(&["a.rs"]), files(&["a.rs", "b.rs"]));
        let first = prompt_context(&one, &todos, &KnownContext::default()).describe();
        assert_eq!(first.len(), 2);
        let mut history = after(&first);
        let known = KnownContext::of(&history);
        assert_eq!(prompt_context(&one, &todos, &known).describe(), Vec::<String>::new());
        let changed = prompt_context(&two, &todos, &known).describe();
        assert!(changed.len() == 1 && changed[0].contains("b.rs"), "{changed:?}");
        history.extend(after(&changed));
        // Back to what an earlier message says is a change, too.
        let known = KnownContext::of(&history);
        assert_eq!(prompt_context(&one, &todos, &known).describe(), [first[0].clone()]);
        let closed = prompt_context(&Context::default(), &todos, &known).describe();
        assert_eq!(closed, ["<editor>\nNo files are open any more.\n</editor>"]);
        history.extend(after(&closed));
        let known = KnownContext::of(&history);
        assert_eq!(
            prompt_context(&Context::default(), &todos, &known).describe(),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_finished_plan_is_not_told() {
        let known = KnownContext::default();
        let done = [todo("Look", TodoState::Done), todo("Fix", TodoState::Done)];
        assert_eq!(
            prompt_context(&Context::default(), &done, &known).describe(),
            Vec::<String>::new()
        );
    }

    #[test]
    fn what_was_summed_up_is_told_again() {
        let one = files(&["a.rs"]);
        let mut history = after(&prompt_context(&one, &[], &KnownContext::default()).describe());
        history.push(user("And then?"));
        let upto = history[0].id;
        let summary = Some("They looked.".to_owned());
        let compaction = Compaction { upto, summary, keep: 0, undone: false };
        history.push(Arc::new(truncation::marker(vec![compaction])));
        let told = prompt_context(&one, &[], &KnownContext::of(&history)).describe();
        assert_eq!(told.len(), 1, "{told:?}");
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
