//! Keeps what goes along with a message: what the person has open, as far as they want that.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use chat_core::message::{Context, OpenFile};
use chat_presentation::words::fill;
use gettextrs::{gettext, ngettext};

use crate::composer::{Along, Chip};
use crate::editor::Outline;

/// The icon of what is open.
const FILE: &str = "text-x-generic-symbolic";

/// Tells which files of a project are open, in full, at the moment that a message is sent.
#[derive(Clone, Default)]
pub struct OpenFiles(Option<Rc<Ask>>);

type Ask = dyn Fn(&Path) -> Vec<OpenFile>;

impl OpenFiles {
    /// Asked whenever a message is sent, with the project that its chat works in.
    pub fn new(ask: impl Fn(&Path) -> Vec<OpenFile> + 'static) -> Self {
        Self(Some(Rc::new(ask)))
    }

    fn ask(&self, project: &Path) -> Vec<OpenFile> {
        self.0.as_ref().map(|ask| ask(project)).unwrap_or_default()
    }
}

impl std::fmt::Debug for OpenFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OpenFiles").field(&self.0.is_some()).finish()
    }
}

/// What is open, and what of it does not go along with the next message.
#[derive(Debug, Default)]
pub(super) struct EditorContext {
    open: Outline,
    without: Vec<Along>,
    files: OpenFiles,
}

impl EditorContext {
    pub(super) fn new(files: OpenFiles) -> Self {
        Self { files, ..Self::default() }
    }

    /// Whether what is open is of this project: after another chat was shown, it is that of the one
    /// before for a moment.
    fn is_of(&self, project: Option<&Path>) -> bool {
        project.is_some() && self.open.project.as_deref() == project
    }

    /// What goes along in a chat of this project.
    pub(super) fn chips(&self, project: Option<&Path>) -> Vec<Chip> {
        let mut chips = Vec::new();
        if !self.is_of(project) {
            return chips;
        }
        if let Some(at) =
            self.open.active.as_ref().filter(|_| !self.without.contains(&Along::Active))
        {
            let name = at.path.file_name().unwrap_or(at.path.as_os_str()).to_string_lossy();
            let path = at.path.display().to_string();
            let label = match at.lines {
                None => name.into_owned(),
                Some((from, to)) if from == to => format!("{name}:{from}"),
                Some((from, to)) => format!("{name}:{from}–{to}"),
            };
            let text = match at.lines {
                None => gettext("Attached: {path} (name only)"),
                Some(_) if at.is_selected => {
                    gettext("Attached: the selection in {path} and the lines around it")
                }
                Some(_) => gettext("Attached: lines around the cursor in {path}"),
            };
            chips.push(Chip {
                along: Along::Active,
                icon: FILE,
                thumbnail: None,
                is_coming: false,
                detail: None,
                act: None,
                label,
                tooltip: fill(&text, &[("path", &path)]),
            });
        }
        let others = &self.open.others;
        if !others.is_empty() && !self.without.contains(&Along::Others) {
            let count = others.len();
            let number = u32::try_from(count).unwrap_or(u32::MAX);
            // Beside the one that the person works at.
            let text = if self.open.active.is_some() {
                ngettext("{count} more open file", "{count} more open files", number)
            } else {
                ngettext("{count} open file", "{count} open files", number)
            };
            let names: Vec<_> = others.iter().map(|path| path.display().to_string()).collect();
            let said = gettext("Attached (names only):\n{names}");
            chips.push(Chip {
                along: Along::Others,
                icon: FILE,
                thumbnail: None,
                is_coming: false,
                detail: None,
                act: None,
                label: fill(&text, &[("count", &count.to_string())]),
                tooltip: fill(&said, &[("names", &names.join("\n"))]),
            });
        }
        chips
    }

    /// Other files are open, or the person works at another place.
    pub(super) fn set_open(&mut self, open: Outline) {
        // What was left out of a message is that file, and not one that is opened after it.
        let path = |open: &Outline| -> (Option<PathBuf>, Option<PathBuf>) {
            (open.project.clone(), open.active.as_ref().map(|at| at.path.clone()))
        };
        if path(&self.open) != path(&open) {
            self.without.clear();
        }
        self.open = open;
    }

