//! What the person has set: connections, models, and how the programs behave.

mod agents;
mod appearance;
mod connection;
pub(crate) mod disk;
mod file;
mod folders;
mod keys;
mod merge;
mod tools;
mod unknown;
mod values;
pub(crate) mod watch;
mod wrong_values;

pub use agents::AgentSettings;
pub use appearance::{ColorScheme, ColumnWidth, Zoom};
pub use connection::{Connection, ConnectionKind, HeaderSource, InKeyring, KeySource};
pub use file::SettingsFile;
pub use folders::Folders;
pub(crate) use keys::header_key;
pub use keys::{Key, KeyStorage, KeyStore, KeyringFailure};
pub use tools::{PermissionSettings, Remembered, SearchProvider, SearchSettings, ToolSettings};
pub use values::{
    ChatSettings, EngineSettings, ModelUsage, ProjectSettings, Settings, UiSettings, WhileBusy,
};
