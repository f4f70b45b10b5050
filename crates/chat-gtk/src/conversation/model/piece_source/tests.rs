//! Tests that what is written as Markdown reads as the same pieces.

use super::*;
use crate::markdown::flow::block_pieces;
use crate::markdown::parse;

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for block in &parse(text) {
        block_pieces(block, &mut pieces);
    }
    pieces
}

fn written(pieces: &[Piece]) -> String {
    let mut out = Blocks::default();
    push_source(&mut out, pieces, &(0..usize::MAX), false);
    out.into_text()
}

#[test]
fn what_is_written_reads_as_the_same_pieces() {
    for text in [
        "# One\n\nwords\n\n### Two *three*",
        "- a\n- b\n\n  below b\n- c",
        "- [x] done\n- [ ] open\n  1. one\n  2. two\n     - three",
        "10. ten\n11. eleven\n\n    ```rust\n    fn a() {}\n    ```\n12. twelve",
        "> one\n> two\n>\n> three\n> > deeper",
        "> - in a quote\n> - second",
        "````\n```\ninside\n```\n````",
        "```\n\n  first line empty\n\n\nend\n```",
        "| A | B |\n|---|:-:|\n| a\\|b | `c` |\n| d | |",
        "$$\nx_1 + \\\\\ny\n$$\n\nand \\(a*b\\) inside",
        "before\n\n---\n\nafter",
        "1\\. no list\n\n\\- neither\n\n\\# no head\n\n\\> no quote\n\n\\+ x\n\n\\---",
        "first line\nsecond line\n2\\. third",
        "<div>\n  block\n</div>",
        "> [!WARNING]\n> Mind the gap.\n>\n> Twice.",
        "a[^1]\n\n[^1]: The note.",
        "<details>\n<summary>More</summary>\n\ninside *it*\n\n</details>\n\nafter",
    ] {
        let before = pieces(text);
        let text = written(&before);
        assert_eq!(pieces(&text), before, "{text}");
    }
}

#[test]
fn what_is_short_stays_as_it_was() {
    for text in ["a list:\n\n- one\n- two\n  - three", "> quoted\n>\n> twice", "1. a\n2. b"] {
        assert_eq!(written(&pieces(text)), text);
    }
}

#[test]
fn a_list_that_begins_within_an_item_is_no_code() {
    let all = pieces("- first\n  - second\n\n    below\n  - third");
    let from = |start| {
        let mut out = Blocks::default();
        push_source(&mut out, &all, &(start..usize::MAX), false);
        out.into_text()
    };
    // The bullet of the first item and the tab are two letters.
    assert_eq!(from(2), "first\n- second\n\n  below\n- third");
}
