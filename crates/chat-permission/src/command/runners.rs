//! Lists commands whose arguments are, or name, other commands, and builtins that change the
//! meaning of later words.
//!
//! A rule that ends in `*` says “this command, with whatever arguments”. For these commands it
//! would mean “any command at all”, so no such rule ever matches them: only a rule with exactly
//! their words does. What a command runs indirectly (a Makefile's recipes, a script of its own) is
//! confined by the sandbox, as with any command.

use super::interpreters::runs_code;
use super::{Simple, Word};
use crate::pattern::base;

/// Always: their arguments are commands or shell code, or change how later commands are found.
const ALWAYS: &[&str] = &[
    // Shells, and programs that contain one.
    "ash",
    "bash",
    "busybox",
    "csh",
    "dash",
    "elvish",
    "fish",
    "ksh",
    "mksh",
    "nu",
    "pwsh",
    "rbash",
    "rc",
    "sh",
    "tcsh",
    "toybox",
    "xonsh",
    "yash",
    "zsh",
    // Programs that run another one under different conditions.
    "bwrap",
    "capsh",
    "catchsegv",
    "chpst",
    "chroot",
    "chrt",
    "chronic",
    "cgexec",
    "choom",
    "coproc",
    "dbus-launch",
    "dbus-run-session",
    "doas",
    "eatmydata",
    "entr",
    "env",
    "envdir",
    "exec",
    "expect",
    "fakeroot",
    "faketime",
    "firejail",
    "flatpak-spawn",
    "flock",
    "gdb",
    "gosu",
    "ifne",
    "ionice",
    "linux32",
    "linux64",
    "lldb",
    "ltrace",
    "machinectl",
    "nice",
    "nocache",
    "nohup",
    "nsenter",
    "numactl",
    "parallel",
    "perf",
    "pkexec",
    "prlimit",
    "proot",
    "proxychains",
    "proxychains4",
    "rlwrap",
    "rr",
    "runcon",
    "runuser",
    "run-parts",
    "script",
    "sem",
    "setarch",
    "setpriv",
    "setsid",
    "setuidgid",
    "softlimit",
    "sshpass",
    "start-stop-daemon",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "sudoedit",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "torify",
    "torsocks",
    "trace-cmd",
    "tsocks",
    "unbuffer",
    "unshare",
    "uftrace",
    "valgrind",
    "watch",
    "watchexec",
    "wine",
    "xargs",
    "xvfb-run",
    // Programs that run a command elsewhere or later.
    "at",
    "batch",
    "crontab",
    "distrobox",
    "docker",
    "nerdctl",
    "podman",
    "rsh",
    "screen",
    "ssh",
    "tmux",
    "toolbox",
    // Builtins.
    ".",
    "alias",
    "bind",
    "builtin",
    "command",
    "compgen",
    "complete",
    "compopt",
    "declare",
    "enable",
    "eval",
    "export",
    "fc",
    "getopts",
    "hash",
    "let",
    "local",
    "mapfile",
    "noglob",
    "read",
    "readarray",
    "readonly",
    "set",
    "shopt",
    "source",
    "trap",
    "typeset",
    "unalias",
    "unset",
];

