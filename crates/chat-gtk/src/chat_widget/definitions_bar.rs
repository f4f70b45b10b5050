//! Shows above the composer that a project has agents, commands and skills of its own, asks whether to use them, and
//! shows what is wrong with such files.

pub(super) mod items;

use std::sync::Arc;

use adw::prelude::*;
use chat_core::definitions::{Definitions, Digest, Problem, ProjectDefinitions};
use chat_core::manager::Manager;
use chat_presentation::words::{self, fill};
use gettextrs::{gettext, ngettext};
use relm4::gtk;

use super::handle::Handle;
use super::messages::Output;
use super::notice_line::{NoticeLine, close_button};
use crate::accessible;
use crate::models::has_keyboard;

/// What the user does with the bar, and with its dialog.
#[derive(Debug)]
pub(super) enum Msg {
    /// Show what the project has.
    Review,
    /// Use what was shown.
    Trust(Arc<ProjectDefinitions>),
    /// Do not ask about this again for now.
    Refuse(Refusal),
    /// Close the line about the project.
    CloseProject,
    /// List all problems.
    ShowProblems,
    /// Close the line about problems.
    CloseProblems,
}

/// What the user did not want to use: a project's files as they were, with so many of them trusted. If the user stops
/// trusting these, they are asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    digest: Digest,
    trusted: usize,
}

impl Refusal {
    fn of(project: &ProjectDefinitions) -> Self {
        let trusted = project.items.iter().filter(|item| item.is_trusted).count();
        Self { digest: project.digest, trusted }
    }
}

/// The bar.
pub(super) struct DefinitionsBar {
    handle: Handle<Msg>,
    manager: Option<Manager>,
    root: gtk::Box,
    project: NoticeLine,
    problems: NoticeLine,
    /// Lists all problems where there are several.
    show_problems: gtk::Button,
    /// Those that count in the shown chat, once they are read.
    definitions: Arc<Definitions>,
    /// What the user does not want to be asked about again.
    refused: Vec<Refusal>,
    /// The problems whose line the user closed.
    closed: Vec<Problem>,
}

impl DefinitionsBar {
    pub(super) fn new(handle: Handle<Msg>) -> Self {
        let review = gtk::Button::with_label(&gettext("Review…"));
        let told = handle.callback(|()| Msg::Review);
        review.connect_clicked(move |_| told(()));
        let close_project = close_button(&gettext("Close project notice"));
        let told = handle.callback(|()| Msg::CloseProject);
        close_project.connect_clicked(move |_| told(()));
        let show_problems = gtk::Button::with_label(&gettext("Show All"));
        accessible::set_label(&show_problems, &gettext("Show all problems"));
        let told = handle.callback(|()| Msg::ShowProblems);
        show_problems.connect_clicked(move |_| told(()));
        let close_problems = close_button(&gettext("Close file notice"));
        let told = handle.callback(|()| Msg::CloseProblems);
        close_problems.connect_clicked(move |_| told(()));

        let buttons = || gtk::Box::builder().spacing(6).valign(gtk::Align::Center).build();
        let of_project = buttons();
        of_project.append(&review);
        of_project.append(&close_project);
        let of_problems = buttons();
        of_problems.append(&show_problems);
        of_problems.append(&close_problems);
        let project = NoticeLine::new("dialog-question-symbolic", &of_project);
        let problems = NoticeLine::new("dialog-warning-symbolic", &of_problems);
        let root = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .spacing(6)
            .visible(false)
            .build();
        root.append(&project.root);
        root.append(&problems.root);
        Self {
            handle,
            manager: None,
            root,
            project,
            problems,
            show_problems,
            definitions: Arc::default(),
            refused: Vec::new(),
            closed: Vec::new(),
        }
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
    }

    /// Shows what there is to say of these. Whether what had the keyboard is gone.
    pub(super) fn show(&mut self, definitions: Arc<Definitions>) -> bool {
        self.definitions = definitions;
        // Who trusted it after all is asked again once they stop.
        if let Some(project) = self.definitions.project.as_ref().filter(|it| it.is_trusted()) {
            self.refused.retain(|refused| refused.digest != project.digest);
        }
        self.refresh()
    }

