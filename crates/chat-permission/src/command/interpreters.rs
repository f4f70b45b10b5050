//! Lists programs whose arguments or input are code: their input is as powerful as a command.

use super::{Simple, Word, hands_over};
use crate::pattern::base;

/// Interpreters that read a program from their input if no file is named, with the option letters
/// that are followed by a program as an argument.
const INTERPRETERS: &[(&str, &[char])] = &[
    ("bun", &['e', 'p']),
    ("deno", &[]),
    ("guile", &['c']),
    ("julia", &['e', 'E']),
    ("lua", &['e']),
    ("luajit", &['e']),
    ("node", &['e', 'p', 'r']),
    ("nodejs", &['e', 'p', 'r']),
    ("perl", &['e', 'E', 'd', 'm', 'M']),
    ("php", &['r', 'B', 'R', 'E', 'd']),
    ("pypy", &['c']),
    ("python", &['c']),
    ("R", &['e']),
    ("Rscript", &['e']),
    ("ruby", &['e', 'r']),
    ("tclsh", &[]),
];

/// Long options and subcommands that are followed by a program.
const PROGRAM_FOLLOWS: &[&str] =
    &["--eval", "--print", "--expr", "--import", "--require", "--run", "eval", "repl"];

/// Programs whose language can run system commands anywhere, and editors.
const ALWAYS: &[&str] = &[
    "dc",
    "ed",
    "emacs",
    "emacsclient",
    "ex",
    "gnuplot",
    "m4",
    "mysql",
    "nano",
    "nvim",
    "octave",
    "psql",
    "rvim",
    "sqlite3",
    "vi",
    "view",
    "vim",
    "vimdiff",
];

/// Programs that read their instructions from a file, which may be their input.
const RECIPES: [&str; 5] = ["bmake", "gmake", "just", "make", "ninja"];

/// Whether arguments of this command are a program that may run others.
pub(super) fn runs_code(command: &Simple) -> bool {
    let Some(Word::Literal(name)) = command.words.first() else {
        return false;
    };
    let name = base(name);
    let words = || command.words.iter().skip(1).map(Word::as_written);
    match name {
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => words().any(awk_may_run),
        "sed" | "gsed" => !words().any(|word| word == "--sandbox") && sed_may_run(words()),
        _ if ALWAYS.contains(&name) => true,
        _ => interpreter(name).is_some_and(|letters| {
            words().any(|word| {
                let option = word.split('=').next().unwrap_or(word);
                let long = PROGRAM_FOLLOWS.iter().any(|follows| {
                    *follows == option
                        || option.len() > 2
                            && option.starts_with("--")
                            && follows.starts_with(option)
                });
                long || word.starts_with('-') && !word.starts_with("--") && word.contains(letters)
            })
        }),
    }
}

/// Whether this command may run what is in its input, so that its words do not tell what it does.
pub(crate) fn reads_code(command: &Simple) -> bool {
    let Some(Word::Literal(name)) = command.words.first() else {
        return false;
    };
    if !command.fed {
        return false;
    }
    let name = base(name);
    let words = || command.words.iter().skip(1).map(Word::as_written);
    if RECIPES.contains(&name) {
        return words().any(|word| is_input(word) || word.ends_with('-'));
    }
    let names_file =
        words().next().is_some_and(|word| !word.starts_with('-')) && !words().any(is_input);
    interpreter(name).is_some() && !names_file || hands_over(command)
}

/// The option letters of an interpreter; `python3.12` counts as `python`.
fn interpreter(name: &str) -> Option<&'static [char]> {
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    INTERPRETERS.iter().find(|(of, _)| *of == name).map(|(_, letters)| *letters)
}

/// Names under which a program can open its input.
fn is_input(word: &str) -> bool {
    word == "-"
        || ["/dev/stdin", "/dev/fd/", "/proc/self/fd/"].iter().any(|name| word.contains(name))
}

/// Every way to run a command in awk's language needs one of these letters or words, wherever it
/// is. Programs in files and libraries are not read.
fn awk_may_run(word: &str) -> bool {
    let option = word.starts_with("--")
        || word.starts_with('-') && word.contains(['f', 'i', 'l', 'E', 'D', 'W']);
    option || word.contains(['|', '@']) || word.contains("system") || word.contains("getline")
}

/// Whether a sed program does more than print or delete lines and replace text: it may run
/// commands.
fn sed_may_run<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    // Whether the program was seen, and whether the next word is a program.
    let (mut given, mut awaited) = (false, false);
    for word in words {
        match word {
            _ if awaited || !given && !word.starts_with('-') => {
                (given, awaited) = (true, false);
                if !is_plain_sed(word) {
                    return true;
                }
            }
            "-e" => awaited = true,
            "-n" | "-E" | "-r" | "-i" | "-s" | "-u" | "-z" => {}
            _ if word.starts_with('-') => return true,
            // A file name.
            _ => {}
        }
    }
    false
}

/// `10,20p`, `$d`, `s/a/b/g`.
fn is_plain_sed(program: &str) -> bool {
    let command = program
        .trim_start_matches(|letter: char| letter.is_ascii_digit() || "$,~+".contains(letter));
    if matches!(command, "p" | "d" | "q" | "=") {
        return true;
    }
    let Some(rest) = command.strip_prefix('s') else {
        return false;
    };
    let mut letters = rest.chars();
    let Some(border) =
        letters.next().filter(char::is_ascii_punctuation).filter(|&letter| letter != '\\')
    else {
        return false;
    };
    let mut borders = 0;
    while borders < 2 {
        match letters.next() {
            Some('\\') => drop(letters.next()),
            Some(letter) if letter == border => borders += 1,
            // In brackets the delimiter may be an ordinary letter, which not every sed treats
            // alike.
            Some('[' | '\n') | None => return false,
            Some(_) => {}
        }
    }
    letters.all(|flag| "gpiI".contains(flag) || flag.is_ascii_digit())
}
