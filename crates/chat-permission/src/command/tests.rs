//! Tests how commands are split, against real shells.

use super::*;

mod runners;
mod shells;

/// Each simple command as a line: words joined by `|`, those that are not fixed in angle brackets.
fn told(text: &str) -> Vec<String> {
    let word = |word: &Word| match word {
        Word::Literal(text) => text.clone(),
        Word::Other(text) => format!("<{text}>"),
    };
    parse(text)
        .unwrap_or_else(|error| panic!("{text}: {error}"))
        .iter()
        .map(|simple| {
            let mut parts: Vec<String> =
                simple.assignments.iter().map(|name| format!("{name}=")).collect();
            parts.extend(simple.words.iter().map(word));
            parts.extend(simple.redirects.iter().map(|redirect| {
                let sign = match redirect.kind {
                    RedirectKind::Read => "<",
                    RedirectKind::Write => ">",
                    RedirectKind::Text => "<<",
                };
                format!("{sign}{}", word(&redirect.target))
            }));
            parts.join("|")
        })
        .collect()
}

#[test]
fn every_part_of_a_compound_command_is_told() {
    for (text, expected) in [
        ("ls", &["ls"][..]),
        ("a && b || c; d & e | f |& g", &["a", "b", "c", "d", "e", "f", "g"]),
        ("a\nb\n", &["a", "b"]),
        ("(a; b)", &["a", "b"]),
        ("{ a; b; }", &["a", "b"]),
        ("! a", &["a"]),
        ("time a", &["a"]),
        ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
        ("while a; do b; done", &["a", "b"]),
        ("until a; do b; done", &["a", "b"]),
        ("for i in x y; do a; done", &["i=", "a"]),
        ("for i in $(a); do b; done", &["i=", "a", "b"]),
        ("case $(a) in x) b;; $(c)) d;; esac", &["a", "b", "c", "d"]),
        ("f() { a; }; f", &["a", "f"]),
        ("function f { a; }", &["a"]),
        ("coproc a", &["COPROC=", "a"]),
        ("a # b; c", &["a"]),
        ("a \\\n b", &["a|b"]),
        ("!(a)", &["a"]),
    ] {
        assert_eq!(told(text), expected, "{text}");
    }
}

