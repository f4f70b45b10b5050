//! Tests text that grows, and what is shown of it meanwhile.

use super::*;

fn whole(text: &str) -> ReplyText {
    let mut reply = ReplyText::default();
    reply.push(text);
    reply.update();
    reply
}

/// What the lines say, without styles and line ends.
fn words(reply: &ReplyText) -> String {
    let mut out = String::new();
    for piece in &reply.pieces {
        match piece {
            Piece::Line(line) => out.extend(line.runs.iter().map(|run| run.text.as_str())),
            Piece::Code(code) => out.push_str(&code.text),
            _ => {}
        }
        out.push(' ');
    }
    out.split_whitespace().collect()
}

#[test]
fn all_words_are_shown_at_once_though_a_long_block_is_read_later() {
    for text in [
        "a word ".repeat(8_000),
        "> a word\n".repeat(6_000),
        format!("- {}", "a word\n\n  ".repeat(5_000)),
        format!("- a\n\n  ```\n{}", "  a word\n".repeat(5_000)),
    ] {
        let mut reply = ReplyText::default();
        let mut behind = 0;
        let mut said = 0;
        let mut end = 0;
        while end < text.len() {
            let start = end;
            end = text.ceil_char_boundary(end + 160);
            reply.push(&text[start..end]);
            reply.update();
            behind += usize::from(!reply.is_settled());
            let words = words(&reply).matches("word").count();
            // Of the word at the end only the beginning may be there.
            assert!(words + 1 >= text[..end].matches("word").count(), "{words} at {end}");
            assert!(words >= said);
            said = words;
            for at in 0..reply.segments().len() {
                assert!(reply.pieces(at).iter().map(size_of).sum::<usize>() <= 17_000);
            }
        }
        assert!(behind > 20, "only {behind} frames were spared");
        // Two frames without text: all is as it has to be.
        reply.push(" **end**");
        reply.update();
        for _ in 0..PAUSE {
            reply.update();
        }
        assert!(reply.is_settled());
        let whole = whole(&format!("{text} **end**"));
        assert!(reply.pieces == whole.pieces && reply.segments == whole.segments);
    }
}

#[test]
fn rows_are_told_as_changed_when_plain_text_becomes_what_it_is() {
    let mut reply = whole(&"a word ".repeat(1_000));
    let shown: Vec<Vec<Piece>> =
        (0..reply.segments().len()).map(|at| reply.pieces(at).to_vec()).collect();
    reply.push("and *emphasis* that ends");
    let lagging = reply.update();
    assert!(!reply.is_settled());
    assert!(shown[..lagging].iter().enumerate().all(|(at, old)| reply.pieces(at) == old));
    assert!(words(&reply).ends_with("and*emphasis*thatends"));
    assert_eq!(reply.update(), reply.segments().len());
    let settled = reply.update();
    assert!(settled < reply.segments().len());
    assert!(shown[..settled].iter().enumerate().all(|(at, old)| reply.pieces(at) == old));
    assert!(words(&reply).ends_with("andemphasisthatends"));
}

#[test]
fn segments_of_a_growing_text_equal_those_of_the_whole() {
    let text = "# Head\n\nSome *text*\n\n- a\n- b\n  ```rs\n  x\n  ```\n- c\n- d\n\n> quoted\n\n\
                | a |\n|---|\n| b |\n\nmore\n\n---\n\n1. one\n2. two\n3. three\n4. four\n\nend";
    let mut reply = ReplyText::default();
    let mut so_far = String::new();
    for letter in text.chars() {
        so_far.push(letter);
        reply.push(letter.encode_utf8(&mut [0; 4]));
        reply.update();
        let whole = whole(&so_far);
        assert_eq!(reply.segments, whole.segments, "{so_far:?}");
        assert_eq!(reply.pieces, whole.pieces, "{so_far:?}");
    }
}

#[test]
fn what_is_above_the_change_is_not_told_as_changed() {
    let mut reply = whole(&"A paragraph of some length.\n\n".repeat(300));
    let segments = reply.segments().len();
    assert!(segments > 2);
    reply.push("more");
    assert!(reply.update() >= segments - 1);
}

