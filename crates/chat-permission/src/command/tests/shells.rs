//! Runs random commands in the real shells, where every name is a probe that records how it was
//! called. Everything that ran must have been reported by the parser, and each file that was
//! created must be in a reported redirect.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::super::*;

/// The pieces of random commands. Few names and much grammar, since parsers differ at boundaries.
const PIECES: &[&str] = &[
    "pa",
    "pb",
    "pc",
    "pa x",
    "pb 'y z'",
    "pc \"w\"",
    " ",
    " ",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "(",
    ")",
    "{ ",
    "; }",
    "$(",
    "`",
    "\"",
    "'",
    "\\",
    "\\\n",
    "#",
    " # ",
    "$x",
    "${x}",
    "${x:-pb}",
    "x=1 ",
    "x=",
    "> f1",
    ">f2",
    "2>&1",
    ">&f3",
    "&>f4",
    "< f0",
    "<<E\npa\nE\n",
    "<<'E'\n$(pb)\nE\n",
    "<<E\n$(pb)\nE\n",
    "<<E\n",
    "\nE\n",
    "<<-E ",
    "<<\"E\"\n",
    "<<'E'\n",
    "E",
    "<< pa",
    "$(pb # \"\n)",
    "((pa); pa)",
    "$((pa); pa)",
    "$(((pa); pa)",
    "$(pa <<'E'\n",
    "$[",
    "$'a\\'",
    " \\\n ",
    "\\\n ",
    "$\\",
    "<<< pa",
    "if ",
    "; then ",
    "; fi",
    "else ",
    "while ",
    "; do ",
    "; done",
    "for i in ",
    "case x in x) ",
    ";; esac",
    "!",
    "! ",
    "time ",
    "{pa,pb}",
    "*",
    "~",
    "$'p\\x61'",
    "$\"pa\"",
    "[[ ",
    " ]]",
    "((",
    "))",
    "$((",
    "1+1",
    "function f ",
    "f() ",
    "f",
    "-x",
    "=",
    "@(",
    "!(",
    "é",
    "\t",
    "<(",
    ">(",
    "|&",
    "$",
    "{",
    "}",
    "p\\a",
    "'p'a",
];

