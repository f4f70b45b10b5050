//! Converts SQLite's errors into kinds.

use std::path::Path;

use rusqlite::ErrorCode;
use rusqlite::ffi;

use crate::error::{Error, Kind};

/// Why an operation on the database failed, inside the store.
#[derive(Debug)]
pub(super) enum Fault {
    /// SQLite failed.
    Sql(rusqlite::Error),
    /// We know what it is.
    Known(Error),
}

/// What an operation inside the store gives.
pub(super) type Outcome<T> = Result<T, Fault>;

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Known(error)
    }
}

impl From<Kind> for Fault {
    fn from(kind: Kind) -> Self {
        Self::Known(kind.into())
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        // Its own words may quote what a person wrote.
        let (line, column) = (error.line(), error.column());
        Self::Known(
            Error::new(Kind::Storage)
                .with_detail(format!("stored JSON: {:?} at {line}:{column}", error.classify())),
        )
    }
}

impl Fault {
    /// Whether the file's own structure is broken.
    pub(super) fn is_damage(&self) -> bool {
        matches!(self, Self::Sql(error) if is_damage(error))
    }

    /// Whether there was no room left.
    pub(super) fn is_full(&self) -> bool {
        match self {
            Self::Known(error) => error.kind == Kind::DiskFull,
            Self::Sql(error) => error.sqlite_error_code() == Some(ErrorCode::DiskFull),
        }
    }

    /// Whether it may be over in a while: others are busy with the file, or there is no room.
    pub(super) fn is_passing(&self) -> bool {
        let error = match self {
            Self::Known(error) => return error.kind == Kind::DiskFull,
            Self::Sql(error) => error,
        };
        let may_pass = matches!(
            error.sqlite_error_code(),
            Some(
                ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked
                    | ErrorCode::FileLockingProtocolFailed
                    | ErrorCode::DiskFull
                    | ErrorCode::SystemIoFailure
                    | ErrorCode::CannotOpen
                    | ErrorCode::OutOfMemory
            )
        );
        may_pass && !is_damage(error)
    }

    /// The error for callers. `database` is the file it happened on.
    pub(super) fn into_error(self, database: &Path) -> Error {
        let error = match self {
            Self::Known(error) => return error,
            Self::Sql(error) => error,
        };
        let extended = error.sqlite_error().map(|e| e.extended_code);
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Kind::DiskFull.into(),
            // A failure to grow the shared memory and an exceeded quota come as I/O errors.
            Some(ErrorCode::SystemIoFailure) if disk_is_full(database) => Kind::DiskFull.into(),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                Kind::ReadOnly { path: database.to_owned() }.into()
            }
            _ => Error::new(Kind::Storage).with_detail(match extended {
                Some(code) => format!("SQLite {code}: {}", ffi::code_to_str(code)),
                None => error.to_string(),
            }),
        }
    }
}

/// Whether the file's own structure is broken, or what stands in it, or the disk under it.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(error, _) => {
            matches!(error.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
                || matches!(
                    error.extended_code,
                    ffi::SQLITE_IOERR_READ
                        | ffi::SQLITE_IOERR_SHORT_READ
                        | ffi::SQLITE_IOERR_CORRUPTFS
                )
        }
        // The tables are strict: other values than these cannot have been written.
        rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::Utf8Error(..) => true,
        _ => false,
    }
}

fn disk_is_full(database: &Path) -> bool {
    // SQLite grows its files by up to 32 KiB at once; less room than that is as good as none.
    database
        .parent()
        .and_then(|folder| rustix::fs::statvfs(folder).ok())
        .is_some_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < 64 * 1024)
}
