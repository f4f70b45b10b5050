//! Remembers the window's state from one run to the next.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use adw::prelude::*;
use chat_core::message::Fid;
use serde::{Deserialize, Serialize};

use crate::atomic_file::write_atomically;
use crate::drafts;

const FILE: &str = "window.json";
/// The panel's default width in earlier versions, which stored it even if the user had not chosen
/// it.
const FORMERLY_USUAL: i32 = 430;

/// Size, panes, and the last shown chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(super) struct WindowState {
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) maximized: bool,
    pub(super) list_hidden: bool,
    pub(super) last_session: Option<Fid>,
    pub(super) panel_shown: bool,
    /// Whether it was shown in the last chat with a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) panel_with_folder: Option<bool>,
    /// The panel's width, if the user has chosen one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) panel_width: Option<i32>,
    /// Whether old and new are shown side by side in a review.
    #[serde(rename = "review_beside")]
    pub(super) review_side_by_side: bool,
}

impl Default for WindowState {
    fn default() -> Self {
        Self {
            width: 1100,
            height: 760,
            maximized: false,
            list_hidden: false,
            last_session: None,
            panel_shown: false,
            panel_with_folder: None,
            panel_width: None,
            review_side_by_side: false,
        }
    }
}

impl WindowState {
    /// Reads the state; an unreadable one counts as the first start.
    pub(super) fn load(folder: &Path) -> Self {
        let read = std::fs::read(folder.join(FILE)).ok();
        let mut state: Self =
            read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        // Earlier versions stored their default width, too.
        state.panel_width = state.panel_width.filter(|width| *width != FORMERLY_USUAL);
        state
    }

    /// Writes it. Blocks.
    pub(super) fn save(&self, folder: &Path) -> std::io::Result<()> {
        let json = serde_json::to_vec_pretty(self).map_err(std::io::Error::from)?;
        write_atomically(&folder.join(FILE), &json)
    }

    /// Updates the window's size.
    pub(super) fn read_from(&mut self, window: &adw::ApplicationWindow) {
        self.maximized = window.is_maximized();
        let (width, height) = window.default_size();
        if width > 0 && height > 0 {
            (self.width, self.height) = (width, height);
        }
    }
}

/// Writes the window's state whenever it changes, the latest last, so that even a kill does not
/// lose which chat was shown. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct StateWriter {
    latest: Arc<Mutex<Option<WindowState>>>,
    /// Held while writing, so that an earlier state never overwrites a later one.
    writing: Arc<Mutex<()>>,
}

impl StateWriter {
    /// Sets the state to write.
    pub(super) fn put(&self, state: &WindowState) {
        *lock(&self.latest) = Some(state.clone());
    }

    /// Writes the latest state, unless it is already written. Blocks.
    pub(super) fn write(&self, folder: &Path) -> std::io::Result<()> {
        let _writing = lock(&self.writing);
        let latest = lock(&self.latest).take();
        latest.map_or(Ok(()), |state| state.save(folder))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the drafts of deleted chats, off the main thread.
pub(super) fn prune_drafts(folder: &Path, chats: Vec<Fid>) {
    let folder = folder.join("drafts");
    relm4::spawn_blocking(move || {
        let chats: HashSet<Fid> = chats.into_iter().collect();
        drafts::prune(&folder, |fid| chats.contains(fid));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back_and_a_damaged_one_is_the_default() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(WindowState::load(folder.path()), WindowState::default());
        let state = WindowState {
            width: 500,
            last_session: Some(Fid::new("2026-01-15-14-30-45")),
            ..WindowState::default()
        };
        state.save(folder.path()).unwrap();
        assert_eq!(WindowState::load(folder.path()), state);
        let wide = |width: &str| {
            let json = format!("{{\"panel_width\":{width}}}");
            std::fs::write(folder.path().join(FILE), json).unwrap();
            WindowState::load(folder.path()).panel_width
        };
        assert_eq!((wide("600"), wide("430"), wide("null")), (Some(600), None, None));
        std::fs::write(folder.path().join(FILE), "{\"width\":").unwrap();
        assert_eq!(WindowState::load(folder.path()), WindowState::default());
    }
}