#[test]
fn commands_in_words_are_told_before_their_word() {
    for (text, expected) in [
        ("a $(b c)", &["b|c", "a|<$(b c)>"][..]),
        ("a `b c`", &["b|c", "a|<`b c`>"]),
        ("a \"x $(b) y\"", &["b", "a|<\"x $(b) y\">"]),
        ("a \"`b`\"", &["b", "a|<\"`b`\">"]),
        ("a $(b $(c))", &["c", "b|<$(c)>", "a|<$(b $(c))>"]),
        ("a $((1 + $(b)))", &["b", "a|<$((1 + $(b)))>"]),
        ("a ${x:-$(b)}", &["b", "a|<${x:-$(b)}>"]),
        ("a \"${x:-`b`}\"", &["b", "a|<\"${x:-`b`}\">"]),
        ("a <(b)", &["b", "a|<<( b )>"]),
        ("a > >(b)", &["b", "a"]),
        ("$(a)", &["a", "<$(a)>"]),
        ("x=$(a) b", &["a", "x=|b"]),
        ("x[$(a)]=1", &["a", "x="]),
        ("x=($(a) b)", &["a", "x="]),
        ("(( $(a) ))", &["a", "<(($(a)))>"]),
        ("[[ -n $(a) && x == \"$(b)\" ]]", &["<[[ -n $(a) && x == \"$(b)\" ]]>", "a", "b"]),
        (
            "for ((i=$(a); i<1; i++)); do b; done",
            &["a", "<((i=$(a)))>", "<((i<1))>", "<((i++))>", "b"],
        ),
        ("a <<< $(b)", &["b", "a|<<<$(b)>"]),
        ("a <<E\n$(b) `c`\nE\n", &["b", "c", "a|<<<$(b) `c`\n>"]),
        ("a <<'E'\n$(b)\nE\n", &["a|<<$(b)\n"]),
        ("a <<-E\n\tx\n\tE\nb", &["a|<<x\n", "b"]),
        ("{ a; } > $(b)", &["a", "b", "><$(b)>"]),
    ] {
        let found = told(text);
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn the_text_of_a_word_is_without_its_quotation_marks() {
    for (text, expected) in [
        (r"l\s 'a b' \'c' d'", r"ls|a b|'c d"),
        (r#"a "b c" "\$x\"" "\n""#, r#"a|b c|$x"|\n"#),
        ("a \"b\\\nc\"", "a|bc"),
        ("a ''", "a|"),
        ("a --b=c HEAD~1 'stash@{0}' {}", "a|--b=c|HEAD~1|stash@{0}|{}"),
        ("a b=c", "a|b=c"),
        ("[ -f a ]", "[|-f|a|]"),
        ("a [b", "a|[b"),
        // What is known only when it runs.
        ("$a", "<$a>"),
        ("a ${b} $1 $? \"$c\"", "a|<${b}>|<$1>|<$?>|<\"$c\">"),
        ("a *.rs b? [c] [\"c\"]", "a|<*.rs>|<b?>|<[c]>|<[\"c\"]>"),
        ("a '*' \\* \"?\"", "a|*|*|?"),
        ("a {b,c} {1..9} x{d,e}", "a|<{b,c}>|<{1..9}>|<x{d,e}>"),
        ("{a}>b", "<{a}>|>b"),
        ("~/a ~b c=~/d", "<~/a>|<~b>|<c=~/d>"),
        ("a $'b' $\"c\"", "a|<$'b'>|<$\"c\">"),
        ("a $", "a|<$>"),
    ] {
        assert_eq!(told(text), [expected], "{text}");
    }
}

#[test]
fn redirects_are_told_by_what_they_open() {
    for (text, expected) in [
        ("a > b", "a|>b"),
        ("> b a", "a|>b"),
        ("a >> b 2> 'c d' < e", "a|>b|>c d|<e"),
        ("a >| b <> c", "a|>b|>c"),
        ("a &> b", "a|>b"),
        ("a &>> b", "a|>b"),
        ("a >& b", "a|>b"),
        ("a 2>&1 <&0 >&- 3>&2-", "a"),
        ("a > $b", "a|><$b>"),
        ("a <<< 'b'", "a|<<b"),
        ("> b", ">b"),
    ] {
        assert_eq!(told(text), [expected], "{text}");
    }
    assert_eq!(told("{ a; } > b"), ["a", ">b"]);
    assert_eq!(told("f() { a; } > b"), ["a", ">b"]);
    assert_eq!(told("if a; then b; fi < c"), ["a", "b", "<c"]);
}

#[test]
fn what_is_not_understood_is_not_guessed() {
    let syntax = [
        "'a",
        "\"a",
        "a `b",
        "a $(b",
        "a |",
        "a && ",
        "if a; then b",
        "(a",
        "a )",
        "a <<",
        "a ;; b",
        "fi",
        "a > ",
    ];
    for text in syntax {
        assert!(matches!(parse(text), Err(Unparsable::Syntax(_))), "{text}: {:?}", parse(text));
    }
    for text in ["a &>f b", "a&>>f b", "a &>f >g b", "a &>f b=c"] {
        assert_eq!(parse(text), Err(Unparsable::Unclear("&>".to_owned())), "{text}");
    }
    assert_eq!(told("a b &>f 2>&1"), ["a|b|>f"]);
    // Backslashes in backquotes hide what runs: bash takes this for `$(b)`.
    assert!(matches!(parse("a \"`echo \"\\$(b)\"`\""), Err(Unparsable::Unclear(_))));
    for text in ["", "  \n", "# a"] {
        assert_eq!(parse(text), Err(Unparsable::Empty), "{text}");
    }
    for (text, hidden) in [
        ("ls\u{a0}-l", 0xa0),
        ("ls\r", 0xd),
        ("a\u{202e}b", 0x202e),
        ("a\0b", 0),
        ("a\u{1b}[2K", 0x1b),
    ] {
        assert_eq!(parse(text), Err(Unparsable::Hidden(hidden)), "{text:?}");
    }
    assert_eq!(parse(&"a".repeat(LONGEST)).map(|found| found.len()), Ok(1));
    assert_eq!(parse(&"a".repeat(LONGEST + 1)), Err(Unparsable::TooLong));
}

#[test]
fn no_command_stops_or_ends_the_program() {
    let began = std::time::Instant::now();
    for unit in [
        "(",
        "((",
        "$(",
        "\"$(",
        "$((",
        "{ ",
        "${a:-",
        "\"${a:-\"",
        "`",
        "$[",
        "a[",
        "if a; then ",
        "! ",
        "while a; do ",
        "a=(",
        "f() { ",
        "<(",
        "case a in b) ",
        "(case a in b) ",
        "for ((",
    ] {
        for count in [2, 6, 12, 50, 100, 2_000] {
            let _ = parse(&unit.repeat(count));
            let _ = parse(&format!("{}')'\")\"", unit.repeat(count)));
        }
    }
    for text in [
        "~99999999999999999999999",
        "~+99999999999999999999999",
        "a 99999999999999999999>b",
        "${99999999999999999999}",
        "{1..99999999999999999999}",
        "a >&99999999999999999999",
    ] {
        let _ = parse(text);
    }
    // Exponential time would mean years.
    assert!(began.elapsed() < std::time::Duration::from_mins(1), "{:?}", began.elapsed());
    assert_eq!(parse(&"(".repeat(13)), Err(Unparsable::TooDeep));
    assert_eq!(parse(&"`a` ".repeat(7)), Err(Unparsable::TooDeep), "each may open another");
    // A sequence is not nested.
    assert_eq!(told(&"$(a) ".repeat(20)).iter().filter(|part| *part == "a").count(), 20);
    assert_eq!(parse(&"if a; then ".repeat(101)), Err(Unparsable::TooDeep));
    // A long sequence is not nested, either.
    assert_eq!(told(&"(a); ".repeat(40)).len(), 40);
    assert_eq!(told(&"echo \"$(a)\"; ".repeat(5)).len(), 10);
}

#[test]
fn a_command_that_changes_the_folder_is_known() {
    let moves = |text: &str| parse(text).unwrap().iter().any(super::changes_folder);
    for text in ["cd x", "pushd x", "popd", "$x y", "eval 'cd x'"] {
        assert!(moves(text), "{text}");
    }
    for text in ["ls", "cdx", "x=1", "> x", "python -c x", "sed 1e"] {
        assert!(!moves(text), "{text}");
    }
}