    /// This does not go along with the next message.
    pub(super) fn leave_out(&mut self, along: Along) {
        self.without.push(along);
    }

    /// A message came back, and is again what these are left out of.
    pub(super) fn leave_out_again(&mut self, without: Vec<Along>) {
        self.without.extend(without);
    }

    /// What does not go along with a message that was written now; the next one has all again.
    pub(super) fn leave_behind(&mut self, project: Option<&Path>) -> Vec<Along> {
        if self.is_of(project) { std::mem::take(&mut self.without) } else { Vec::new() }
    }

    /// What would go along in a chat of this project if the message was sent now.
    pub(super) fn of_next(&self, project: Option<&Path>) -> Context {
        self.now(project, &self.without)
    }

    /// What goes along now in a chat of this project, without this.
    pub(super) fn now(&self, project: Option<&Path>, without: &[Along]) -> Context {
        let Some(project) = project.filter(|project| self.is_of(Some(project))) else {
            return Context::default();
        };
        let mut open_files = self.files.ask(project);
        open_files.retain(|file| {
            !without.contains(if file.active { &Along::Active } else { &Along::Others })
        });
        Context { open_files, ..Context::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::At;

    fn file(path: &str, active: bool) -> OpenFile {
        OpenFile { path: path.into(), active, ..OpenFile::default() }
    }

    fn here() -> &'static Path {
        Path::new("/p")
    }

    fn context() -> EditorContext {
        let all = |_: &Path| vec![file("/p/a.rs", false), file("/p/src/main.rs", true)];
        let mut context = EditorContext::new(OpenFiles::new(all));
        context.open = Outline {
            project: Some(here().to_owned()),
            active: Some(At {
                path: "src/main.rs".into(),
                lines: Some((12, 20)),
                is_selected: true,
                is_unsaved: false,
            }),
            others: vec!["a.rs".into()],
        };
        context
    }

    /// What goes along with a message that is written and sent now.
    fn taken(context: &mut EditorContext, project: Option<&Path>) -> Vec<OpenFile> {
        let without = context.leave_behind(project);
        context.now(project, &without).open_files
    }

    #[test]
    fn what_is_shown_is_what_goes_along() {
        let mut context = context();
        let labels: Vec<_> =
            context.chips(Some(here())).into_iter().map(|chip| chip.label).collect();
        assert_eq!(labels, ["main.rs:12–20", "1 more open file"]);
        assert_eq!(taken(&mut context, Some(here())).len(), 2);
    }

    #[test]
    fn what_is_no_text_goes_by_its_name() {
        let mut context = context();
        if let Some(active) = &mut context.open.active {
            active.lines = None;
        }
        let chips = context.chips(Some(here()));
        assert_eq!(chips[0].label, "main.rs");
        assert_eq!(chips[0].tooltip, "Attached: src/main.rs (name only)");
    }

    #[test]
    fn what_was_taken_away_is_left_out_of_one_message() {
        let mut context = context();
        context.without.push(Along::Active);
        assert_eq!(context.chips(Some(here())).len(), 1);
        assert_eq!(taken(&mut context, Some(here())), [file("/p/a.rs", false)]);
        assert_eq!(context.chips(Some(here())).len(), 2, "the next one has all again");
        context.without.push(Along::Others);
        let waiting = context.leave_behind(Some(here()));
        context.without.push(Along::Active);
        let others = context.now(Some(here()), &waiting).open_files;
        assert_eq!(others, [file("/p/src/main.rs", true)], "it waits, and the next is begun");
    }

    #[test]
    fn what_is_open_in_another_project_stays_there() {
        let mut context = context();
        context.without.push(Along::Others);
        for other in [None, Some(Path::new("/q"))] {
            assert!(context.chips(other).is_empty());
            assert!(taken(&mut context, other).is_empty());
        }
        assert_eq!(taken(&mut context, Some(here())).len(), 1, "what was left out here still is");
    }
}