    /// Takes what the user did. Whether the keyboard belongs to the message now.
    pub(super) fn update(&mut self, msg: Msg) -> bool {
        match msg {
            Msg::Review => {
                self.review();
                return false;
            }
            Msg::Trust(project) => {
                if let Some(manager) = self.manager.clone() {
                    self.handle
                        .run(None, async move { manager.definitions().trust(&project).await });
                }
                return false;
            }
            Msg::ShowProblems => {
                self.list_problems();
                return false;
            }
            Msg::Refuse(refusal) => self.refused.push(refusal),
            Msg::CloseProject => {
                self.refused.extend(self.asked().map(|project| Refusal::of(&project)));
            }
            Msg::CloseProblems => self.closed.clone_from(&self.definitions.problems),
        }
        self.refresh()
    }

    /// What the user is asked about.
    fn asked(&self) -> Option<Arc<ProjectDefinitions>> {
        let project = self.definitions.project.as_ref();
        let is_asked = |it: &&Arc<_>| is_asked(it, &self.refused);
        project.filter(is_asked).cloned()
    }

    fn refresh(&self) -> bool {
        let project = self.asked().map(|project| words::project_notice(&project));
        let problems = if self.closed == self.definitions.problems {
            None
        } else {
            problem_words(&self.definitions.problems)
        };
        let mut is_lost = self.project.show(project.as_deref());
        let is_several = words::problems_to_show(&self.definitions.problems).len() > 1;
        is_lost |= !is_several && has_keyboard(&self.show_problems);
        self.show_problems.set_visible(is_several);
        is_lost |= self.problems.show(problems.as_deref());
        self.root.set_visible(project.is_some() || problems.is_some());
        is_lost
    }

    /// Lists all problems, each with its file and line.
    fn list_problems(&self) {
        let list = items::problem_list(&self.definitions.problems);
        self.show_list(&gettext("Problems in Files"), None, &list);
    }

    fn show_list(&self, heading: &str, body: Option<&str>, list: &gtk::Box) {
        let above = self.root.root().and_downcast::<gtk::Window>();
        let dialog = adw::MessageDialog::new(above.as_ref(), Some(heading), body);
        dialog.set_extra_child(Some(list));
        dialog.add_response("close", &gettext("_Close"));
        dialog.set_default_response(Some("close"));
        dialog.set_close_response("close");
        dialog.present();
    }

    /// Asks whether to use what the project has, also if the user did not want to. Shows what is trusted if there is
    /// nothing to ask.
    pub(super) fn review(&self) {
        let project = self.definitions.project.as_ref().filter(|it| !it.items.is_empty());
        match project {
            Some(project) if project.is_trusted() => self.show_trusted(project),
            Some(project) => self.ask(Arc::clone(project)),
            None => {
                let words = gettext("This project has no agents, commands, or skills of its own.");
                self.handle.output(Output::Note(words));
            }
        }
    }

    fn show_trusted(&self, project: &ProjectDefinitions) {
        let heading = gettext("You Trust This Project");
        let body = gettext("To stop trusting it, open Permissions in Preferences.");
        let list = items::list(project.items.iter(), &self.definitions.problems);
        self.show_list(&heading, Some(&body), &list);
    }

    /// Asks whether to use what a project has.
    fn ask(&self, project: Arc<ProjectDefinitions>) {
        let above = self.root.root().and_downcast::<gtk::Window>();
        let heading = gettext("Trust This Project?");
        let body = words::trust_explanation();
        let dialog = adw::MessageDialog::new(above.as_ref(), Some(&heading), Some(&body));
        dialog.set_extra_child(Some(&items::list(project.untrusted(), &self.definitions.problems)));
        dialog.add_response("refuse", &gettext("_Don’t Use"));
        dialog.add_response("use", &gettext("_Use Them"));
        dialog.set_default_response(Some("refuse"));
        dialog.set_close_response("close");
        let handle = self.handle.clone();
        dialog.connect_response(None, move |_, response| match response {
            "use" => handle.send(Msg::Trust(Arc::clone(&project))),
            "refuse" => handle.send(Msg::Refuse(Refusal::of(&project))),
            _ => {}
        });
        dialog.present();
    }
}

