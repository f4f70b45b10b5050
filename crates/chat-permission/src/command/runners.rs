//! Lists commands whose own words are, or name, other commands, and builtins that change what later
//! words mean.
//!
//! A rule that ends in `*` says “this command, with whatever arguments”. For these it would mean “any command at
//! all”, so no such rule ever fits them: only a rule of exactly their words does. What else a command does inside
//! (a Makefile's recipes, a script of its own) is bounded by the sandbox, as with any command.

use super::interpreters::runs_code;
use super::{Simple, Word};
use crate::pattern::base;

/// Always: their arguments are commands or code for the shell, or change how the commands behind them are found.
const ALWAYS: &[&str] = &[
    // Shells, and programs that are one.
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
    // Programs that run another in other circumstances.
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
    // Programs that hand a command to another place, or to another time.
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

/// Only with one of these arguments; an option, or what ends in `=`, only needs to begin so. A long option may be
/// shortened, as GNU's programs take it, and a letter stand among others behind one dash, but for [`UNBUNDLED`].
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
            // A list of files may hold options.
            "-T",
            "--files-from",
        ],
    ),
    ("test", &["-v", "-R"]),
    ("wait", &["-p"]),
    ("zip", &["-TT", "--unzip-command"]),
];

/// Programs whose options of one letter stand alone.
const UNBUNDLED: [&str; 3] = ["[", "git", "test"];

/// Letters of git's that may stand among others behind one dash, with the command that has them. Elsewhere they are
/// harmless, and often used.
const BUNDLED: [(&str, char); 6] = [
    ("clone", 'u'),
    ("fetch", 'u'),
    ("grep", 'O'),
    ("ls-remote", 'u'),
    ("pull", 'u'),
    ("rebase", 'x'),
];

/// Whether this command runs, or may run, another that its words name, or code in them.
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

/// Whether a letter stands behind one dash, wherever, for a command of git's that has it.
fn is_bundled<'a>(words: impl Iterator<Item = &'a str>, command: &str, letter: char) -> bool {
    let (mut named, mut given) = (false, false);
    for word in words {
        named |= word == command;
        given |= word.starts_with('-') && !word.starts_with("--") && word.contains(letter);
    }
    named && given
}

/// `apart` says that letters do not stand together behind one dash.
fn is_argument(word: &str, argument: &str, apart: bool) -> bool {
    let open = argument.starts_with('-') || argument.ends_with('=');
    if open && word.starts_with(argument) || word == argument {
        return true;
    }
    if argument.starts_with("--") {
        let name = word.split('=').next().unwrap_or(word);
        // tar's `--file` is whole.
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
