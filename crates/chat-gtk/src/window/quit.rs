//! Closes the window: asks first while a reply or a command is running, and waits until everything
//! is on disk.

use adw::prelude::*;
use gettextrs::{gettext, ngettext};
use gtk::gio::ApplicationHoldGuard;
use relm4::{ComponentController, ComponentSender};

use super::{Command, Input, Window};
use crate::chat_widget;

/// The state of ending the program.
#[derive(Debug, Default)]
pub(crate) enum Quitting {
    #[default]
    No,
    /// The user is being asked.
    Asked,
    /// The window is hidden until the replies are finished.
    InBackground { _hold: ApplicationHoldGuard },
    /// Everything is being stored.
    Ending,
}

/// The user's answer while replies are being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Stay,
    Background,
    Stop,
}

impl Quitting {
    /// The user wants to see the window again. Returns whether that is possible, which it is until
    /// everything is being stored.
    pub(super) fn come_back(&mut self) -> bool {
        if matches!(self, Self::InBackground { .. }) {
            *self = Self::No;
        }
        !matches!(self, Self::Ending)
    }
}

impl Window {
    pub(super) fn close(&mut self, sender: &ComponentSender<Self>, root: &adw::ApplicationWindow) {
        if !matches!(self.quitting, Quitting::No) {
            return;
        }
        let commands = self.manager.as_ref().map_or(0, |manager| manager.commands().count());
        let dialog = match (self.busy(), commands) {
            (0, 0) => return self.end(sender, root),
            (0, commands) => about_commands(commands),
            (busy, commands) => about_replies(busy, commands),
        };
        self.quitting = Quitting::Asked;
        ask(&dialog, sender, root);
    }

    fn busy(&self) -> usize {
        self.manager.as_ref().map_or(0, |manager| manager.sessions().busy().len())
    }

    pub(super) fn answer(
        &mut self,
        answer: Answer,
        sender: &ComponentSender<Self>,
        root: &adw::ApplicationWindow,
    ) {
        self.quitting = Quitting::No;
        match answer {
            Answer::Stay => {}
            Answer::Background => {
                self.quitting = Quitting::InBackground { _hold: self.app.hold() };
                root.set_visible(false);
                self.end_if_done(sender, root);
            }
            Answer::Stop => self.end(sender, root),
        }
    }

    /// In the background, the last reply ends the program.
    pub(super) fn end_if_done(
        &mut self,
        sender: &ComponentSender<Self>,
        root: &adw::ApplicationWindow,
    ) {
        if matches!(self.quitting, Quitting::InBackground { .. }) && self.busy() == 0 {
            self.end(sender, root);
        }
    }

    /// Writes the window's state off the main thread.
    pub(super) fn write_state(&self) {
        self.state_writer.put(&self.state);
        let (writer, folder) = (self.state_writer.clone(), self.launch.state_folder.clone());
        relm4::spawn_blocking(move || {
            if let Err(error) = writer.write(&folder) {
                tracing::warn!(%error, "the window state could not be written");
            }
        });
    }

    /// Stops all work, stores everything, and then ends.
    pub(super) fn end(&mut self, sender: &ComponentSender<Self>, root: &adw::ApplicationWindow) {
        if matches!(self.quitting, Quitting::Ending) {
            return;
        }
        self.quitting = Quitting::Ending;
        self.notifications.withdraw_all();
        self.state.read_from(root);
        root.set_visible(false);
        let (saved, drafts) = tokio::sync::oneshot::channel();
        self.chat.emit(chat_widget::Input::SaveDrafts(saved));
        let manager = self.manager.clone();
        self.state_writer.put(&self.state);
        let state = self.state_writer.clone();
        let folder = self.launch.state_folder.clone();
        let editor = self.panel.editor().state();
        sender.oneshot_command(async move {
            // If the chat widget is gone, its drafts were already written.
            let _ = drafts.await;
            let written = tokio::task::spawn_blocking(move || {
                editor.write();
                state.write(&folder)
            })
            .await;
            if let Ok(Err(error)) = written {
                tracing::warn!(%error, "the window state could not be written");
            }
            if let Some(manager) = manager {
                manager.shutdown().await;
            }
            Command::Ended
        });
    }
}

/// Asks about commands that no reply waits for, since they end with the program.
fn about_commands(commands: usize) -> adw::MessageDialog {
    let count = u32::try_from(commands).unwrap_or(u32::MAX);
    let heading = ngettext(
        "A command is still running in the background",
        "Several commands are still running in the background",
        count,
    );
    let body = ngettext("It stops when you quit Natter.", "They stop when you quit Natter.", count);
    let dialog = adw::MessageDialog::builder().heading(&heading).body(&body).build();
    dialog.add_response("stay", &gettext("_Cancel"));
    dialog.add_response("stop", &gettext("S_top and Quit"));
    dialog.set_default_response(Some("stay"));
    dialog
}

fn about_replies(busy: usize, commands: usize) -> adw::MessageDialog {
    let count = u32::try_from(busy).unwrap_or(u32::MAX);
    let heading = ngettext(
        "A reply is still being written",
        "Several replies are still being written",
        count,
    );
    let body = ngettext(
        "If you continue in the background, Natter quits once the reply is finished. Everything received so far is kept either way.",
        "If you continue in the background, Natter quits once the replies are finished. Everything received so far is kept either way.",
        count,
    );
    let commands = u32::try_from(commands).unwrap_or(u32::MAX);
    let commands = (commands > 0).then(|| {
        ngettext(
            "The command running in the background stops when Natter quits.",
            "The commands running in the background stop when Natter quits.",
            commands,
        )
    });
    let body = [Some(body), commands].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let dialog = adw::MessageDialog::builder().heading(&heading).body(&body).build();
    dialog.add_response("stay", &gettext("_Cancel"));
    dialog.add_response("stop", &gettext("S_top and Quit"));
    dialog.add_response("background", &gettext("Continue in _Background"));
    dialog.set_response_appearance("background", adw::ResponseAppearance::Suggested);
    dialog.set_default_response(Some("background"));
    dialog
}

fn ask(
    dialog: &adw::MessageDialog,
    sender: &ComponentSender<Window>,
    root: &adw::ApplicationWindow,
) {
    dialog.set_transient_for(Some(root));
    dialog.set_modal(true);
    dialog.set_close_response("stay");
    dialog.set_response_appearance("stop", adw::ResponseAppearance::Destructive);
    let input = sender.input_sender().clone();
    dialog.connect_response(None, move |_, response| {
        input.emit(Input::Answer(match response {
            "background" => Answer::Background,
            "stop" => Answer::Stop,
            _ => Answer::Stay,
        }));
    });
    dialog.present();
}
