//! Closes the window: asks first while a reply or a command is running, and waits until everything
//! is on disk.

use std::collections::HashSet;

use adw::prelude::*;
use chat_presentation::words;
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

/// The user's answer while chats are at work.
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
        let (writing, asking) = self.at_work();
        let dialog = match (writing, asking, commands) {
            (0, 0, 0) => return self.end(sender, root),
            (0, 0, commands) => about_commands(commands),
            (0, asking, commands) => about_questions(asking, commands),
            (writing, asking, commands) => about_replies(writing, asking, commands),
        };
        self.quitting = Quitting::Asked;
        ask(&dialog, sender, root);
    }

    fn busy(&self) -> usize {
        self.manager.as_ref().map_or(0, |manager| manager.sessions().busy().len())
    }

    /// How many chats write a reply, and how many wait for the user's answer instead.
    fn at_work(&self) -> (usize, usize) {
        let Some(manager) = &self.manager else { return (0, 0) };
        let busy = manager.sessions().busy();
        let asking: HashSet<_> =
            manager.permissions().pending().into_iter().map(|pending| pending.fid).collect();
        let waiting = busy.iter().filter(|fid| asking.contains(*fid)).count();
        (busy.len() - waiting, waiting)
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
        for (fid, text) in self.waiting.take_typed() {
            self.chat.emit(chat_widget::Input::GiveBack(fid, text));
        }
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
    let dialog = stay_or_stop(&heading, [Some(body)]);
    dialog.set_default_response(Some("stay"));
    dialog
}

/// Asks about chats that cannot go on without the user.
fn about_questions(asking: usize, commands: usize) -> adw::MessageDialog {
    let count = u32::try_from(asking).unwrap_or(u32::MAX);
    let heading = ngettext(
        "A chat is waiting for your answer",
        "{n} chats are waiting for your answer",
        count,
    );
    let heading = words::fill(&heading, &[("n", &asking.to_string())]);
    let body = gettext(
        "If you continue in the background, open Natter again to answer. Everything received so far is kept either way.",
    );
    let body = [Some(body), ending_commands(commands)];
    let dialog = stay_or_stop(&heading, body);
    dialog.add_response("background", &gettext("Continue in _Background"));
    dialog.set_default_response(Some("background"));
    dialog
}

fn about_replies(writing: usize, asking: usize, commands: usize) -> adw::MessageDialog {
    let count = u32::try_from(writing).unwrap_or(u32::MAX);
    let heading = ngettext(
        "A reply is still being written",
        "Several replies are still being written",
        count,
    );
    let body = if asking == 0 {
        ngettext(
            "If you continue in the background, Natter quits once the reply is finished. Everything received so far is kept either way.",
            "If you continue in the background, Natter quits once the replies are finished. Everything received so far is kept either way.",
            count,
        )
    } else {
        gettext(
            "If you continue in the background, Natter quits once all replies are finished and you have answered. Everything received so far is kept either way.",
        )
    };
    let asking = (asking > 0).then(|| {
        let count = u32::try_from(asking).unwrap_or(u32::MAX);
        let text = ngettext(
            "{n} other chat is waiting for your answer.",
            "{n} other chats are waiting for your answer.",
            count,
        );
        words::fill(&text, &[("n", &asking.to_string())])
    });
    let body = [Some(body), asking, ending_commands(commands)];
    let dialog = stay_or_stop(&heading, body);
    dialog.add_response("background", &gettext("Continue in _Background"));
    dialog.set_response_appearance("background", adw::ResponseAppearance::Suggested);
    dialog.set_default_response(Some("background"));
    dialog
}

/// A dialog with these sentences, and two of its answers.
fn stay_or_stop(
    heading: &str,
    body: impl IntoIterator<Item = Option<String>>,
) -> adw::MessageDialog {
    let body = body.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let dialog = adw::MessageDialog::builder().heading(heading).body(&body).build();
    dialog.add_response("stay", &gettext("_Cancel"));
    dialog.add_response("stop", &gettext("S_top and Quit"));
    dialog
}

/// That commands which no reply waits for end with the program; nothing if there are none.
fn ending_commands(commands: usize) -> Option<String> {
    let commands = u32::try_from(commands).unwrap_or(u32::MAX);
    (commands > 0).then(|| {
        ngettext(
            "The command running in the background stops when Natter quits.",
            "The commands running in the background stop when Natter quits.",
            commands,
        )
    })
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
