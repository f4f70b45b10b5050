//! Edits and stores what the user tells the model in this chat, in its project and everywhere.

use std::path::{Path, PathBuf};

use chat_core::manager::SessionChange;
use chat_core::message::Fid;
use chat_core::settings::Settings;
use relm4::gtk::prelude::*;

use super::ChatWidget;
use super::messages::FrameMsg;
use crate::instructions::{self, Instructions};

impl ChatWidget {
    /// Opens the dialog with the texts of this chat.
    pub(super) fn edit_instructions(&self) {
        let window = self.composer.field().widget().root().and_downcast::<gtk::Window>();
        let (Some(manager), Some(window)) = (&self.manager, window) else { return };
        let settings = manager.settings().current();
        let project = self.shown.project();
        let texts = Instructions {
            everywhere: settings.chat.instructions.clone(),
            project: project.map(|project| settings.project_instructions(project).to_owned()),
            chat: (!self.shown.is_opening())
                .then(|| self.shown.instructions().unwrap_or_default().to_owned()),
        };
        let (fid, handle) = (self.shown.fid().cloned(), self.handle.clone());
        let project = project.map(Path::to_owned);
        instructions::edit(&window, &texts, move |instructions| {
            let (fid, project) = (fid.clone(), project.clone());
            handle.send(FrameMsg::Instructions { fid, project, instructions });
        });
    }

    /// Stores the texts, for the chat and the project that they were edited in.
    pub(super) fn take_instructions(
        &mut self,
        fid: Option<Fid>,
        project: Option<PathBuf>,
        texts: Instructions,
    ) {
        let Some(manager) = self.manager.clone() else { return };
        let Instructions { everywhere, project: of_project, chat } = texts;
        if let Some(chat) = chat {
            let instructions = Some(Some(chat).filter(|text| !text.is_empty()));
            let change = SessionChange { instructions, ..SessionChange::default() };
            match fid {
                Some(fid) if self.shown.fid() != Some(&fid) => {
                    self.session_changes.change(fid, change);
                }
                _ => self.choose(change),
            }
        }
        self.handle.run(None, async move {
            let change = move |settings: &mut Settings| {
                settings.chat.instructions = everywhere;
                if let (Some(folder), Some(text)) = (project, of_project) {
                    settings.set_project_instructions(&folder, &text);
                }
            };
            manager.settings().change(change).await
        });
    }
}