/// Only with one of these arguments; for an option, or one that ends in `=`, the beginning is
/// enough. Long options may be abbreviated, as GNU's programs allow, and a letter may be combined
/// with others after one dash, except for [`APART`].
const WITH: &[(&str, &[&str])] = &[
    ("[", &["-v", "-R"]),
    ("cargo", &["--config"]),
    ("ctest", &["--build-and-test"]),
    ("fd", &["-x", "-X", "--exec"]),
    ("fdfind", &["-x", "-X", "--exec"]),
    ("find", &["-exec", "-ok"]),
    (
        "git",
        &[
            "-c",
            "--config-env",
            "--exec",
            "--upload-pack",
            "--receive-pack",
            "-u",
            "-x",
            "bisect",
            "difftool",
            "filter-branch",
            "foreach",
            "hook",
            "mergetool",
            "--extcmd",
            "--open-files-in-pager",
            "-O",
            "--textconv",
            "--ext-diff",
            "config",
        ],
    ),
    ("jobs", &["-x"]),
    ("make", &["SHELL=", "--eval", "-E"]),
    ("man", &["-P", "--pager", "-H", "--html"]),
    ("printf", &["-v"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("scp", &["-S", "-o"]),
    ("sort", &["--compress-program"]),
    ("split", &["--filter"]),
    (
        "tar",
        &[
            "--checkpoint-action",
            "--to-command",
            "-I",
            "--use-compress-program",
            "--rsh-command",
            "-F",
            "--info-script",
            "--new-volume-script",
            "--rmt-command",
            // A list of files may contain options.
            "-T",
            "--files-from",
        ],
    ),
    ("test", &["-v", "-R"]),
    ("wait", &["-p"]),
    ("zip", &["-TT", "--unzip-command"]),
];

/// Programs whose one-letter options cannot be combined.
const UNBUNDLED: [&str; 3] = ["[", "git", "test"];

/// Option letters of git that may be combined after one dash, with their commands. Elsewhere they
/// are harmless and common.
const BUNDLED: [(&str, char); 6] = [
    ("clone", 'u'),
    ("fetch", 'u'),
    ("grep", 'O'),
    ("ls-remote", 'u'),
    ("pull", 'u'),
    ("rebase", 'x'),
];

/// Whether this command runs, or may run, another one that its words name, or code in them.
pub(crate) fn hands_over(command: &Simple) -> bool {
    runs_other(command) || runs_code(command)
}

fn runs_other(command: &Simple) -> bool {
    let Some(Word::Literal(name)) = command.words.first() else {
        return false;
    };
    let name = base(name);
    if ALWAYS.contains(&name) || name.starts_with("ld-") || name.starts_with("ld.") {
        return true;
    }
    let words = || command.words.iter().skip(1).map(Word::as_written);
    // `tar cfI`: the dash may be missing.
    if name == "tar" && words().next().is_some_and(|word| word.contains(['F', 'I', 'T'])) {
        return true;
    }
    if name == "git" && BUNDLED.iter().any(|(of, letter)| is_bundled(words(), of, *letter)) {
        return true;
    }
    let apart = UNBUNDLED.contains(&name);
    WITH.iter().filter(|(of, _)| *of == name).any(|(_, arguments)| {
        words().any(|word| arguments.iter().any(|argument| is_argument(word, argument, apart)))
    })
}

/// Whether a letter occurs anywhere after one dash, for a git command with that option.
fn is_bundled<'a>(words: impl Iterator<Item = &'a str>, command: &str, letter: char) -> bool {
    let (mut named, mut given) = (false, false);
    for word in words {
        named |= word == command;
        given |= word.starts_with('-') && !word.starts_with("--") && word.contains(letter);
    }
    named && given
}

/// `apart` says that letters are not combined after one dash.
fn is_argument(word: &str, argument: &str, apart: bool) -> bool {
    let open = argument.starts_with('-') || argument.ends_with('=');
    if open && word.starts_with(argument) || word == argument {
        return true;
    }
    if argument.starts_with("--") {
        let name = word.split('=').next().unwrap_or(word);
        // tar's `--file` is a complete option.
        return name.len() > 2 && name != "--file" && argument.starts_with(name);
    }
    let mut letters = argument.chars();
    match (letters.next(), letters.next(), letters.next()) {
        (Some('-'), Some(letter), None) if !apart => {
            word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
        }
        _ => false,
    }
}

/// Whether relative paths may mean something else after this command.
pub(crate) fn changes_folder(command: &Simple) -> bool {
    match command.words.first() {
        Some(Word::Literal(name)) => {
            ["cd", "pushd", "popd"].contains(&name.as_str()) || runs_other(command)
        }
        Some(Word::Other(_)) => true,
        None => false,
    }
}
