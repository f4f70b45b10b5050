//! Remembers for each chat whether the panel is shown.

use std::collections::HashMap;

use chat_core::message::Fid;

use super::state::WindowState;

/// Whether the panel is shown in each chat. Where nobody has chosen, a chat with a folder is like
/// the last one that had a folder, and a chat without a folder has no panel.
#[derive(Debug)]
pub(super) struct PanelMemory {
    /// The chats that were shown before.
    chats: HashMap<Fid, bool>,
    /// Whether the panel was shown in the last chat with a folder.
    with_folder: bool,
    /// Whether the current chat has a folder.
    has_folder: bool,
}

impl PanelMemory {
    /// Nothing but what is remembered from the last run.
    pub(super) fn new(state: &WindowState) -> Self {
        Self {
            chats: state
                .last_session
                .iter()
                .map(|chat| (chat.clone(), state.panel_shown))
                .collect(),
            with_folder: state.panel_with_folder.unwrap_or(state.panel_shown),
            has_folder: false,
        }
    }

    /// Another chat is shown than this one, in which the panel was `shown` to the end.
    pub(super) fn leave(&mut self, chat: Option<&Fid>, shown: bool) {
        if self.has_folder {
            self.with_folder = shown;
        }
        if let Some(chat) = chat {
            self.chats.insert(chat.clone(), shown);
        }
    }

    /// Returns whether the panel is to be shown in this chat; none is a new one.
    pub(super) fn enter(&mut self, chat: Option<&Fid>, has_folder: bool) -> bool {
        self.has_folder = has_folder;
        let before = chat.and_then(|chat| self.chats.get(chat).copied());
        before.unwrap_or(has_folder && self.with_folder)
    }

    /// The new chat that is shown has been stored as this one.
    pub(super) fn store(&mut self, chat: Fid, shown: bool) {
        self.chats.insert(chat, shown);
    }

    /// The current chat has a folder now, or has none any more. Returns whether the panel is to be
    /// shown; none if it stays as it is.
    pub(super) fn change_folder(&mut self, has_folder: bool) -> Option<bool> {
        let changed = std::mem::replace(&mut self.has_folder, has_folder) != has_folder;
        changed.then_some(has_folder && self.with_folder)
    }

    /// Stores what is remembered, with the panel `shown` in the current chat.
    pub(super) fn remember(&self, state: &mut WindowState, shown: bool) {
        state.panel_with_folder = Some(if self.has_folder { shown } else { self.with_folder });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_chat_has_the_panel_as_it_was_left_there() {
        let [code, talk, more] = ["code", "talk", "more"].map(Fid::new);
        let state = WindowState {
            last_session: Some(code.clone()),
            panel_shown: true,
            ..WindowState::default()
        };
        let mut memory = PanelMemory::new(&state);
        assert!(memory.enter(Some(&code), true));
        memory.leave(Some(&code), true);
        assert!(!memory.enter(Some(&talk), false), "there are no files");
        // Opened there by hand.
        memory.leave(Some(&talk), true);
        assert!(memory.enter(Some(&more), true), "as in the last one with a folder");
        memory.leave(Some(&more), false);
        assert!(memory.enter(Some(&talk), false) && memory.enter(Some(&code), true));
        let mut state = WindowState::default();
        memory.enter(Some(&talk), false);
        memory.remember(&mut state, true);
        assert_eq!(state.panel_with_folder, Some(false));
    }

    #[test]
    fn a_folder_that_is_taken_away_takes_the_panel_along() {
        let mut memory = PanelMemory::new(&WindowState::default());
        assert!(!memory.enter(None, true));
        // Opened by hand.
        memory.leave(None, true);
        assert!(memory.enter(None, true));
        assert_eq!(memory.change_folder(true), None);
        assert_eq!(memory.change_folder(false), Some(false));
        assert_eq!(memory.change_folder(true), Some(true));
        let chat = Fid::new("chat");
        memory.store(chat.clone(), true);
        assert!(memory.enter(Some(&chat), false));
    }
}