/// Whether the user is to be asked about a project.
fn is_asked(project: &ProjectDefinitions, refused: &[Refusal]) -> bool {
    !project.is_trusted() && !refused.contains(&Refusal::of(project))
}

/// The first problem, and how many more there are. Errors come before warnings.
fn problem_words(problems: &[Problem]) -> Option<String> {
    let shown = words::problems_to_show(problems);
    let (first, more) = shown.split_first()?;
    let first = words::definition_problem(first);
    let more = u32::try_from(more.len()).unwrap_or(u32::MAX);
    if more == 0 {
        return Some(first);
    }
    let text = ngettext(
        "{problem} And {count} more problem.",
        "{problem} And {count} more problems.",
        more,
    );
    Some(fill(&text, &[("problem", &first), ("count", &more.to_string())]))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use chat_core::definitions::{Sources, TrustStore, load};
    use chat_core::permission::path::{PathEnvironment, Project};

    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn definitions(folder: &Path) -> Definitions {
        let project = Project::open(folder, &PathEnvironment::default()).expect("a project");
        load(&Sources { project: Some(project), ..Sources::default() })
    }

    #[test]
    fn a_refused_project_is_asked_about_again_once_it_has_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(!definitions(folder.path()).project.is_some_and(|it| is_asked(&it, &[])));
        write(folder.path(), ".natter/agents/a.md", "Help.");
        let before = definitions(folder.path()).project.expect("a project");
        assert!(is_asked(&before, &[]));
        assert!(!is_asked(&before, &[Refusal::of(&before)]));
        write(folder.path(), ".natter/agents/b.md", "Help more.");
        let after = definitions(folder.path()).project.expect("a project");
        assert!(is_asked(&after, &[Refusal::of(&before)]));
    }

    #[test]
    fn a_refused_change_is_asked_about_again_once_the_project_is_not_trusted_any_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("project");
        let store = TrustStore::new(folder.path().join("trust.json"));
        let found = || {
            let project = Project::open(&root, &PathEnvironment::default()).expect("a project");
            let trust = Some(store.clone());
            let sources = Sources { project: Some(project), trust, ..Sources::default() };
            load(&sources).project.expect("definitions")
        };
        write(&root, ".natter/agents/a.md", "Help.");
        write(&root, ".natter/agents/b.md", "Help.");
        store.trust(&found()).expect("trusted");
        write(&root, ".natter/agents/b.md", "Help more.");
        let refused = [Refusal::of(&found())];
        assert!(!is_asked(&found(), &refused));
        store.forget(&found().root).expect("forgotten");
        assert!(is_asked(&found(), &refused));
    }

    #[test]
    fn a_warning_is_shown_and_a_note_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let skill = "---\nname: s\ndescription: y\nhooks: x\n---\nz";
        write(folder.path(), ".agents/skills/s/SKILL.md", skill);
        assert_eq!(problem_words(&definitions(folder.path()).problems), None);
        write(folder.path(), ".natter/agents/a.md", "---\nhooks: x\n---\nz");
        let words = problem_words(&definitions(folder.path()).problems).expect("words");
        assert!(words.ends_with("a.md, line 2: “hooks” is unknown and ignored."), "{words}");
    }

    #[test]
    fn the_first_error_stands_for_all() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(problem_words(&definitions(folder.path()).problems), None);
        for name in ["a", "b", "c"] {
            let path = format!(".natter/agents/{name}.md");
            write(folder.path(), &path, "---\nmode: maybe\nunknown: 1\n---\nx");
        }
        let words = problem_words(&definitions(folder.path()).problems).expect("words");
        assert!(words.contains("a.md, line 2: “maybe” isn’t a valid value"), "{words}");
        assert!(words.ends_with("And 5 more problems."), "{words}");
    }
}