#[test]
fn nothing_is_shown_for_a_moment_that_it_is_not() {
    let text =
        "Text\n- item\n- ```rust\n  code\n  ```\n\nMore\n```sh\nls\n```\n**end**\n\nx\n1. ~~~\n";
    let mut reply = ReplyText::default();
    for letter in text.chars() {
        reply.push(letter.encode_utf8(&mut [0; 4]));
        reply.update();
        for piece in &reply.pieces {
            match piece {
                Piece::Line(line) => {
                    let words: String = line.runs.iter().map(|run| &*run.text).collect();
                    assert!(line.heading == 0, "{words:?} is no heading");
                    assert!(!words.contains(['`', '~']), "{words:?}");
                }
                Piece::Code(code) => assert!(!code.text.contains('`'), "{:?}", code.text),
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(reply.is_settled());
    // Where no more comes it is what it is.
    let mut reply = whole("Text\n---");
    assert_eq!(words(&reply), "Text");
    assert!(reply.is_settled());
    reply.end();
    reply.update();
    assert!(matches!(reply.pieces(0), [Piece::Line(line)] if line.heading == 2));
    assert_eq!(whole("``").pieces, []);
}

#[test]
fn a_paragraph_of_4000_characters_is_one_line() {
    let reply = whole(&"Some words of it. ".repeat(300));
    assert_eq!(reply.pieces.len(), 1);
    let poem = whole(&"A line of a poem\n".repeat(2_000));
    assert!(poem.pieces.len() > 1);
    assert!(
        poem.pieces.iter().all(|piece| size_of(piece) % "A line of a poem\u{2028}".len() == 16)
    );
}

#[test]
fn a_huge_paragraph_is_parted() {
    let reply = whole(&"word ".repeat(10_000));
    assert!(reply.segments().len() > 2);
    for at in 0..reply.segments().len() {
        assert!(reply.pieces(at).iter().map(size_of).sum::<usize>() <= 17_000);
    }
}

/// A text of every kind of block, with a link whose address comes last.
const MIXED: &str = "# Head\n\nSome *text* and [a link][one]\r\n\r\n- a\n- b\n  ```rs\n  x\n  ```\n- c\n- d\n\n\
                     > quoted\n\n| a |\n|---|\n| b |\n\nmore\n\n---\n\n1. one\n2. two\n3. three\n4. four\n\n\
                     [one]: https://example.org\n\nend\n---";

/// The text as it has ended, and what it showed right before.
fn ended(text: &str) -> (ReplyText, Vec<Segment>, Vec<Piece>) {
    let mut reply = ReplyText::default();
    let mut end = 0;
    while end < text.len() {
        let start = end;
        end = text.ceil_char_boundary(text.len().min(end + 7));
        reply.push(&text[start..end]);
        reply.update();
    }
    reply.end();
    while !reply.is_settled() {
        reply.read();
    }
    let shown = (reply.segments.clone(), reply.pieces.clone());
    reply.update();
    (reply, shown.0, shown.1)
}

fn all_pieces(reply: &ReplyText) -> Vec<Piece> {
    (0..reply.segments().len()).flat_map(|at| reply.pieces(at).to_vec()).collect()
}

#[test]
fn a_text_that_has_ended_shows_the_same_when_it_is_read_again() {
    for text in [MIXED.to_owned(), "a word ".repeat(8_000), "- a\n".repeat(200), String::new()] {
        let (mut reply, segments, pieces) = ended(&text);
        assert_eq!(reply.segments(), segments);
        assert!(all_pieces(&reply) == pieces);
        reply.forget_pieces();
        assert!(!reply.has_pieces());
        assert_eq!(reply.segments(), segments);
        assert!(all_pieces(&reply) == pieces, "read again");
        assert_eq!(reply.has_pieces(), !text.is_empty());
        let mut source = String::new();
        reply.add_source(&mut source);
        assert_eq!(source, text.replace("\r\n", "\n"));
        assert_eq!(reply.len(), text.len());
    }
}

#[test]
fn text_that_comes_behind_the_end_is_shown() {
    let (mut reply, segments, _) = ended(MIXED);
    reply.forget_pieces();
    let revision = reply.revision(0);
    reply.push("\n\nand *more*");
    // Until the next update there is nothing that could be wrong.
    assert_eq!(reply.segments(), segments);
    assert!(all_pieces(&reply).is_empty());
    reply.update();
    let (whole, ..) = ended(&format!("{MIXED}\n\nand *more*"));
    assert_eq!(reply.segments(), whole.segments());
    assert!(all_pieces(&reply) == all_pieces(&whole));
    assert!(reply.revision(0) > revision);
    assert_eq!(reply.len(), whole.len());
}

#[test]
fn text_that_goes_on_growing_is_not_forgotten() {
    let mut reply = whole(MIXED);
    reply.forget_pieces();
    assert!(reply.has_pieces());
}
