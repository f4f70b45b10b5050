//! Finds and reads the files in which other programs keep their servers.

use std::path::PathBuf;

use crate::config::{
    LARGEST_FILE, ProblemKind, SERVERS, SERVERS_OF_VS_CODE, read_limited, text_of,
};

use super::foreign::{self, ForeignServers};
use super::ollmchat;
use super::variables::Dialect;

/// A program that keeps servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImportSource {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Visual Studio Code, the servers of the user.
    VsCode,
    /// Cursor, the servers of the user.
    Cursor,
    /// `OLLMchat`.
    OllmChat,
}

/// Where programs keep their files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportFolders {
    /// The user's home folder.
    pub home: PathBuf,
    /// `$XDG_CONFIG_HOME`, or `.config` in the home folder.
    pub config: PathBuf,
}

impl ImportSource {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::ClaudeDesktop, Self::VsCode, Self::Cursor, Self::OllmChat];

    /// The program's name, which is the same in all languages.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::VsCode => "Visual Studio Code",
            Self::Cursor => "Cursor",
            Self::OllmChat => "OLLMchat",
        }
    }

    /// The file in which it keeps servers.
    pub fn path(self, folders: &ImportFolders) -> PathBuf {
        match self {
            Self::ClaudeDesktop => folders.config.join("Claude/claude_desktop_config.json"),
            Self::VsCode => folders.config.join("Code/User/mcp.json"),
            Self::Cursor => folders.home.join(".cursor/mcp.json"),
            // It does not ask the environment where the folder is.
            Self::OllmChat => folders.home.join(".config/ollmchat/mcp.json"),
        }
    }

    /// The programs whose file is there. Blocks.
    pub fn present(folders: &ImportFolders) -> Vec<Self> {
        Self::ALL.into_iter().filter(|source| source.path(folders).is_file()).collect()
    }

    /// What its file has. Nothing if there is no file. Blocks.
    pub fn read(self, folders: &ImportFolders) -> ForeignServers {
        let bytes = match read_limited(&self.path(folders)) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return ForeignServers::default(),
            Err(_) => return ForeignServers::broken(None, ProblemKind::Unreadable),
        };
        let text = match text_of(&bytes, LARGEST_FILE) {
            Ok(text) => text,
            Err(kind) => return ForeignServers::broken(None, kind),
        };
        match self {
            Self::ClaudeDesktop => foreign::read(text, SERVERS, Dialect::Plain, &folders.home),
            Self::VsCode => foreign::read(text, SERVERS_OF_VS_CODE, Dialect::Editor, &folders.home),
            Self::Cursor => foreign::read(text, SERVERS, Dialect::Editor, &folders.home),
            Self::OllmChat => ollmchat::read(text, &folders.home),
        }
    }
}

#[cfg(test)]
mod tests;
