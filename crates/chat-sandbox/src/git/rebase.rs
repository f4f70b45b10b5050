//! Sanitizes the state of an interrupted rebase or series of cherry-picks. It may name programs
//! that the user's git runs when it continues, or that their shell runs when its prompt shows the
//! progress.
//!
//! The formats are those of `git rebase --interactive`, <https://git-scm.com/docs/git-rebase>,
//! where a line is a command word, or its letter, and its arguments; of `sequencer.c` in git's
//! sources; and of its `git-prompt.sh`, which puts counters into a prompt that bash expands.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, statat};

use super::sanitize::{self, Before};
use super::{Moment, QuarantineReason, QuarantinedFile, changed, walk};

/// Checks the allowed content of a file.
type Check = fn(&[u8]) -> bool;

/// Computes the replacement for a text; nothing if there may be no such file.
type Left<'a> = &'a dyn Fn(Option<&[u8]>) -> Option<Vec<u8>>;

/// The file with the remaining steps.
const TODO: (&str, &str) = ("rebase-merge", "git-rebase-todo");

/// Other files in folders of git's data, and checks of their allowed content.
const FILES: [(&str, &str, Check); 6] = [
    ("rebase-merge", "strategy", is_name),
    ("rebase-merge", "msgnum", is_number),
    ("rebase-merge", "end", is_number),
    ("rebase-apply", "next", is_number),
    ("rebase-apply", "last", is_number),
    ("sequencer", "opts", are_options),
];

/// The remaining steps in a repository's data.
pub(super) fn todo(git: &OwnedFd) -> Vec<u8> {
    let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(git, TODO.0, how, Mode::empty()).ok();
    folder.and_then(|folder| sanitize::read(&folder, TODO.1)).unwrap_or_default()
}

/// Quarantines what was changed since then, or came with its folder, and runs programs that it did
/// not run before. The other lines of the remaining steps are kept.
pub(super) fn sanitize(
    git: &OwnedFd,
    path: &Path,
    since: Moment,
    before: Option<&Before>,
) -> Vec<QuarantinedFile> {
    let before = before.map_or(&[][..], |before| &before.rebase);
    let mut put = Vec::new();
    let mut look = |(of, name): (&str, &str), left: Left<'_>| {
        // Its folder may not be listable: git only needs to pass through it.
        let folder = walk::open(git, Path::new(of), since).ok()?;
        let stat = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        if changed(&stat).max(changed(&fstat(&folder).ok()?)) < since {
            return None;
        }
        let text = sanitize::read(&folder, name);
        let left = left(text.as_deref());
        if text.is_some() && text == left {
            return None;
        }
        let kept = sanitize::quarantine(&folder, name.as_ref())?;
        if let Some(left) = left {
            // If this fails, git reports that there is none.
            let _ = sanitize::write(&folder, name, &left);
        }
        let path = path.join(of);
        let (path, kept) = (path.join(name), path.join(kept));
        put.push(QuarantinedFile { path, moved_to: kept, why: QuarantineReason::RunsPrograms });
        Some(())
    };
    look(TODO, &|text| Some(text.map_or_else(Vec::new, |text| without_programs(text, before))));
    for (of, name, is_lawful) in FILES {
        look((of, name), &|text| text.filter(|text| is_lawful(text)).map(<[u8]>::to_vec));
    }
    put
}

/// Whether this is a number on a line of its own.
fn is_number(text: &[u8]) -> bool {
    text.trim_ascii_end().iter().all(u8::is_ascii_digit)
}

/// Whether this is the name of a strategy, which is part of a program's name, rather than a path to
/// one.
fn is_name(text: &[u8]) -> bool {
    text.trim_ascii_end().iter().all(|&byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Whether these are options as git writes them, one per line.
fn are_options(text: &[u8]) -> bool {
    text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).all(|line| {
        let mut sides = line.splitn(2, |&byte| byte == b'=');
        let (key, value) = (sides.next().unwrap_or_default().trim_ascii(), sides.next());
        match value.map(<[u8]>::trim_ascii) {
            None => line.is_empty() || line == b"[options]",
            Some(value) if key.eq_ignore_ascii_case(b"strategy") => is_name(value),
            Some(value) => is_name(key) && !value.ends_with(b"\\"),
        }
    })
}

/// The lines that run nothing, or that were there before.
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
    fn only_what_git_writes_is_lawful() {
        assert!(is_number(b"12\n") && is_number(b"3") && !is_number(b"$(x)\n"));
        assert!(is_name(b"recursive\n") && !is_name(b"x/evil\n") && !is_name(b"../x"));
        for text in ["", "[options]\n", "[options]\n\tsignoff = true\n\tstrategy = ort\n"] {
            assert!(are_options(text.as_bytes()), "{text}");
        }
        assert!(are_options(b"[options]\n\tstrategy-option = ours\n\tgpg-sign = \"a b\"\n"));
        for text in [
            "[options]\nstrategy = x/evil",
            "[options]\nSTRATEGY=x/evil",
            "[options] strategy = x/evil",
            "[options]\nstrategy = \"x/evil\"",
            "[options]\nstrategy = x\\\n/evil",
            "[options]\nsignoff = x\\\n",
            "[options]\nstrategy",
            "[other]",
        ] {
            assert!(!are_options(text.as_bytes()), "{text}");
        }
    }

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
