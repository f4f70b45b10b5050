//! Shows the folder that a chat works in, and what its tools may do there without asking.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use chat_core::manager::Manager;
use chat_core::message::Fid;
use chat_core::permission::Mode;
use chat_core::worktree::Worktree;
use chat_presentation::words;
use relm4::gtk::prelude::*;

use super::handle::Handle;
use super::messages;
use super::shown_chat::ShownChat;
use crate::choices::{self, Choices};
use crate::project_picker::ProjectPicker;
use crate::projects::{self, Recent};
use crate::unattended;

/// What the person does with folder and mode, and what the work about them brings.
#[derive(Debug)]
pub(super) enum Msg {
    /// The folder to work in.
    Chosen(Option<PathBuf>),
    Mode(Mode),
    /// The person confirmed that nobody is to be asked, of what was shown at this time.
    Unattended(u64),
    /// The folders that were worked in before.
    Recent(Recent),
    /// Where a folder is that a chat is to work in, or why it cannot.
    Found {
        fid: Option<Fid>,
        result: Result<PathBuf, String>,
    },
    /// Who works in this folder, for the new chat that was shown at this time.
    Agent {
        epoch: u64,
        folder: PathBuf,
        agent: String,
    },
    /// Why commands are not held as well as they could be; none where they are.
    Bounds(Option<String>),
    /// The worktree that this folder is in, if it is in one.
    Worktree(PathBuf, Option<Worktree>),
}

/// What folder and mode want of others.
#[derive(Debug)]
pub(super) enum Output {
    /// This folder was chosen.
    Chosen(Option<PathBuf>),
    /// The shown chat works in this folder from now on.
    Work(PathBuf),
    /// The shown chat works in this mode from now on.
    Mode(Mode),
    /// This agent works in the folder of the new chat.
    Agent(String),
    /// Why commands are not held as well as they could be.
    Bounds(Option<String>),
    /// The keyboard is to go back to the message.
    KeyboardLost,
}

/// Folder and mode of the shown chat.
pub(super) struct ProjectBar {
    handle: Handle<Msg>,
    manager: Option<Manager>,
    picker: ProjectPicker,
    modes: Choices<Mode>,
    /// The folders that were worked in last, and where they are kept.
    recent: Recent,
    kept_in: Option<PathBuf>,
    /// How many folders are being looked for.
    finding: usize,
    /// A folder that was chosen for a chat that is not there yet.
    wanted: Option<(Fid, PathBuf)>,
    /// The chats that may work unattended, as the person said: stored ones, and what was shown at some time.
    unattended: (HashSet<Fid>, HashSet<u64>),
    /// The project that was told last.
    told: Option<PathBuf>,
    /// Whether it was asked what keeps commands in bounds.
    asked_bounds: bool,
}

impl ProjectBar {
    /// No folder. `kept_in` is where is kept which folders were worked in last.
    pub(super) fn new(kept_in: Option<PathBuf>, handle: Handle<Msg>) -> Self {
        if let Some(folder) = kept_in.clone() {
            handle.spawn_blocking(move || Msg::Recent(Recent::read(&folder)));
        }
        Self {
            picker: ProjectPicker::new(handle.callback(Msg::Chosen)),
            modes: choices::modes(handle.callback(Msg::Mode)),
            handle,
            manager: None,
            recent: Recent::default(),
            kept_in,
            finding: 0,
            wanted: None,
            unattended: (HashSet::new(), HashSet::new()),
            told: None,
            asked_bounds: false,
        }
    }

    pub(super) fn widget(&self) -> &gtk::MenuButton {
        self.picker.widget()
    }

    pub(super) fn modes_widget(&self) -> &gtk::DropDown {
        self.modes.widget()
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
        self.enter();
    }

    /// Opens the list of folders.
    pub(super) fn open(&self) {
        self.picker.open();
    }

    /// Opens the list of modes.
    pub(super) fn open_modes(&self) {
        self.modes.open();
    }

    /// Shows where the chat works, and how; tells who listens.
    pub(super) fn show(&mut self, shown: &ShownChat) {
        if shown.is_opening() {
            return;
        }
        let project = shown.project();
        self.picker.show(project);
        self.modes.widget().set_visible(project.is_some());
        self.modes.show(&shown.mode());
        if project.is_some() {
            self.learn_bounds();
        }
        if self.told.as_deref() != project {
            self.told = project.map(Path::to_owned);
            self.handle.output(messages::Output::Project(self.told.clone()));
            self.enter();
        }
    }

    /// Removes what killed commands left in the folder: of a new chat the engine knows nothing yet.
    /// Finds out whether the folder is in a worktree.
    fn enter(&self) {
        let (Some(manager), Some(folder)) = (self.manager.clone(), self.told.clone()) else {
            return;
        };
        manager.sessions().clear_left_overs(&folder);
        self.handle.spawn(async move {
            let worktree = manager.worktrees().containing(&folder).await.ok().flatten();
            Msg::Worktree(folder, worktree)
        });
    }

