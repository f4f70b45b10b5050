//! Tests that streaming gives the same result as parsing the whole text, and that its cost is
//! proportional to the text's length.

use proptest::prelude::*;

use super::*;
use crate::markdown::build::COUNTED;
use crate::markdown::{compact, parse};

/// How often each byte of a text may be parsed, on average, while it streams.
const MOST_READ: f64 = 20.0;

/// Streams a text in these pieces and compares after each one.
fn check<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Result<(), String> {
    check_pauses(pieces, |_| true)
}

/// Streams a text in these pieces and compares at pauses and at the end.
fn check_pauses<'a>(
    pieces: impl IntoIterator<Item = &'a str>,
    pauses: impl Fn(usize) -> bool,
) -> Result<(), String> {
    let mut stream = Stream::new();
    let mut shown: Vec<Rc<Block>> = Vec::new();
    let mut so_far = String::new();
    let mut pieces = pieces.into_iter().enumerate().peekable();
    while let Some((index, piece)) = pieces.next() {
        so_far.push_str(piece);
        stream.push(piece);
        if pieces.peek().is_some() && !pauses(index) {
            continue;
        }
        stream.settle();
        let whole = parse(&so_far);
        if stream.blocks() != whole {
            let (streamed, whole) = (compact(stream.blocks()), compact(&whole));
            return Err(format!("{so_far:?}\nstreamed:\n{streamed}\nwhole:\n{whole}"));
        }
        // A view that takes only the changes sees the same.
        let Some(place) = stream.take_changed() else {
            if shown != stream.blocks() {
                return Err(format!("{so_far:?}\nchanged unseen"));
            }
            continue;
        };
        for (at, block) in shown.iter().take(place.block).enumerate() {
            if *block != stream.blocks()[at] {
                return Err(format!("{so_far:?}\nblock {at} changed unseen, said {place:?}"));
            }
        }
        if place.item > 0 {
            let items = |block: Option<&Rc<Block>>| match block.map(|b| (**b).clone()) {
                Some(Block::List(list)) => list.items[..place.item].to_vec(),
                other => panic!("no list at {place:?}: {other:?}"),
            };
            if items(shown.get(place.block)) != items(stream.blocks().get(place.block)) {
                return Err(format!("{so_far:?}\nitems before {place:?} changed unseen"));
            }
        }
        shown = stream.blocks().to_vec();
    }
    Ok(())
}

fn letters(text: &str) -> Result<(), String> {
    let pieces: Vec<String> = text.chars().map(String::from).collect();
    check(pieces.iter().map(String::as_str))
}

