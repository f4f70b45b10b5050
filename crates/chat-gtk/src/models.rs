//! Shows the models on this computer: rows with their downloads, texts, and adding of files. The
//! preferences and the first page are built from these.

pub(crate) mod adding;
pub(crate) mod fetch;
pub(crate) mod list;
pub(crate) mod machine;
pub(crate) mod row;
pub(crate) mod words;

use chat_core::error::Result;
use chat_core::manager::Manager;
use chat_core::models::{Download, DownloadState, Installed};
use gtk::gio;
use gtk::prelude::*;

/// The installed models and the downloads, at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stock {
    pub(crate) installed: Vec<Installed>,
    pub(crate) downloads: Vec<Download>,
}

impl Stock {
    /// Loads both. Downloads come first: one that ends in between is then found among the installed
    /// models.
    pub(crate) async fn take(manager: &Manager) -> Result<Self> {
        let looking = manager.clone();
        let downloads =
            gio::spawn_blocking(move || looking.downloads().list()).await.unwrap_or_default();
        let installed = manager.local_models().list().await?;
        Ok(Self { installed, downloads })
    }

    /// The downloads that are not finished yet.
    pub(crate) fn coming(&self) -> impl Iterator<Item = &Download> {
        self.downloads.iter().filter(|it| !matches!(it.state, DownloadState::Done { .. }))
    }
}

/// Whether a widget or something inside it has the focus, even while a dialog is open above its
/// window.
pub(crate) fn has_keyboard(widget: &impl IsA<gtk::Widget>) -> bool {
    let focus = widget.root().and_then(|root| root.focus());
    focus.is_some_and(|at| at == *widget.upcast_ref() || at.is_ancestor(widget))
}
