//! Manages the models on this machine, and finds more of them.

mod catalogue;
mod discovery;
mod download;
mod downloads;
mod facts;
mod file_pattern;
mod hub;
mod index;
mod library;
mod machine;
mod name;

pub use catalogue::{Offer, catalogue, offer, recommended};
pub use discovery::{DiscoveredModel, ModelFolders, Program, discover};
pub use downloads::{Download, DownloadStage, DownloadState};
pub(crate) use downloads::{DownloadNews, Downloader};
pub use facts::{Facts, Memory};
pub use hub::{Hub, HubOptions, RemoteFile, RemoteModel, Repository};
pub use library::{Installed, Library, LibraryChanges, Source};
pub use machine::{Fit, fit, machine_memory};
pub use name::{display_name, title};

/// The name of the connection that the built-in engine is.
pub const CONNECTION: &str = "On this computer";

/// Whether a connection of this name would be taken for the built-in engine.
pub fn is_named_like_engine(name: &str) -> bool {
    are_names_alike(name, CONNECTION)
}

/// Whether two names of connections would be taken for each other: letter case and spaces do not tell
/// them apart.
pub fn are_names_alike(one: &str, other: &str) -> bool {
    let words =
        |name: &str| name.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    words(one) == words(other)
}
