//! Removes from git's data whatever makes git run programs, and keeps it in a file next to it.

use std::fs::File;
use std::io::{Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawDir, RenameFlags, Stat, fstat, linkat, openat,
    readlinkat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::settings::without_programs;
use super::walk::let_owner;
use super::{Moment, QuarantineReason, QuarantinedFile, changed};

/// Settings files larger than this, in bytes, are not read but quarantined as a whole.
const LONGEST: u64 = 1 << 20;

/// Settings files in git's data.
pub(super) const SETTINGS: [&str; 2] = ["config", "config.worktree"];

/// What a repository contained before.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// The texts of [`SETTINGS`].
    pub(super) settings: [Vec<u8>; 2],
    /// The remaining steps of a rebase.
    pub(super) rebase: Vec<u8>,
}

/// Quarantines what was changed since then and makes git run programs. In new data (which may only
/// have been moved there) everything that does so is quarantined.
pub(super) fn data(
    folder: &OwnedFd,
    path: &Path,
    since: Moment,
    before: Option<&Before>,
) -> Vec<QuarantinedFile> {
    let look = |name: &str| statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    let is_new = |stat: &Stat| changed(stat) >= since;
    let hooks = look("hooks").map(|stat| Hooks::of(folder, &stat, since));
    let any = fstat(folder).is_ok_and(|stat| is_new(&stat))
        || hooks.as_ref().is_some_and(|hooks| hooks.are_new)
        || SETTINGS
            .iter()
            .chain(&["commondir"])
            .any(|name| look(name).is_some_and(|it| is_new(&it)));
    let all = before.is_none() && any;

    let mut put = Vec::new();
    let mut aside = |name: &str| {
        let kept = quarantine(folder, name.as_ref());
        put.extend(kept.map(|kept| QuarantinedFile {
            path: path.join(name),
            moved_to: path.join(kept),
            why: QuarantineReason::RunsPrograms,
        }));
    };
    let nothing = Before::default();
    let texts = &before.unwrap_or(&nothing).settings;
    for (name, before) in SETTINGS.into_iter().zip(texts) {
        let Some(stat) = look(name).filter(|stat| all || is_new(stat)) else { continue };
        let text =
            if FileType::from_raw_mode(stat.st_mode).is_file() { read(folder, name) } else { None };
        let left = text.as_ref().map(|text| without_programs(text, before));
        if text.is_some() && text == left {
            continue;
        }
        aside(name);
        if let Some(left) = left {
            // If this fails, git manages without it.
            let _ = write(folder, name, &left);
        }
    }
    if hooks.is_some_and(|hooks| hooks.run && (all || hooks.are_new)) {
        aside("hooks");
    }
    if look("commondir").is_some_and(|stat| all || is_new(&stat)) && leads_away(folder) {
        aside("commondir");
    }
    put
}

/// Whether `commondir` names another folder than its own, which a placeholder names.
fn leads_away(folder: &OwnedFd) -> bool {
    read(folder, "commondir").is_none_or(|text| text != b"./.\n")
}

/// The folder with programs that git runs.
struct Hooks {
    /// Whether there is any that git would run.
    run: bool,
    /// Whether any of them was changed since then.
    are_new: bool,
}

impl Hooks {
    fn of(folder: &OwnedFd, stat: &Stat, since: Moment) -> Self {
        let mut hooks = Self { run: false, are_new: changed(stat) >= since };
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(inside) = openat(folder, "hooks", how, Mode::empty()) else {
            // For example, a link, or a folder that cannot be listed.
            hooks.run = true;
            return hooks;
        };
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut entries = RawDir::new(&inside, &mut buffer);
        while let Some(entry) = entries.next() {
            let Ok(entry) = entry else { break };
            let name = entry.file_name();
            // git ignores these: they are its own templates.
            if matches!(name.to_bytes(), b"." | b"..") || name.to_bytes().ends_with(b".sample") {
                continue;
            }
            hooks.run = true;
            let stat = statat(&inside, name, AtFlags::SYMLINK_NOFOLLOW);
            hooks.are_new |= stat.is_ok_and(|stat| changed(&stat) >= since);
        }
        hooks
    }
}

/// The text of a settings file; none if it is too long or unreadable.
pub(super) fn read(folder: &OwnedFd, name: &str) -> Option<Vec<u8>> {
    // Opening a pipe would block.
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(folder, name, how, Mode::empty()).ok()?);
    let mut text = Vec::new();
    let is_file = file.metadata().is_ok_and(|it| it.is_file());
    let length =
        if is_file { file.take(LONGEST + 1).read_to_end(&mut text).ok()? } else { return None };
    (length as u64 <= LONGEST).then_some(text)
}

/// Writes a file that appears only when it is complete.
pub(super) fn write(folder: &OwnedFd, name: &str, text: &[u8]) -> std::io::Result<()> {
    let how = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mut file = File::from(openat(folder, ".", how, Mode::from_raw_mode(0o644))?);
    file.write_all(text)?;
    let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
    linkat(CWD, unnamed, folder, name, AtFlags::SYMLINK_FOLLOW)?;
    Ok(())
}

/// Replaces a quarantined link by a file that says where it led, since a link in git's data leads
/// away under any name.
pub(super) fn say_where_it_led(folder: &OwnedFd, kept: &Path) {
    let name = kept.file_name().unwrap_or_default();
    let Ok(target) = readlinkat(folder, name, Vec::new()) else { return };
    if unlinkat(folder, name, AtFlags::empty()).is_ok()
        && let Some(name) = name.to_str()
    {
        let _ = write(folder, name, target.as_bytes());
    }
}

/// Renames an entry of an open folder to a free name that means nothing to any program; returns the
/// name.
pub(super) fn quarantine(folder: &OwnedFd, name: &std::ffi::OsStr) -> Option<String> {
    let text = name.to_string_lossy();
    for number in 1..1000_u32 {
        let kept = format!("{text}.put-aside-{number}");
        let rename = || match renameat_with(folder, name, folder, &kept, RenameFlags::NOREPLACE) {
            // Some file systems do not support it.
            Err(Errno::INVAL) if statat(folder, &kept, AtFlags::SYMLINK_NOFOLLOW).is_err() => {
                rustix::fs::renameat(folder, name, folder, &kept)
            }
            Err(Errno::INVAL) => Err(Errno::EXIST),
            renamed => renamed,
        };
        let renamed = match rename() {
            // The command may have removed write permission from the folder.
            Err(Errno::ACCESS) if fstat(folder).is_ok_and(|stat| let_owner(folder, &stat)) => {
                rename()
            }
            renamed => renamed,
        };
        match renamed {
            Ok(()) => return Some(kept),
            Err(Errno::EXIST) => {}
            Err(_) => return None,
        }
    }
    None
}
