//! What goes along with a message: what the person has open, as far as they want that.

use std::path::PathBuf;
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

/// Tells which files are open, in full, at the moment that a message is sent.
#[derive(Clone, Default)]
pub struct OpenFiles(Option<Rc<dyn Fn() -> Vec<OpenFile>>>);

impl OpenFiles {
    /// Asked whenever a message is sent.
    pub fn new(ask: impl Fn() -> Vec<OpenFile> + 'static) -> Self {
        Self(Some(Rc::new(ask)))
    }

    fn ask(&self) -> Vec<OpenFile> {
        self.0.as_ref().map(|ask| ask()).unwrap_or_default()
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

    fn chips(&self) -> Vec<Chip> {
        let mut chips = Vec::new();
        if let Some(at) = self.open.active.as_ref().filter(|_| self.sends(Along::Active)) {
            let name = at.path.file_name().unwrap_or(at.path.as_os_str()).to_string_lossy();
            let (from, to) = at.lines;
            let place = if from == to { from.to_string() } else { format!("{from}–{to}") };
            let path = at.path.display().to_string();
            let text = if at.is_selected {
                gettext("Goes along: what is selected in {path}, and the lines around it")
            } else {
                gettext("Goes along: the lines of {path} around the cursor")
            };
            chips.push(Chip {
                along: Along::Active,
                icon: FILE,
                is_coming: false,
                act: None,
                label: format!("{name}:{place}"),
                tooltip: fill(&text, &[("path", &path)]),
            });
        }
        let others = &self.open.others;
        if !others.is_empty() && self.sends(Along::Others) {
            let count = others.len();
            let text = ngettext(
                "{count} open file",
                "{count} open files",
                u32::try_from(count).unwrap_or(u32::MAX),
            );
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
    fn take(&mut self) -> Context {
        let context = self.now();
        self.without.clear();
        context
    }

    /// What would go along now.
    fn now(&self) -> Context {
        let mut open_files = self.files.ask();
        open_files
            .retain(|file| self.sends(if file.active { Along::Active } else { Along::Others }));
        Context { open_files, ..Context::default() }
    }
}

impl ChatWidget {
    /// Other files are open, or the person works at another place.
    pub(super) fn set_open(&mut self, open: Outline, view: &View) {
        // What was left out of a message is that file, and not one that is opened after it.
        let path = |open: &Outline| open.active.as_ref().map(|at| at.path.clone());
        let (before, after): (Option<PathBuf>, _) = (path(&self.goes.open), path(&open));
        if before != after {
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
        // Of another chat's project nothing is told.
        if self.shown.project().is_none() {
            return Context::default();
        }
        self.goes.take()
    }

    /// What would go along if the message was sent now.
    pub(super) fn goes_along(&self) -> Context {
        self.shown.project().map(|_| self.goes.now()).unwrap_or_default()
    }

    pub(super) fn show_along(&self, view: &View) {
        let has_project = self.shown.project().is_some();
        view.composer.set_chips(if has_project { self.goes.chips() } else { Vec::new() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::At;

    fn file(path: &str, active: bool) -> OpenFile {
        OpenFile { path: path.into(), active, ..OpenFile::default() }
    }

    fn goes() -> Goes {
        let all = || vec![file("/p/a.rs", false), file("/p/src/main.rs", true)];
        let mut goes = Goes::new(OpenFiles::new(all));
        goes.open = Outline {
            active: Some(At {
                path: "src/main.rs".into(),
                lines: (12, 20),
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
        let labels: Vec<_> = goes.chips().into_iter().map(|chip| chip.label).collect();
        assert_eq!(labels, ["main.rs:12–20", "1 open file"]);
        assert_eq!(goes.take().open_files.len(), 2);
    }

    #[test]
    fn what_was_taken_away_is_left_out_of_one_message() {
        let mut goes = goes();
        goes.without.push(Along::Active);
        assert_eq!(goes.chips().len(), 1);
        assert_eq!(goes.take().open_files, [file("/p/a.rs", false)]);
        assert_eq!(goes.chips().len(), 2, "the next one has all again");
        goes.without.push(Along::Others);
        assert_eq!(goes.take().open_files, [file("/p/src/main.rs", true)]);
    }
}
