//! Fills a project's caches with links to the contents of the user's own caches.
//!
//! This is repeated only when entries were added to the user's caches or removed from them, which
//! changes the time of a folder there.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::folder::Folder;

/// The depth of a registry's index: `index/NAME/.cache/se/rd/serde`.
const INDEX_DEPTH: usize = 4;

/// The depth of npm's packages: `content-v2/sha512/12/34/REST`.
const CONTENT_DEPTH: usize = 3;

/// The maximum size of a copied file, in bytes.
const LONGEST: u64 = 16 << 20;

/// One of the user's caches: which one, its path, and where commands see it.
pub(super) type Seed = (&'static str, PathBuf, PathBuf);

/// Creates the folders `inside`, and fills those that have a seed. No command can write to `kept`.
pub(super) fn fill(kept: &Path, folder: &Path, inside: &[&str], seeds: &[Seed]) -> io::Result<()> {
    let stamp = stamp(seeds);
    let told = kept.join("filled");
    // A command may have deleted them.
    let is_there = |inside: &&str| folder.join(inside).is_dir();
    if inside.iter().all(is_there) && fs::read(&told).is_ok_and(|it| it == stamp.as_bytes()) {
        return Ok(());
    }
    let folder = Folder::open(folder)?;
    for path in inside {
        folder.enter_all(path)?;
    }
    for (inside, from, aside) in seeds {
        let to = folder.enter_all(inside)?;
        match *inside {
            "cargo/registry" => registry(from, aside, &to)?,
            "cargo/git" => git(from, aside, &to)?,
            "npm/_cacache" => npm(from, aside, &to)?,
            // Go reads it where it is.
            _ => {}
        }
    }
    fs::write(told, stamp)
}

/// The times of the caches' folders, which change when entries are added or removed.
fn stamp(seeds: &[Seed]) -> String {
    use std::fmt::Write;
    let mut stamp = String::new();
    let mut add = |path: &Path| {
        let changed = fs::metadata(path).and_then(|found| found.modified()).ok();
        // Writing into a string cannot fail.
        let _ = writeln!(stamp, "{} {changed:?}", path.display());
    };
    for (_, from, _) in seeds.iter().filter(|(inside, ..)| *inside != "go/pkg") {
        add(from);
        for folder in entries(from) {
            add(&folder.path());
            for folder in entries(&folder.path()).into_iter().filter(is_folder) {
                add(&folder.path());
            }
        }
    }
    stamp
}

/// A registry of Cargo's: downloads and unpacked crates are linked. The index is copied, since
/// Cargo writes to it.
fn registry(from: &Path, aside: &Path, to: &Folder) -> io::Result<()> {
    for kind in ["cache", "src"] {
        let to = to.enter(kind)?;
        for source in entries(&from.join(kind)).into_iter().filter(is_folder) {
            let name = source.file_name();
            let aside = aside.join(kind).join(&name);
            link_all(&source.path(), &aside, &to.enter(name)?)?;
        }
    }
    let to = to.enter("index")?;
    for source in entries(&from.join("index")).into_iter().filter(is_folder) {
        copy_newer(&source.path(), &to.enter(source.file_name())?, INDEX_DEPTH)?;
    }
    Ok(())
}

/// Cargo's git data: checkouts are linked. A repository is a new one that borrows the objects of
/// the user's, so that it can fetch more.
fn git(from: &Path, aside: &Path, to: &Folder) -> io::Result<()> {
    let checkouts = to.enter("checkouts")?;
    for source in entries(&from.join("checkouts")).into_iter().filter(is_folder) {
        let name = source.file_name();
        let aside = aside.join("checkouts").join(&name);
        link_all(&source.path(), &aside, &checkouts.enter(name)?)?;
    }
    let db = to.enter("db")?;
    for source in entries(&from.join("db")).into_iter().filter(is_folder) {
        let name = source.file_name();
        if db.modified(&name).is_some() {
            continue;
        }
        let to = db.enter(&name)?;
        let mut others = aside.join("db").join(&name).join("objects").into_os_string();
        others.push("\n");
        to.enter_all("objects/info")?.put(OsStr::new("alternates"), others.as_bytes())?;
        copy_newer(&source.path().join("refs"), &to.enter("refs")?, INDEX_DEPTH)?;
        for file in ["packed-refs", "FETCH_HEAD", "config", "HEAD"] {
            copy(&source.path().join(file), &to, OsStr::new(file))?;
        }
    }
    Ok(())
}

/// npm's cache: packages are linked. The index is copied, since npm appends to its files.
fn npm(from: &Path, aside: &Path, to: &Folder) -> io::Result<()> {
    let content = "content-v2";
    link_files(&from.join(content), &aside.join(content), &to.enter(content)?, CONTENT_DEPTH)?;
    copy_newer(&from.join("index-v5"), &to.enter("index-v5")?, CONTENT_DEPTH)
}

/// Links to the files at this depth in `from`, which is seen at `aside`.
fn link_files(from: &Path, aside: &Path, to: &Folder, depth: usize) -> io::Result<()> {
    if depth == 0 {
        return link_all(from, aside, to);
    }
    for folder in entries(from).into_iter().filter(is_folder) {
        let name = folder.file_name();
        link_files(&folder.path(), &aside.join(&name), &to.enter(name)?, depth - 1)?;
    }
    Ok(())
}

/// Links to each entry of `from`, which is seen at `aside`. Links to deleted entries are removed,
/// since nothing could be written in their place.
fn link_all(from: &Path, aside: &Path, to: &Folder) -> io::Result<()> {
    let names: HashSet<OsString> = entries(from).iter().map(DirEntry::file_name).collect();
    for gone in to.links()?.iter().filter(|name| !names.contains(*name)) {
        to.remove(gone)?;
    }
    names.iter().try_for_each(|name| to.link(&aside.join(name), name))
}

/// Copies the files of `from` that `to` does not have, or has in an older version.
fn copy_newer(from: &Path, to: &Folder, depth: usize) -> io::Result<()> {
    for entry in entries(from) {
        let (Ok(kind), name) = (entry.file_type(), entry.file_name()) else { continue };
        if kind.is_dir() && depth > 0 && name != ".git" {
            copy_newer(&entry.path(), &to.enter(name)?, depth - 1)?;
        } else if kind.is_file() {
            let theirs = entry.metadata().and_then(|found| found.modified()).ok();
            if to.modified(&name) < theirs {
                copy(&entry.path(), to, &name)?;
            }
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Folder, name: &OsStr) -> io::Result<()> {
    if !from.metadata().is_ok_and(|found| found.is_file() && found.len() <= LONGEST) {
        return Ok(());
    }
    to.put(name, &fs::read(from)?)
}

/// The entries of a folder; none if it does not exist.
fn entries(folder: &Path) -> Vec<DirEntry> {
    folder.read_dir().map_or_else(|_| Vec::new(), |entries| entries.flatten().collect())
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
}
