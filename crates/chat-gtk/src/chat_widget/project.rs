//! The folder that a chat works in, and what its tools may do there without asking.

use std::path::{Path, PathBuf};

use chat_core::agent::CODE_ASSISTANT;
use chat_core::manager::SessionChange;
use chat_core::message::Fid;
use chat_core::permission::Mode;
use chat_edge::words;
use gettextrs::gettext;
use relm4::ComponentSender;
use relm4::gtk::prelude::*;

use super::shown::Shown;
use super::view::{View, tells};
use super::{ChatWidget, Done, Output, Told, done, tell};
use crate::projects::{self, Recent};
use crate::unattended;

impl ChatWidget {
    /// Reads which folders were worked in last.
    pub(super) fn read_projects(&self, sender: &ComponentSender<Self>) {
        if let Some(folder) = self.project_folder.clone() {
            sender.spawn_oneshot_command(move || done(Done::Projects(Recent::read(&folder))));
        }
    }

    pub(super) fn projects_came(&mut self, kept: Recent, view: &View) {
        self.projects.absorb(kept);
        view.project.set_recent(self.projects.folders());
    }

    /// Works in this folder from now on, once it is known where it really is; or in none.
    pub(super) fn choose_project(
        &mut self,
        folder: Option<PathBuf>,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        let Some(folder) = folder else {
            self.set_project(None, view, sender);
            view.composer.focus();
            return;
        };
        // Before the engine is there another chat may have been asked for than the one in sight.
        let fid = match (&self.manager, &self.wanted) {
            (None, Some(wanted)) => Some(wanted.clone()),
            _ => self.shown.fid().cloned(),
        };
        // What is sent meanwhile waits: it is meant for this folder.
        self.finding += 1;
        sender.spawn_oneshot_command(move || {
            done(Done::Project { fid, result: projects::find(&folder) })
        });
    }

    pub(super) fn project_found(
        &mut self,
        fid: Option<Fid>,
        result: Result<PathBuf, String>,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        self.finding -= 1;
        match result {
            Ok(folder) => {
                self.remember_project(&folder, view, sender);
                let is_there = self.shown.fid() == fid.as_ref() && !self.shown.is_opening();
                match fid {
                    _ if is_there => self.set_project(Some(folder), view, sender),
                    Some(fid) => self.wanted_project = Some((fid, folder)),
                    // The new chat that it was for is not shown any more.
                    None => {}
                }
                view.composer.focus();
            }
            Err(words) => tell(sender, Output::Note(words)),
        }
        self.send_next(sender);
    }

    /// Tells which folder the shown chat works in.
    pub(super) fn tell_project(&mut self, view: &View, sender: &ComponentSender<Self>) {
        if self.shown.is_opening() {
            return;
        }
        let project = self.shown.project().map(Path::to_owned);
        if project != self.told_project {
            self.told_project.clone_from(&project);
            tell(sender, Output::Project(project));
        }
        self.show_along(view);
    }

    /// A chat is there for which a folder was chosen before it was.
    pub(super) fn take_wanted_project(&mut self, view: &View, sender: &ComponentSender<Self>) {
        if let Some((fid, folder)) = self.wanted_project.take()
            && self.shown.fid() == Some(&fid)
        {
            self.set_project(Some(folder), view, sender);
        }
    }

    fn set_project(
        &mut self,
        project: Option<PathBuf>,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        match &mut self.shown {
            Shown::New(session) => session.project.clone_from(&project),
            Shown::Open(session) => session.project.clone_from(&project),
            Shown::Opening(_) => return,
        }
        if let Some(folder) = &project {
            self.offer_panel(sender);
            self.find_agent_of(folder.clone(), sender);
        } else if let (Shown::New(session), Some(manager)) = (&mut self.shown, &self.manager)
            && session.agent == CODE_ASSISTANT
        {
            // There is no code to work on any more.
            session.agent = manager.sessions().empty().agent;
        }
        self.change(SessionChange { project: Some(project), ..SessionChange::default() }, sender);
        self.show_state(view, sender);
    }

    /// Finds out who works in a folder that a new chat was given, where nobody was chosen for it.
    pub(super) fn find_agent_of(&mut self, folder: PathBuf, sender: &ComponentSender<Self>) {
        let (Some(manager), Shown::New(session)) = (self.manager.clone(), &self.shown) else {
            return;
        };
        if session.agent != manager.sessions().empty().agent {
            return;
        }
        // What is sent meanwhile waits.
        self.finding += 1;
        let epoch = self.epoch;
        sender.oneshot_command(async move {
            let agent = manager.sessions().agent_for(&folder).await;
            done(Done::AgentOfProject { epoch, folder, agent })
        });
    }

