//! Reads and writes Natter's own files: readable by their owner alone, replaced atomically, with the
//! system's errors as kinds.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::error::{Error, Kind};

/// What the system said about a file, as an error of ours.
pub(crate) fn fault(path: &Path, error: &io::Error) -> Error {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Kind::DiskFull.into(),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Kind::ReadOnly { path: path.to_owned() }.into()
        }
        _ => Error::new(Kind::Storage).with_detail(format!("{}: {error}", path.display())),
    }
}

/// Makes a folder and those above it, for its owner alone; one that exists is left as it is.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Opens a file for reading and writing, making it for its owner alone where it is missing.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Replaces a file: after a crash there is the old one or the new one, whole.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // A temporary file of this crate is readable by its owner alone.
    let mut file = tempfile::Builder::new().prefix(".natter-").tempfile_in(folder)?;
    if let Ok(old) = fs::metadata(path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    File::open(folder)?.sync_all()
}
