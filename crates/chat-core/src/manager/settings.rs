//! Reads and changes the settings for a front end.

use std::sync::Arc;

use super::{Kind, Manager, Result};
use crate::session::Clients as _;
use crate::settings::Settings;

/// The settings: as they are now, and changed. From [`Manager::settings`].
#[derive(Clone, Debug)]
pub struct SettingsStore(pub(super) Manager);

impl SettingsStore {
    /// The settings as they are now.
    pub fn current(&self) -> Arc<Settings> {
        self.0.inner.connections.settings()
    }

    /// Changes settings and stores them.
    ///
    /// # Errors
    /// `ConfigLocked` where the file on disk cannot be read, `ReadOnly`, `DiskFull`, `Storage`.
    pub async fn change(&self, change: impl FnOnce(&mut Settings) + Send + 'static) -> Result<()> {
        let (this, file) = (self.0.clone(), Arc::clone(&self.0.inner.settings));
        self.0
            .run(async move {
                let _changing = this.inner.changing.lock().await;
                let changed = tokio::task::spawn_blocking(move || file.change(change)).await;
                let settings = changed.unwrap_or_else(|_| Err(Kind::Internal.into()))?;
                this.take_settings(settings);
                Ok(())
            })
            .await
    }
}