    /// It is known who works there.
    pub(super) fn agent_of_project_came(
        &mut self,
        epoch: u64,
        folder: &Path,
        agent: String,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        self.finding -= 1;
        let is_there = epoch == self.epoch && self.shown.project() == Some(folder);
        if is_there && matches!(self.shown, Shown::New(_)) && self.shown.agent() != agent {
            self.set_agent(agent, sender);
            self.show_state(view, sender);
        }
        self.send_next(sender);
    }

    fn remember_project(&mut self, folder: &Path, view: &View, sender: &ComponentSender<Self>) {
        if !self.projects.add(folder) {
            return;
        }
        view.project.set_recent(self.projects.folders());
        let (Some(folder), recent) = (self.project_folder.clone(), self.projects.clone()) else {
            return;
        };
        sender.spawn_oneshot_command(move || {
            if let Err(error) = recent.write(&folder) {
                tracing::warn!(%error, "the recent folders could not be written");
            }
            done(Done::Nothing)
        });
    }

    /// Has the chat work in this mode. That nobody is to be asked is confirmed once for each chat.
    pub(super) fn choose_mode(
        &mut self,
        mode: Mode,
        view: &View,
        root: &gtk::Box,
        sender: &ComponentSender<Self>,
    ) {
        let (chats, shown) = &self.unattended;
        let is_known =
            shown.contains(&self.epoch) || self.shown.fid().is_some_and(|fid| chats.contains(fid));
        if mode != Mode::Unattended || self.shown.mode() == mode || is_known {
            self.set_mode(mode, sender);
            return view.composer.focus();
        }
        view.modes.show(&self.shown.mode());
        // Where the keyboard is once the dialog has closed.
        view.composer.focus();
        let told = tells(sender, Told::Unattended);
        let epoch = self.epoch;
        let window = root.root().and_downcast::<gtk::Window>();
        unattended::confirm(window.as_ref(), move || told(epoch));
    }

    /// The person meant it, for the chat that was shown then.
    pub(super) fn go_unattended(
        &mut self,
        epoch: u64,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        if epoch != self.epoch {
            return;
        }
        self.unattended.1.insert(epoch);
        self.unattended.0.extend(self.shown.fid().cloned());
        self.set_mode(Mode::Unattended, sender);
        view.modes.show(&self.shown.mode());
    }

    pub(super) fn set_mode(&mut self, mode: Mode, sender: &ComponentSender<Self>) {
        match &mut self.shown {
            Shown::New(session) => session.mode = mode,
            Shown::Open(session) => session.mode = mode,
            Shown::Opening(_) => return,
        }
        self.change(SessionChange { mode: Some(mode), ..SessionChange::default() }, sender);
    }

    /// A new chat in sight follows the settings, as long as nothing else was chosen for it.
    pub(super) fn take_default_mode(&mut self) {
        let Some(settings) = self.settings() else { return };
        let before = std::mem::replace(&mut self.default_mode, settings.permissions.mode);
        if let Shown::New(session) = &mut self.shown
            && session.mode == before
        {
            session.mode = self.default_mode;
        }
    }

    /// Finds out once what keeps commands in bounds, as soon as some can run.
    pub(super) fn learn_bounds(&self, view: &View, sender: &ComponentSender<Self>) {
        let Some(manager) = self.manager.clone() else { return };
        if self.shown.project().is_none() || view.asked_bounds.replace(true) {
            return;
        }
        sender.oneshot_command(async move {
            let bounds = manager.commands().bounds().await.ok().flatten();
            done(Done::Bounds(bounds.as_ref().and_then(words::why_not_full)))
        });
    }

    /// Shows where is worked, how, and whether the model can do that at all.
    pub(super) fn show_project(&self, view: &View) {
        if self.shown.is_opening() {
            return;
        }
        let project = self.shown.project();
        view.project.show(project);
        view.modes.widget().set_visible(project.is_some());
        view.modes.show(&self.shown.mode());
        let searches = self.settings().is_some_and(|settings| settings.tools.search.is_some());
        let lacks =
            (project.is_some() || searches) && self.known_capabilities().tools == Some(false);
        view.composer.set_note(lacks.then(|| gettext("This model can’t use tools")).as_deref());
    }
}
