//! What is left to do of a rebase: its lines may name any program, which the person's git runs when
//! it goes on with it.
//!
//! The format is that of `git rebase --interactive`, <https://git-scm.com/docs/git-rebase>: a line is
//! a word, or its letter, and what it is about.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode, OFlags, openat, statat};

use super::{Moment, changed, disarm};

/// The folder in git's data, and the file in it.
pub(super) const FOLDER: &str = "rebase-merge";
pub(super) const TODO: &str = "git-rebase-todo";

/// What is left to do, in a repository's data.
pub(super) fn todo(git: &OwnedFd) -> Vec<u8> {
    let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(git, FOLDER, how, Mode::empty()).ok();
    folder.and_then(|folder| disarm::read(&folder, TODO)).unwrap_or_default()
}

/// What is to stand there instead, where it was changed since then and runs what it did not before:
/// nothing, where it cannot be read.
pub(super) fn disarmed(folder: &OwnedFd, since: Moment, before: &[u8]) -> Option<Vec<u8>> {
    let stat = statat(folder, TODO, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    if changed(&stat) < since {
        return None;
    }
    let Some(text) = disarm::read(folder, TODO) else { return Some(Vec::new()) };
    let left = without_programs(&text, before);
    (left != text).then_some(left)
}

/// The lines that run nothing, or that stood there before.
fn without_programs(text: &[u8], before: &[u8]) -> Vec<u8> {
    let known: Vec<&[u8]> = before.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).collect();
    let stays = |line: &&[u8]| !runs(line) || known.contains(&line.trim_ascii());
    text.split_inclusive(|&byte| byte == b'\n').filter(stays).collect::<Vec<_>>().concat()
}

fn runs(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    matches!(word, b"exec" | b"x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_run_something_go_unless_they_stood_there_before() {
        let left = |text: &str, before: &str| {
            String::from_utf8(without_programs(text.as_bytes(), before.as_bytes())).unwrap()
        };
        let plain = "pick abc exec x\n# exec a\nreset b\nmerge -C c d\nx-ray\n\nfixup -C e";
        assert_eq!(left(plain, ""), plain);
        let planted = "pick a\nexec evil\n  x evil\nexec\tevil\n\texec evil\r\nexec\nx\nbreak\n";
        assert_eq!(left(planted, ""), "pick a\nbreak\n");
        assert_eq!(left("exec make\nexec evil", "pick a\n exec make \n"), "exec make\n");
    }
}
