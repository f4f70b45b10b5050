//! Streaming and whole reading agree, and streaming costs no more for a long text than for a short.

use proptest::prelude::*;

use super::*;
use crate::markdown::{compact, parse};

/// Streams a text in these pieces and compares at every boundary.
fn check<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Result<(), String> {
    let mut stream = Stream::new();
    let mut shown: Vec<Rc<Block>> = Vec::new();
    let mut so_far = String::new();
    for piece in pieces {
        so_far.push_str(piece);
        stream.push(piece);
        let whole = parse(&so_far);
        if stream.blocks() != whole {
            let (streamed, whole) = (compact(stream.blocks()), compact(&whole));
            return Err(format!("{so_far:?}\nstreamed:\n{streamed}\nwhole:\n{whole}"));
        }
        // Who takes only what changed sees the same.
        let place = stream.take_changed();
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
        "<div>\n*a*\n\n*b* <b>c</b>\n<!-- x\n\ny -->\nz",
        "a\r\nb\r\n\r\n```\r\nc\r\rd\r\n```\r",
        "$a*b*c$ costs $5 or $6\n\n$$\nx_1\n$$\n",
        "- [ ] a\n- [x] b\n- [x]\n- [ ] c\n\n* x\n+ y\n",
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

/// What models write, and what trips parsers.
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

/// Where a text is cut.
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
}
