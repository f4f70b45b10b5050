//! Folds what stands between `<details>` and `</details>` into one block, as HTML means it. It is
//! read as Markdown by itself when it is opened.

use super::Top;
use crate::markdown::block::Block;

/// Folds top-level blocks of a source. Also gives where a part begins whose end may still come.
pub fn fold(tops: Vec<Top>, source: &str) -> (Vec<Top>, Option<usize>) {
    let begins =
        |top: &Top| matches!(&top.block, Block::Html(html) if tag(html.trim_start(), "<details"));
    if !tops.iter().any(begins) {
        return (tops, None);
    }
    let mut out: Vec<Top> = Vec::with_capacity(tops.len());
    let mut open: Option<(Top, usize)> = None;
    for top in tops {
        let Some((first, depth)) = &mut open else {
            if begins(&top) {
                open = close_or_keep(top, source, &mut out);
            } else {
                out.push(top);
            }
            continue;
        };
        first.range.end = first.range.end.max(top.range.end);
        first.end = first.end.max(top.end);
        first.labels.extend(top.labels);
        let change = change(&top.block);
        let depth = depth.saturating_add_signed(change);
        if let Some((mut first, _)) = open.take() {
            if depth == 0 {
                first.block = details(&source[first.range.clone()]);
                out.push(first);
            } else {
                open = Some((first, depth));
            }
        }
    }
    let Some((mut first, _)) = open else { return (out, None) };
    let start = first.range.start;
    first.range.end = source.len();
    first.block = details(&source[start..]);
    out.push(first);
    (out, Some(start))
}

/// Takes the first block of a part, which may be all of it.
fn close_or_keep(mut top: Top, source: &str, out: &mut Vec<Top>) -> Option<(Top, usize)> {
    let depth = 0_usize.saturating_add_signed(change(&top.block));
    if depth > 0 {
        return Some((top, depth));
    }
    top.block = details(&source[top.range.clone()]);
    out.push(top);
    None
}

/// How many parts begin in a block, less those that end.
fn change(block: &Block) -> isize {
    let Block::Html(html) = block else { return 0 };
    let count =
        |sign: &str| html.match_indices('<').filter(|(at, _)| tag(&html[*at..], sign)).count();
    count("<details") as isize - count("</details") as isize
}

/// Whether a text begins with this tag.
fn tag(text: &str, sign: &str) -> bool {
    let begins = text.get(..sign.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(sign));
    begins && !text[sign.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '-')
}

/// Where a tag begins, and where it ends.
fn find(text: &str, sign: &str) -> Option<(usize, usize)> {
    let (at, _) = text.match_indices('<').find(|(at, _)| tag(&text[*at..], sign))?;
    let end = text[at..].find('>').map_or(text.len(), |end| at + end + 1);
    Some((at, end))
}

/// Reads a part with its tags.
fn details(text: &str) -> Block {
    let (_, begin) = find(text, "<details").unwrap_or_default();
    let mut inside = &text[begin..];
    let mut summary = String::new();
    if let Some((at, from)) = find(inside, "<summary")
        && inside[..at].trim().is_empty()
    {
        let to = find(&inside[from..], "</summary")
            .map_or((inside.len(), inside.len()), |(at, end)| (from + at, from + end));
        summary = without_tags(&inside[from..to.0]);
        inside = &inside[to.1..];
    }
    let last = inside.rmatch_indices('<').find(|(at, _)| tag(&inside[*at..], "</details"));
    let mut source = inside.to_owned();
    if let Some((at, _)) = last {
        let end = inside[at..].find('>').map_or(inside.len(), |end| at + end + 1);
        source.replace_range(at..end, "");
    }
    Block::Details { summary, source: source.trim_matches('\n').to_owned() }
}

/// The text without tags, in one line.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_tag = false;
    for letter in text.chars() {
        match letter {
            '<' => is_tag = true,
            '>' if is_tag => is_tag = false,
            _ if is_tag => {}
            letter => out.push(letter),
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use crate::markdown::{compact, parse};

    #[test]
    fn what_is_folded_keeps_its_markdown() {
        let read = |text: &str| compact(&parse(text));
        assert_eq!(
            read(
                "a\n\n<details>\n<summary>More <b>of it</b></summary>\n\n- *b*\n\n</details>\n\nc"
            ),
            "p \"a\"\ndetails \"More of it\" \"- *b*\"\np \"c\"\n"
        );
        assert_eq!(
            read("<details open><summary>S</summary>text</details>"),
            "details \"S\" \"text\"\n"
        );
        assert_eq!(
            read("<details>\n\na\n\n<details>\n\nb\n\n</details>\n\nc\n\n</details>\n"),
            "details \"\" \"a\\n\\n<details>\\n\\nb\\n\\n</details>\\n\\nc\"\n"
        );
        assert_eq!(
            read("<details>\n\na\n\nb"),
            "details \"\" \"a\\n\\nb\"\n",
            "it is still coming"
        );
        assert_eq!(read("<detailsx>\n"), "html \"<detailsx>\\n\"\n");
    }
}
