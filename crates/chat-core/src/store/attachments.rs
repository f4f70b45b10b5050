//! Stores pictures next to the database by the hash of their bytes: a picture sent twice is kept
//! once, and the database stays small.
//!
//! Files are made and removed only inside a writing transaction, of which there is one at a time
//! over all processes: none is removed while another process begins to need it.

use std::collections::HashSet;
use std::fs;
use std::sync::Arc;

use rusqlite::params;
use sha2::{Digest, Sha256};

use super::backups;
use super::db_handle::{DatabaseKind, DbHandle};
use super::fault::Outcome;
use crate::settings::disk;

/// The name of a picture: SHA-256 of its bytes, in hexadecimal.
pub(super) fn name(data: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(data).iter().fold(String::with_capacity(64), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    })
}

/// Keeps a picture that a message needs. Durable when it returns.
pub(super) fn keep(db: &DbHandle, message: i64, hash: &str, data: &[u8]) -> Outcome<()> {
    if db.paths.kind == DatabaseKind::Memory {
        let sql = "INSERT OR IGNORE INTO pictures (hash, data) VALUES (?1, ?2)";
        db.run(sql, params![hash, data])?;
    } else {
        keep_file(db, hash, data)?;
    }
    db.run(
        "INSERT OR IGNORE INTO attachments (message, hash) VALUES (?1, ?2)",
        params![message, hash],
    )?;
    Ok(())
}

fn keep_file(db: &DbHandle, hash: &str, data: &[u8]) -> Outcome<()> {
    let folder = &db.paths.attachments;
    let path = folder.join(hash);
    // A file of another size is what a full disk or a broken one left of it.
    if fs::metadata(&path).map_or(true, |file| file.len() != data.len() as u64) {
        disk::private_folder(folder)
            .and_then(|()| disk::replace(&path, data))
            .map_err(|error| disk::fault(&path, &error))?;
    }
    Ok(())
}

/// Reads a picture. Empty where it is gone: the message is still worth showing.
pub(super) fn read(db: &DbHandle, hash: &str) -> Arc<[u8]> {
    if db.paths.kind == DatabaseKind::Memory {
        let sql = "SELECT data FROM pictures WHERE hash = ?1";
        let data = db.find(sql, [hash], |row| row.get::<_, Vec<u8>>(0));
        return data.ok().flatten().unwrap_or_default().into();
    }
    // The name comes from the database, and must not lead elsewhere.
    if hash.len() != 64 || !hash.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Arc::default();
    }
    let path = db.paths.attachments.join(hash);
    match fs::read(&path) {
        Ok(data) => data.into(),
        Err(error) => {
            tracing::warn!("{}: {error}", path.display());
            Arc::default()
        }
    }
}

/// Removes the files that no message needs.
pub(super) fn sweep(db: &DbHandle) -> Outcome<()> {
    let Ok(entries) = fs::read_dir(&db.paths.attachments) else { return Ok(()) };
    // Who goes back to a backup has the pictures of its chats as well.
    let in_backups = backups::pictures(&db.paths.backups)?;
    let mut needed: HashSet<String> = {
        let mut statement =
            db.connection.prepare_cached("SELECT DISTINCT hash FROM attachments")?;
        let rows = statement.query_map([], |row| row.get(0))?;
        rows.collect::<Result<_, _>>()?
    };
    needed.extend(in_backups);
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_none_or(|name| !needed.contains(name)) {
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}