    /// Finds out where this folder really is, for this chat.
    pub(super) fn find(&mut self, fid: Option<Fid>, folder: PathBuf) {
        self.finding += 1;
        self.handle.spawn_blocking(move || Msg::Found { fid, result: projects::find(&folder) });
    }

    /// Finds out who works in this folder, for the new chat that is shown.
    pub(super) fn find_agent(&mut self, epoch: u64, folder: PathBuf) {
        let Some(manager) = self.manager.clone() else { return };
        self.finding += 1;
        self.handle.spawn(async move {
            let agent = manager.sessions().agent_for(&folder).await;
            Msg::Agent { epoch, folder, agent }
        });
    }

    /// Whether a folder is being looked for, or who works there. What is sent meanwhile waits: it is meant
    /// for this folder.
    pub(super) fn is_finding(&self) -> bool {
        self.finding > 0
    }

    /// The folder that was chosen for this chat before it was there.
    pub(super) fn take_wanted(&mut self, fid: &Fid) -> Option<PathBuf> {
        self.wanted.take().filter(|(wanted, _)| wanted == fid).map(|(_, folder)| folder)
    }

    /// Takes a message while this is shown.
    pub(super) fn update(&mut self, msg: Msg, shown: &ShownChat, epoch: u64) -> Option<Output> {
        match msg {
            Msg::Chosen(folder) => Some(Output::Chosen(folder)),
            Msg::Mode(mode) => Some(self.mode_chosen(mode, shown, epoch)),
            // The person meant it, for the chat that was shown then.
            Msg::Unattended(of) => (of == epoch).then(|| {
                self.unattended.1.insert(epoch);
                self.unattended.0.extend(shown.fid().cloned());
                Output::Mode(Mode::Unattended)
            }),
            Msg::Recent(recent) => {
                self.recent.absorb(recent);
                self.picker.set_recent(self.recent.folders());
                None
            }
            Msg::Found { fid, result } => {
                self.finding -= 1;
                self.found(fid, result, shown)
            }
            Msg::Agent { epoch: of, folder, agent } => {
                self.finding -= 1;
                let is_there = of == epoch && shown.project() == Some(&folder);
                (is_there && matches!(shown, ShownChat::New(_)) && shown.agent() != agent)
                    .then_some(Output::Agent(agent))
            }
            Msg::Bounds(words) => Some(Output::Bounds(words)),
            Msg::Worktree(folder, worktree) => {
                self.picker.show_worktree(&folder, worktree);
                None
            }
        }
    }

    fn found(
        &mut self,
        fid: Option<Fid>,
        result: Result<PathBuf, String>,
        shown: &ShownChat,
    ) -> Option<Output> {
        match result {
            Ok(folder) => {
                self.remember(&folder);
                if shown.fid() == fid.as_ref() && !shown.is_opening() {
                    return Some(Output::Work(folder));
                }
                // A new chat that it was for is not shown any more.
                if let Some(fid) = fid {
                    self.wanted = Some((fid, folder));
                }
                Some(Output::KeyboardLost)
            }
            Err(words) => {
                self.handle.output(messages::Output::Note(words));
                None
            }
        }
    }

    fn remember(&mut self, folder: &Path) {
        if !self.recent.add(folder) {
            return;
        }
        self.picker.set_recent(self.recent.folders());
        let (Some(folder), recent) = (self.kept_in.clone(), self.recent.clone()) else { return };
        self.handle.run_blocking(move || {
            if let Err(error) = recent.write(&folder) {
                tracing::warn!(%error, "the recent folders could not be written");
            }
        });
    }

    /// That nobody is to be asked is confirmed once for each chat.
    fn mode_chosen(&mut self, mode: Mode, shown: &ShownChat, epoch: u64) -> Output {
        let (chats, times) = &self.unattended;
        let is_known = times.contains(&epoch) || shown.fid().is_some_and(|fid| chats.contains(fid));
        if mode != Mode::Unattended || shown.mode() == mode || is_known {
            return Output::Mode(mode);
        }
        self.modes.show(&shown.mode());
        let told = self.handle.callback(Msg::Unattended);
        let window = self.widget().root().and_downcast::<gtk::Window>();
        unattended::confirm(window.as_ref(), move || told(epoch));
        // It is there once the dialog has closed.
        Output::KeyboardLost
    }

    /// Finds out once what keeps commands in bounds, as soon as some can run.
    fn learn_bounds(&mut self) {
        let Some(manager) = self.manager.clone() else { return };
        if std::mem::replace(&mut self.asked_bounds, true) {
            return;
        }
        self.handle.spawn(async move {
            let bounds = manager.commands().bounds().await.ok().flatten();
            Msg::Bounds(bounds.as_ref().and_then(words::why_not_full))
        });
    }
}