#[test]
fn every_kind_of_block_agrees_letter_by_letter() {
    for text in [
        "para\n\nmore *em* text\nsetext\n---\n\n# head\n#no\n",
        "- a\n- b\n\n  c\n- d\n-\n---\n",
        "- a\n\n- b\n- c\n- d\n\n\npara",
        "- ```\n  x\n\n- ```\n  y\n- ```\n  z\n- w\n\n- v\n- u\n",
        "1. a\n   - b\n     - c\n2. d\n\n   e\n3. f\n4) g\n5) h\n",
        "```rust\nfn a() {}\n``` x\n  ```\n\n~~~\n```\n~~~~\nend",
        "> q\nlazy\n> - a\n> - b\n\n> r\n",
        "| a | b |\n|---|:-:|\n| 1 | 2 |\n| `x\\|y` | *z* |\n\nend",
        "[foo]: /url 'ti\ntle'\n[foo] and [bar]\n\n[bar]: <b> \"t\"\n[bar]: no\n",
        "[a] [b][] ![c][a]\n\n- [a]\n- [b]\n- [c]\n- d\n\n[A]: /1\n[ b ]: /2\n[c]: /3 (x)\n[a]: /4\n",
        "[a]: /x\n    lazy\n[b]: /y\n2. no\n\n    code\n\n    [c]: /z\n",
        "text[^1] and [^2]\n\n[^1]: note\n\n[^2]: other\nmore\n\nafter",
        "a\n<details>\n<summary>s</summary>\n\n- *b*\n\n```\nc\n```\n\n</details>\n\n[x]: /y\nd\n",
        "<div>\n*a*\n\n*b* <b>c</b>\n<!-- x\n\ny -->\nz",
        "a\r\nb\r\n\r\n```\r\nc\r\rd\r\n```\r",
        "$a*b*c$ costs $5 or $6\n\n$$\nx_1\n$$\n",
        "So \\(a_1\\) and\n\\[\nx = a \\\\\n+ b\n- c\n> 0\n\\]\nthen\n\n- \\[\n  y\n  \\]\n- b\n- c\n- d\n\nend",
        "\\[a] is no formula\n- item \\]\n\n\\[foo\n\nbar\n$$x\n# y\n```\n$$\n\nend\n",
        "> $$\n> x\n> $$\n> y\n\n\\begin{align}\na &= b \\\\\n&= c\n\\end{align}\nend\n",
        "- [ ] a\n- [x] b\n- [x]\n- [ ] c\n\n* x\n+ y\n",
        "> [!NOTE]\n> text\n\n> [!warning]\n>\n> - a\n> - b\n\n> [!no]\n\n> [!TIP] x\n",
        "> [foo]: /quoted\n\n[foo]\n\n- [foo]: /item\n- b\n- c\n- d [foo]\n",
    ] {
        letters(text).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

#[test]
fn ten_thousand_containers_are_no_danger() {
    for mark in [">", "- ", "*", "[", "**a *", "`"] {
        let text = mark.repeat(10_000);
        check([text.as_str(), "x\n"]).unwrap_or_else(|difference| panic!("{difference:.300}"));
    }
}

/// How many bytes are parsed per byte of this text, when it arrives in pieces as large as in a
/// frame.
fn cost(text: &str) -> f64 {
    let pieces = cut(text, &[160]);
    let before = COUNTED.get();
    let mut stream = Stream::new();
    for piece in &pieces {
        stream.push(piece);
    }
    stream.settle();
    let cost = (COUNTED.get() - before) as f64 / text.len() as f64;
    assert!(stream.blocks() == parse(text), "{text:.80}");
    cost
}

/// Texts of about this size that consist of one block, or nearly.
fn shapes(bytes: usize) -> Vec<(&'static str, String)> {
    let many = |line: &str| line.repeat(bytes / line.len());
    vec![
        ("paragraph", many("some *words* of `code` and **more** ")),
        ("lines", many("a line that goes [on](https://a.b)\n")),
        ("quotation", many("> a quoted line\n>\n")),
        ("lazy quotation", format!("> {}", many("a lazy line\n"))),
        ("item", format!("- {}", many("a line\n  of an item\n\n  "))),
        ("block in an item", format!("- a\n\n  ```\n{}", many("  a line of code\n\n"))),
        ("list in an item", format!("1. a\n{}", many("   - one\n     - two\n"))),
        ("items of code", many("- ```\n  x\n  ```\n")),
        ("list", many("- an item\n- another\n\n")),
        ("labels", format!("{}\n\n[a]: /b\n", many("- [a] item\n- [b] item\n"))),
        ("table", format!("| a | b |\n|---|---|\n{}", many("| one | *two* |\n"))),
        ("html", format!("<div>\n{}", many("some text\n"))),
        ("folded part", format!("<details>\n\n{}", many("a line\n\n- item\n\n"))),
        ("comment", format!("<!--\n{}", many("some text\n\n"))),
        ("indented code", many("    code\n\n")),
        ("fence", format!("```\n{}", many("code\n\n"))),
        ("indented fence", format!("  ```\n{}", many("  code\n\n"))),
        ("footnote", format!("[^1]: {}", many("a note\n\n    "))),
        ("formulas", many("\\[\nx = a \\\\\n+ b\n\\]\nand \\(a_1\\) or $b$ of it\n\n")),
        ("formulas in one block", many("\\[\nx = a\n\\]\nand \\(a_1\\) or $b$ of $5\n")),
        ("one formula", format!("\\[\n{}", many("x = a \\\\\n+ b\n"))),
        ("dollars", many("it costs $5 and $$6\n")),
        ("blank lines", format!("a\n{}b", many("\n"))),
        ("paragraphs", many(&format!("{}\n\n", "a sentence. ".repeat(120)))),
        ("sections", many("## Head\n\nA paragraph.\n\n- a\n- b\n\n```rs\nlet x;\n```\n\n")),
    ]
}

#[test]
fn reading_costs_in_proportion_to_the_length_whatever_the_shape() {
    for (name, text) in shapes(60_000) {
        let cost = cost(&text);
        // Where formulas are possible they are searched for first, which is another pass.
        let readings = if text.contains(['$', '\\']) { 2.0 } else { 1.0 };
        let most = readings * MOST_READ;
        assert!(cost <= most, "{name}: every byte was read {cost:.1} times");
    }
}

#[test]
fn long_blocks_agree_where_the_text_pauses() {
    for (name, text) in shapes(6_000) {
        let text = format!("{text}\n\nAnd more.\n\n[b]: /c\n");
        let pieces = cut(&text, &[7, 80, 23]);
        for pause in [5, 11, 1_000] {
            check_pauses(pieces.iter().map(String::as_str), |at| at % pause == 0)
                .unwrap_or_else(|difference| panic!("{name}: {difference:.3000}"));
        }
    }
}

#[test]
fn a_long_block_is_left_behind_at_once_when_another_begins() {
    for before in [
        "words of a paragraph ".repeat(400),
        "> quoted\n".repeat(800),
        format!("- {}", "item ".repeat(2_000)),
    ] {
        let mut stream = Stream::new();
        for piece in cut(&before, &[160]) {
            stream.push(&piece);
        }
        for piece in ["\n", "\nNex", "t line", "\n"] {
            stream.push(piece);
        }
        assert_eq!(stream.unread(), "", "{before:.20}");
        assert_eq!(stream.finished().block, 1, "{before:.20}");
        assert_eq!(compact(&stream.blocks()[1..]), compact(&parse("Next line\n")));
    }
}

/// Text that models write, and text that trips parsers.
fn fragment() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "\n",
        "\n\n",
        "\n\n\n",
        "# ",
        "## Head\n",
        "- ",
        "* ",
        "+ ",
        "1. ",
        "2) ",
        "\n- ",
        "\n- item",
        "\n1. one",
        "\n\n  in item",
        "\n    ",
        "    ",
        "  ",
        " ",
        "\t",
        "> ",
        "\n> ",
        "\n> [!NOTE]\n",
        "[!TIP]",
        "```",
        "\n```\n",
        "\n```rust\n",
        "~~~\n",
        "\n  ```\n",
        "---",
        "\n---\n",
        "***",
        "\n===\n",
        "*",
        "**",
        "_",
        "`",
        "``",
        "~~",
        "~",
        "[",
        "]",
        "(",
        ")",
        "](/url)",
        "[foo]",
        "[bar][foo]",
        "![pic][foo]",
        "\n[foo]: /url",
        "\n[foo]: <a b> 'title'\n",
        "\n[bar]: /bar\n",
        "\"title",
        "\"\n",
        "[^1]",
        "\n[^1]: note",
        "| a | b |\n",
        "|---|---|\n",
        "|",
        "\n| c | d |",
        "\n<details>\n<summary>s</summary>\n\n",
        "\n\n</details>\n\n",
        "<div>\n",
        "</div>\n\n",
        "<b>",
        "<!--",
        "-->",
        "<http://a.b>",
        "\\",
        "&amp;",
        "&",
        "!",
        "$",
        "$x$",
        "$$",
        "\n$$\n",
        "\\(",
        "\\)",
        "\n\\[\n",
        "\\]",
        "\n\\begin{a}",
        "\\end{a}",
        "[ ] ",
        "[x] ",
        "\r\n",
        "\r",
        "word",
        "two words",
        "ä",
        "漢",
        "🙂",
        "\u{0}",
        "\u{A0}",
        "- - ",
        "-\n",
        "1.\n",
        ":",
        "#",
    ]);
    prop_oneof![12 => fixed.prop_map(str::to_owned), 1 => "[a-c \\n*_`>-]{0,12}"]
}