/// The words with which each probe was called, in the order of the calls.
fn called(shell: &str, text: &str, folder: &Path) -> Vec<Vec<String>> {
    let probes = folder.join("bin");
    fs::create_dir(&probes).unwrap();
    let log = folder.join("log");
    for name in ["pa", "pb", "pc"] {
        // One line per call; no word contains a line break that matters here, since `%q` is not
        // available everywhere. It is written in one piece, because others write to the same pipe.
        let script = format!(
            "#!/bin/sh\ncall=$(printf '%s\\001' \"${{0##*/}}\" \"$@\")\nprintf '%s\\002' \"$call\" >> '{}'\n",
            log.display()
        );
        fs::write(probes.join(name), script).unwrap();
        fs::set_permissions(probes.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let work = folder.join("work");
    fs::create_dir(&work).unwrap();
    fs::write(work.join("f0"), "").unwrap();
    // Background commands hold the pipe open, so reading to its end waits for all of them.
    Command::new("/usr/bin/timeout")
        .args(["--kill-after=1", "5", shell, "-c", text])
        .current_dir(&work)
        .env_clear()
        .env("PATH", &probes)
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let log = fs::read_to_string(log).unwrap_or_default();
    log.split_terminator('\u{2}')
        .map(|call| call.split_terminator('\u{1}').map(str::to_owned).collect())
        .collect()
}

/// Whether a call is among the reported ones.
fn was_told(told: &[Simple], call: &[String]) -> bool {
    let fits = |words: &[Word]| {
        let known = words.iter().take_while(|word| word.literal().is_some()).count();
        let fits = words[..known].iter().zip(call).all(|(word, said)| word.literal() == Some(said));
        let open = known < words.len();
        fits && if open { call.len() >= known } else { call.len() == known }
    };
    told.iter().any(|simple| {
        // After a `!` it is reported as a command that runs another one; bash measures time there,
        // too.
        let timed = simple.words.first().and_then(Word::literal) == Some("time");
        fits(&simple.words) || timed && fits(&simple.words[1..])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_a_shell_runs_was_told(pieces in prop::collection::vec(prop::sample::select(PIECES), 1..9), dash in any::<bool>()) {
        let text = pieces.concat();
        let Ok(told) = parse(&text) else { return Ok(()) };
        let folder = tempfile::tempdir().unwrap();
        let shell = if dash { "/bin/dash" } else { "/bin/bash" };
        for call in called(shell, &text, folder.path()) {
            prop_assert!(was_told(&told, &call), "{shell} ran {call:?} of {text:?}, told: {told:?}");
        }
        for file in fs::read_dir(folder.path().join("work")).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            let written = told.iter().flat_map(|simple| &simple.redirects).any(|redirect| {
                redirect.kind == RedirectKind::Write && redirect.target.literal().is_none_or(|target| target == name)
            });
            // Arithmetic to bash, two subshells to dash: it is reported as unknown, which no rule
            // allows.
            let unknown = told.iter().filter_map(|simple| simple.words.first()).any(|word| word.literal().is_none() && word.as_written().starts_with("(("));
            prop_assert!(name == "f0" || written || unknown, "{shell} wrote {name:?} for {text:?}, told: {told:?}");
        }
    }
}

#[test]
fn the_probes_see_what_a_shell_runs() {
    for shell in ["/bin/bash", "/bin/dash"] {
        let folder = tempfile::tempdir().unwrap();
        let calls = called(shell, "pa 'x y' && pb | pc; $(echo pa) z & > f1", folder.path());
        let mut calls: Vec<_> = calls.iter().map(|call| call.join(",")).collect();
        calls.sort();
        assert_eq!(calls, ["pa,x y", "pa,z", "pb", "pc"], "{shell}");
        assert!(folder.path().join("work/f1").exists());
        assert!(!was_told(&parse("pa x").unwrap(), &["pa".to_owned()]));
        assert!(was_told(&parse("pa $x").unwrap(), &["pa".to_owned()]));
    }
}

#[test]
fn a_name_that_is_read_twice_is_not_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let quoted = "pa >&'$(pb)'";
    let ran = called("/bin/bash", quoted, folder.path());
    assert!(ran.contains(&vec!["pb".to_owned()]), "bash runs what is quoted: {ran:?}");
    for text in [quoted, "pa >&$x", "pa >&'a b'", "pa >&~", "pa >&'*'"] {
        assert!(matches!(parse(text), Err(Unparsable::Unclear(_))), "{text}");
    }
    for text in ["pa >&2", "pa 2>&1", "pa >&-", "pa >&out.log", "pa >'$(pb)'"] {
        assert!(parse(text).is_ok(), "{text}");
    }
}

#[test]
fn a_substitution_that_is_part_of_a_word_is_not_guessed() {
    for text in [
        "pa x<(pb)",
        "pa --from=<(pb)",
        "pa 'x '<(pb)",
        "pa x\\ <(pb)",
        "pa x\\\n<(pb)",
        "pa {x}>(pb)",
    ] {
        assert!(matches!(parse(text), Err(Unparsable::Unclear(_))), "{text}");
    }
    assert_eq!(
        parse("pa x\u{e9}<(pb)"),
        Err(Unparsable::Unclear("\u{e9}<(".to_owned())),
        "what is shown"
    );
    for text in ["pa x <(pb)", "pa <(pb) >(pc)", "pa < <(pb)"] {
        assert!(parse(text).is_ok(), "{text}");
    }
}

/// The only shell that parses something this way.
enum Only {
    None,
    Bash,
    Dash,
}

#[test]
fn a_text_in_which_a_shell_sees_a_command_is_not_guessed() {
    for (text, only) in [
        // A line that continues in the next one, where the parser sees two.
        ("pa <<E\n$\\\n(pb)\nE\n", Only::None),
        ("pa \"$\\\n(pb; echo \" a \")\"", Only::None),
        ("pa <<EOF\nEO\\\nF\npb\nEOF\n", Only::Bash),
        ("pa <<\\\n-E\nE\npb\n-E\n", Only::None),
        ("pa <<E\n \\\nE\n: '\nE\npb\n: '\n", Only::None),
        ("pa x\\\n#; pb", Only::None),
        // A substitution that the parser does not understand.
        ("pa <<E\n$(pb # \"\n)\nE\n", Only::None),
        ("pa <<E\n${x:-$(pb # \"\n)}\nE\n", Only::None),
        ("pa $'a\\'; pb #'", Only::Dash),
        ("pa $[ ; pb ]", Only::Dash),
        // A tag that ends the text elsewhere.
        ("pa $(pa <<'E'\n'\nE); pb '\nE\n) # '", Only::Bash),
        ("pa <(pa <<'E'\nE); pb '\nE\n) # '", Only::Bash),
        ("pa $(((pa); pa); pa <<E\nx '\nE\npb \"'\" # \"\n)", Only::Bash),
        ("pa <<\"E\\x\"\nE\\x\npb\nEx\n", Only::None),
        ("pa <<'a\"b'\na\"b\npb\nab\n", Only::None),
        ("pa <<$'E'\nE\npb\n$E\n", Only::Bash),
        // Text like arithmetic makes the parser take words for a here-document.
        ("((pa); pa); pa <<true && pb\ntrue\n", Only::None),
        ("((pa); pa); pa <<pc pb\npc\n", Only::None),
        ("pa <<< x; ((pa); pa); pa <<true && pb\ntrue\n", Only::Bash),
        ("pa \\\\\n pb", Only::None),
    ] {
        let shells: &[&str] = match only {
            Only::None => &["/bin/bash", "/bin/dash"],
            Only::Bash => &["/bin/bash"],
            Only::Dash => &["/bin/dash"],
        };
        for shell in shells {
            let folder = tempfile::tempdir().unwrap();
            let calls = called(shell, text, folder.path());
            let ran = calls.iter().flatten().any(|word| word == "pb");
            assert!(ran, "{shell} does not run it: {text:?}: {calls:?}");
        }
        assert!(matches!(parse(text), Err(Unparsable::Unclear(_))), "{text:?}: {:?}", parse(text));
    }
}

#[test]
fn texts_that_every_shell_reads_alike_are_clear() {
    for text in [
        "pa <<E\nfive $, $ and $\nE\n",
        "pa <<E\n$x ${x} $(pb)\nE\n",
        "pa <<\"E\"\n$(pb)\nE\n",
        "pa <<\\E\n$(pb)\nE\n",
        "pa <<-E\n\tx\n\tE\n",
        "pa <<E_1 > f1\n\nE_1\n",
        "pa <<E\nE\n",
        "pa <<E\nNE x\nE\n",
        "pa $'a\\n' $((1 + 1))",
        "pa <<A <<B\na\nA\nb\nB\n",
        "pa 'x$' \"x$\" \"$x\" \"\\$(pb)\"",
        "pa x \\\n  y",
        "((1 + 1)); pa $((1 + 1))",
        "pa <<< $((1 + 1))",
        "pa $((1 << 20))",
        "pa > f1 <<'E'\nprint((1, 2))\nE\n",
        "pa <<'E'\nRUN x && \\\n  y\nE\n",
        "pa \\\n -d @- <<'E'\nx\nE\n",
        "pa &&\\\n  pb",
        "pa --a=b\\\n  --c",
        "pa \"a$\\|b\" \"5$\\n\"",
    ] {
        assert!(parse(text).is_ok(), "{text:?}: {:?}", parse(text));
    }
}
