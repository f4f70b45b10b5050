//! What goes along with a message: what the person has open, as far as they want that.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use chat_core::message::{Context, OpenFile};
use chat_edge::words::fill;
use gettextrs::{gettext, ngettext};

use super::ChatWidget;
use super::view::View;
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
pub(super) struct Goes {
    open: Outline,
    without: Vec<Along>,
    files: OpenFiles,
}

impl Goes {
    pub(super) fn new(files: OpenFiles) -> Self {
        Self { files, ..Self::default() }
    }

    fn sends(&self, along: Along) -> bool {
        !self.without.contains(&along)
    }

    /// Whether what is open is of this project: after another chat was shown, it is that of the one
    /// before for a moment.
    fn is_of(&self, project: Option<&Path>) -> bool {
        project.is_some() && self.open.project.as_deref() == project
    }

    /// What goes along in a chat of this project.
    fn chips(&self, project: Option<&Path>) -> Vec<Chip> {
        let mut chips = Vec::new();
        if !self.is_of(project) {
            return chips;
        }
        if let Some(at) = self.open.active.as_ref().filter(|_| self.sends(Along::Active)) {
            let name = at.path.file_name().unwrap_or(at.path.as_os_str()).to_string_lossy();
            let path = at.path.display().to_string();
            let label = match at.lines {
                None => name.into_owned(),
                Some((from, to)) if from == to => format!("{name}:{from}"),
                Some((from, to)) => format!("{name}:{from}–{to}"),
            };
            let text = match at.lines {
                None => gettext("Goes along: the name of {path}"),
                Some(_) if at.is_selected => {
                    gettext("Goes along: what is selected in {path}, and the lines around it")
                }
                Some(_) => gettext("Goes along: the lines of {path} around the cursor"),
            };
            chips.push(Chip {
                along: Along::Active,
                icon: FILE,
                is_coming: false,
                act: None,
                label,
                tooltip: fill(&text, &[("path", &path)]),
            });
        }
        let others = &self.open.others;
        if !others.is_empty() && self.sends(Along::Others) {
            let count = others.len();
            let number = u32::try_from(count).unwrap_or(u32::MAX);
            // Beside the one that the person works at.
            let text = if self.open.active.is_some() {
                ngettext("{count} more open file", "{count} more open files", number)
            } else {
                ngettext("{count} open file", "{count} open files", number)
            };
            let names: Vec<_> = others.iter().map(|path| path.display().to_string()).collect();
            let said = gettext("Goes along: the names of\n{names}");
            chips.push(Chip {
                along: Along::Others,
                icon: FILE,
                is_coming: false,
                act: None,
                label: fill(&text, &[("count", &count.to_string())]),
                tooltip: fill(&said, &[("names", &names.join("\n"))]),
            });
        }
        chips
    }

    /// What goes along with a message that is sent now; the next one has all again.
    fn take(&mut self, project: Option<&Path>) -> Context {
        let context = self.now(project);
        if self.is_of(project) {
            self.without.clear();
        }
        context
    }

    /// What would go along now: what the chips say.
    fn now(&self, project: Option<&Path>) -> Context {
        let Some(project) = project.filter(|project| self.is_of(Some(project))) else {
            return Context::default();
        };
        let mut open_files = self.files.ask(project);
        open_files
            .retain(|file| self.sends(if file.active { Along::Active } else { Along::Others }));
        Context { open_files, ..Context::default() }
    }
}

impl ChatWidget {
    /// Other files are open, or the person works at another place.
    pub(super) fn set_open(&mut self, open: Outline, view: &View) {
        // What was left out of a message is that file, and not one that is opened after it.
        let path = |open: &Outline| -> (Option<PathBuf>, Option<PathBuf>) {
            (open.project.clone(), open.active.as_ref().map(|at| at.path.clone()))
        };
        if path(&self.goes.open) != path(&open) {
            self.goes.without.clear();
        }
        self.goes.open = open;
        self.show_along(view);
    }

    /// This does not go along with the next message.
    pub(super) fn leave_out(&mut self, along: Along, view: &View) {
        self.goes.without.push(along);
        self.show_along(view);
        view.composer.focus();
    }

    /// Takes what goes along now.
    pub(super) fn take_along(&mut self) -> Context {
        self.goes.take(self.shown.project())
    }

    /// What would go along if the message was sent now.
    pub(super) fn goes_along(&self) -> Context {
        self.goes.now(self.shown.project())
    }

    pub(super) fn show_along(&self, view: &View) {
        view.composer.set_chips(self.goes.chips(self.shown.project()));
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

    fn goes() -> Goes {
        let all = |_: &Path| vec![file("/p/a.rs", false), file("/p/src/main.rs", true)];
        let mut goes = Goes::new(OpenFiles::new(all));
        goes.open = Outline {
            project: Some(here().to_owned()),
            active: Some(At {
                path: "src/main.rs".into(),
                lines: Some((12, 20)),
                is_selected: true,
                is_unsaved: false,
            }),
            others: vec!["a.rs".into()],
        };
        goes
    }

    #[test]
    fn what_is_shown_is_what_goes_along() {
        let mut goes = goes();
        let labels: Vec<_> = goes.chips(Some(here())).into_iter().map(|chip| chip.label).collect();
        assert_eq!(labels, ["main.rs:12–20", "1 more open file"]);
        assert_eq!(goes.take(Some(here())).open_files.len(), 2);
    }

    #[test]
    fn what_is_no_text_goes_by_its_name() {
        let mut goes = goes();
        if let Some(active) = &mut goes.open.active {
            active.lines = None;
        }
        let chips = goes.chips(Some(here()));
        assert_eq!(chips[0].label, "main.rs");
        assert_eq!(chips[0].tooltip, "Goes along: the name of src/main.rs");
    }

    #[test]
    fn what_was_taken_away_is_left_out_of_one_message() {
        let mut goes = goes();
        goes.without.push(Along::Active);
        assert_eq!(goes.chips(Some(here())).len(), 1);
        assert_eq!(goes.take(Some(here())).open_files, [file("/p/a.rs", false)]);
        assert_eq!(goes.chips(Some(here())).len(), 2, "the next one has all again");
        goes.without.push(Along::Others);
        assert_eq!(goes.take(Some(here())).open_files, [file("/p/src/main.rs", true)]);
    }

    #[test]
    fn what_is_open_in_another_project_stays_there() {
        let mut goes = goes();
        goes.without.push(Along::Others);
        for other in [None, Some(Path::new("/q"))] {
            assert!(goes.chips(other).is_empty());
            assert!(goes.take(other).open_files.is_empty());
        }
        assert_eq!(goes.take(Some(here())).open_files.len(), 1, "what was left out here still is");
    }
}
