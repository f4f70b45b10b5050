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
                is_coming: false,
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
                is_coming: false,
                act: None,
                label: fill(&text, &[("count", &count.to_string())]),
                tooltip: fill(&said, &[("names", &names.join("\n"))]),
            });
        }
        chips
    }

    /// What does not go along with a message that was written now; the next one has all again.
    fn leave_behind(&mut self, project: Option<&Path>) -> Vec<Along> {
        if self.is_of(project) { std::mem::take(&mut self.without) } else { Vec::new() }
    }

    /// What goes along now, without this.
    fn now(&self, project: Option<&Path>, without: &[Along]) -> Context {
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

    /// A message was written: what the person had taken away is left out of it, and not of the next one.
    pub(super) fn leave_behind(&mut self, view: &View) -> Vec<Along> {
        let without = self.goes.leave_behind(self.shown.project());
        self.show_along(view);
        without
    }

    /// A message came back, and is again what these are left out of.
    pub(super) fn leave_out_again(&mut self, without: Vec<Along>, view: &View) {
        self.goes.without.extend(without);
        self.show_along(view);
    }

    /// What goes along now, without this.
    pub(super) fn along_without(&self, without: &[Along]) -> Context {
        self.goes.now(self.shown.project(), without)
    }

    /// What would go along if the message was sent now.
    pub(super) fn goes_along(&self) -> Context {
        self.along_without(&self.goes.without)
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

    /// What goes along with a message that is written and sent now.
    fn taken(goes: &mut Goes, project: Option<&Path>) -> Vec<OpenFile> {
        let without = goes.leave_behind(project);
        goes.now(project, &without).open_files
    }

    #[test]
    fn what_is_shown_is_what_goes_along() {
        let mut goes = goes();
        let labels: Vec<_> = goes.chips(Some(here())).into_iter().map(|chip| chip.label).collect();
        assert_eq!(labels, ["main.rs:12–20", "1 more open file"]);
        assert_eq!(taken(&mut goes, Some(here())).len(), 2);
    }

    #[test]
    fn what_is_no_text_goes_by_its_name() {
        let mut goes = goes();
        if let Some(active) = &mut goes.open.active {
            active.lines = None;
        }
        let chips = goes.chips(Some(here()));
        assert_eq!(chips[0].label, "main.rs");
        assert_eq!(chips[0].tooltip, "Attached: src/main.rs (name only)");
    }

    #[test]
    fn what_was_taken_away_is_left_out_of_one_message() {
        let mut goes = goes();
        goes.without.push(Along::Active);
        assert_eq!(goes.chips(Some(here())).len(), 1);
        assert_eq!(taken(&mut goes, Some(here())), [file("/p/a.rs", false)]);
        assert_eq!(goes.chips(Some(here())).len(), 2, "the next one has all again");
        goes.without.push(Along::Others);
        let waiting = goes.leave_behind(Some(here()));
        goes.without.push(Along::Active);
        let others = goes.now(Some(here()), &waiting).open_files;
        assert_eq!(others, [file("/p/src/main.rs", true)], "it waits, and the next is begun");
    }

    #[test]
    fn what_is_open_in_another_project_stays_there() {
        let mut goes = goes();
        goes.without.push(Along::Others);
        for other in [None, Some(Path::new("/q"))] {
            assert!(goes.chips(other).is_empty());
            assert!(taken(&mut goes, other).is_empty());
        }
        assert_eq!(taken(&mut goes, Some(here())).len(), 1, "what was left out here still is");
    }
}
