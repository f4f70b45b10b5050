//! Creates placeholders where something protected must not be created while a command runs.
//!
//! No kind of placeholder means anything to git, and each can be told from files that the user
//! made: so one that a killed program left behind is removed after the next command.

use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

/// The bit that marks an empty folder as a placeholder. Nobody else sets it on such a folder, and
/// on the user's own folder it has no effect.
const MARK: u32 = 0o1000;

/// The kind of placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placeholder {
    /// An empty folder, which git ignores.
    Folder,
    /// A git settings file that sets nothing.
    Settings,
    /// A file that leads git to its own folder.
    SameFolder,
}

impl Placeholder {
    fn text(self) -> Option<&'static str> {
        match self {
            Self::Folder => None,
            Self::Settings => Some("# Natter keeps this place free while a command runs.\n"),
            Self::SameFolder => Some("./.\n"),
        }
    }

    /// Whether such a placeholder may be at `path`. An empty folder counts without its mark, since
    /// not every disk stores it.
    pub(super) fn is_at(self, path: &Path) -> bool {
        let Some(text) = self.text() else {
            return path.read_dir().is_ok_and(|mut entries| entries.next().is_none());
        };
        let length = path.symlink_metadata().map(|it| if it.is_file() { it.len() } else { 0 });
        length.is_ok_and(|length| length == text.len() as u64)
            && std::fs::read(path).is_ok_and(|found| found == text.as_bytes())
    }

    /// Creates one, if nothing exists. It appears only when it is complete: another command that is
    /// running must not be able to write to it before.
    pub(super) fn make(self, path: &Path) -> io::Result<()> {
        let Some(text) = self.text() else {
            // If the mark cannot be stored, the folder stays behind at worst.
            return DirBuilder::new().mode(0o777 | MARK).create(path);
        };
        let folder = path.parent().unwrap_or(path);
        let how = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let mut file = File::from(open(folder, how, Mode::from_raw_mode(0o444))?);
        file.write_all(text.as_bytes())?;
        let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
        linkat(CWD, unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW)?;
        Ok(())
    }

    /// Removes the one at `path`, if it is still a placeholder and empty.
    pub(super) fn take_away(self, path: &Path) {
        if self.text().is_some() {
            if self.is_at(path) {
                let _ = std::fs::remove_file(path);
            }
            return;
        }
        let Ok(found) = path.symlink_metadata() else { return };
        let mode = found.permissions().mode();
        // Removes only an empty folder: what the user has put something into is theirs.
        if found.is_dir() && mode & MARK != 0 && std::fs::remove_dir(path).is_err() {
            let _ = std::fs::set_permissions(path, Permissions::from_mode(mode & !MARK));
        }
    }
}
