//! Models on this machine: which there are, what they are, and where more come from.

mod catalogue;
mod download;
mod downloads;
mod facts;
mod glob;
mod hub;
mod index;
mod library;
mod name;

pub use catalogue::{Offer, catalogue, offer};
pub use downloads::{Download, DownloadStage, DownloadState};
pub(crate) use downloads::{Downloads, Told};
pub use facts::{Facts, Memory};
pub use hub::{Hub, HubOptions, RemoteFile, RemoteModel, Repository};
pub use library::{Installed, Library, LibraryChanges, Source};

/// The name of the connection that the built-in engine is.
pub const CONNECTION: &str = "On this computer";