/// Cuts a text into pieces.
fn cut(text: &str, sizes: &[usize]) -> Vec<String> {
    let mut rest = text;
    let mut out = Vec::new();
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let size = *sizes.next().unwrap_or(&1);
        let at = rest.char_indices().nth(size).map_or(rest.len(), |(at, _)| at);
        out.push(rest[..at].to_owned());
        rest = &rest[at..];
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn streamed_blocks_equal_whole_ones_at_every_boundary(
        fragments in prop::collection::vec(fragment(), 1..40),
        sizes in prop::collection::vec(1..25_usize, 1..8),
    ) {
        let text = fragments.concat();
        let pieces = cut(&text, &sizes);
        check(pieces.iter().map(String::as_str)).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn lagging_blocks_equal_whole_ones_where_the_text_pauses(
        fragments in prop::collection::vec(fragment(), 1..40),
        beginning in prop::sample::select(vec!["", "> ", "- ", "1. ", "|a|\n|-|\n", "<div>", "    "]),
        sizes in prop::collection::vec(1..25_usize, 1..8),
        pause in 2..20_usize,
    ) {
        // Longer than what is always parsed at once.
        let text = format!("{beginning}{}{}", "long words ".repeat(SHORT / 10), fragments.concat());
        let pieces = cut(&text, &sizes);
        check_pauses(pieces.iter().map(String::as_str), |at| at % pause == 0)
            .map_err(TestCaseError::fail)?;
    }
}
