//! Goes to what waits for the user in any chat, and answers it from the list.

use adw::prelude::*;
use chat_core::message::{ApprovalId, Fid};
use relm4::{ComponentController, ComponentSender};

use super::{Output, Waiting, next};
use crate::chat_widget;
use crate::window::view::View;
use crate::window::{Command, Window};

impl Window {
    /// Handles what the user does with the list.
    pub(in crate::window) fn hear_waiting(
        &mut self,
        output: Output,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        match output {
            Output::Answer { fid, ask, answer } => {
                let Some(manager) = self.manager.clone() else { return };
                sender.oneshot_command(async move {
                    let result = manager.permissions().answer(&fid, ask, answer).await;
                    Command::Answered { fid, ask, result }
                });
            }
            Output::Show(fid, ask) => self.go_to_ask(fid, ask, view),
            Output::GiveBack(fid, text) => {
                self.chat.emit(chat_widget::Input::GiveBack(fid, text));
            }
            Output::KeyboardLost => self.chat.emit(chat_widget::Input::FocusMessage),
            // Every message withdraws the notifications of what is in view.
            Output::Opened => {}
        }
    }

    /// Shows what waits by the titles and folders that its chats have now.
    pub(in crate::window) fn show_waiting(&self) {
        let list = self.list.model();
        self.waiting.show(|approval| {
            let fid = &approval.fid;
            Waiting::new(approval, list.session(fid).as_ref(), list.full_title(fid))
        });
    }

    /// Whether the user sees all that waits.
    pub(in crate::window) fn sees_waiting(&self, root: &adw::ApplicationWindow) -> bool {
        root.is_active() && self.waiting.is_open()
    }

    /// Ctrl+.: goes to the next of all that waits.
    pub(in crate::window) fn go_to_next_ask(&mut self, view: &View) {
        let focused = {
            let chat = self.chat.widgets();
            let conversation = chat.conversation();
            // While a chat is being opened, what is in it has no focus yet.
            let is_opening = conversation.session() != self.shown;
            if is_opening { self.sought } else { conversation.focused_ask() }
        };
        let asks = self.waiting.asks();
        if let Some(next) = next(&asks, self.shown.as_ref(), focused) {
            self.go_to_ask(next.fid.clone(), next.ask.id, view);
        } else {
            // It may be known in the chat already.
            view.forward();
            self.chat.emit(chat_widget::Input::FocusAsk(None));
        }
    }

    /// Shows something that waits in its chat, with the focus.
    fn go_to_ask(&mut self, fid: Fid, ask: ApprovalId, view: &View) {
        self.waiting.close();
        view.forward();
        self.sought = Some(ask);
        if self.shown.as_ref() == Some(&fid) {
            self.chat.emit(chat_widget::Input::FocusAsk(self.sought));
        } else {
            self.seeks_ask = true;
            self.chat.emit(chat_widget::Input::Show(Some(fid)));
        }
    }
}
