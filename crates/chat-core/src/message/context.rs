//! Defines what the user has in front of them when they send a message, and what they mention in it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Fid;

/// A plain snapshot of what the person has before them, taken at the moment of sending.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Context {
    /// Files open in the editor, in the order of their tabs.
    pub open_files: Vec<OpenFile>,
    /// What the person points at in their message, in the order of their words.
    pub mentions: Vec<Mention>,
}

impl Context {
    /// The file that the person works on.
    pub fn active(&self) -> Option<&OpenFile> {
        self.open_files.iter().find(|file| file.active)
    }
}

/// A file that the person has open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Whether it is the one that the person works on; at most one is.
    pub active: bool,
    /// The cursor's line, from 1.
    pub line: Option<u32>,
    /// The cursor's place in its line in characters, from 1.
    pub column: Option<u32>,
    /// What is selected, where something is.
    pub selection: Option<Selection>,
    /// The lines around the cursor as they are in the editor.
    pub around: Option<Excerpt>,
    /// Whether the editor holds changes that are not on disk.
    pub unsaved: bool,
}

/// Selected text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// Its first line, from 1.
    pub from: u32,
    /// Its last line, included.
    pub to: u32,
    /// The text.
    pub text: String,
}

/// Some lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The number of the first, from 1.
    pub from: u32,
    /// The lines.
    pub text: String,
}

/// Something that a person points at in a message. It is gathered when the message is sent, and
/// goes with it as a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mention {
    /// A file of the project, or some lines of it.
    File {
        /// Which.
        path: PathBuf,
        /// The first and the last of the lines, from 1, where not all are meant.
        lines: Option<(u32, u32)>,
    },
    /// A folder of the project: the files below it.
    Folder {
        /// Which.
        path: PathBuf,
    },
    /// A function, a type or the like.
    Symbol {
        /// The file that has it.
        path: PathBuf,
        /// Its name.
        name: String,
        /// The first and the last of its lines, from 1.
        lines: (u32, u32),
    },
    /// An earlier chat.
    Chat {
        /// Which.
        fid: Fid,
    },
    /// What changed in the project since its last commit.
    Diff,
    /// A page of the web, as it was fetched.
    Page {
        /// Its address.
        url: String,
        /// Its text.
        text: String,
    },
    /// A resource of an MCP server, as it was read.
    Resource {
        /// The server's name in the configuration.
        server: String,
        /// The resource's URI.
        uri: String,
        /// What the server calls it; empty where that is not known.
        title: String,
        /// Its text; none before it was read, which the engine does when the message is sent. Pictures are
        /// attached to the message then.
        text: Option<String>,
    },
}

impl Mention {
    /// The name of the file that goes with the message. `folder` is the project's.
    pub fn name(&self, folder: &Path) -> String {
        let shown = |path: &Path| path.strip_prefix(folder).unwrap_or(path).display().to_string();
        match self {
            Self::File { path, lines: None } => shown(path),
            Self::File { path, lines: Some((from, to)) } => format!("{}:{from}-{to}", shown(path)),
            Self::Symbol { path, name, lines: (from, to) } => {
                format!("{name}, {}:{from}-{to}", shown(path))
            }
            Self::Folder { path } => format!("{}/", shown(path)),
            Self::Chat { fid } => fid.to_string(),
            Self::Diff => "git diff".to_owned(),
            Self::Page { url, .. } => url.clone(),
            Self::Resource { server, uri, .. } => format!("{server}:{uri}"),
        }
    }
}
