//! Shortens long texts, such as pages: the model gets the beginning, and the whole text is kept for
//! `fetch_output`.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use chat_core::tool::ToolContext;

use crate::outputs;
use crate::spec::size;

/// The longest line that is kept unchanged, in bytes.
const LINE: usize = 1_000;

/// The largest text that is kept, in bytes.
const KEPT: usize = 50_000_000;

/// The beginning of a text, as much as a model gets at once, with a hint where the rest is. A text that is short enough
/// stays as it is.
pub async fn head(text: String, context: &ToolContext) -> String {
    let limit = context.settings.output_kb.saturating_mul(1024);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX).min(context.most);
    if text.len() <= limit {
        return text;
    }
    let folder = context.outputs.clone();
    let shortening = tokio::task::spawn_blocking(move || shorten(&text, limit, &folder));
    shortening.await.unwrap_or_else(|_| "[This could not be shown.]".to_owned())
}

fn shorten(text: &str, limit: usize, folder: &Path) -> String {
    let text = broken(&text[..text.floor_char_boundary(KEPT)]);
    let (head, lines) = beginning(&text, limit);
    let (shown, all) = (size(head.len() as u64), size(text.len() as u64));
    match outputs::create(folder, |path| keep(path, &text)) {
        Ok((id, ())) => {
            let next = lines + 1;
            format!(
                "{head}\n\n[{shown} of {all}. Continue with fetch_output: id {id}, from line {next}.]"
            )
        }
        Err(error) => {
            format!("{head}\n\n[{shown} of {all}. The rest could not be stored: {error}.]")
        }
    }
}

/// Breaks the text into lines that `fetch_output` returns whole, and removes what would make it
/// binary data.
fn broken(text: &str) -> String {
    let mut broken = String::with_capacity(text.len());
    for mut line in text.split_inclusive('\n') {
        while line.trim_end_matches('\n').len() > LINE {
            let room = &line[..line.floor_char_boundary(LINE)];
            let end = room.rfind(' ').map_or(room.len(), |blank| blank + 1);
            broken.push_str(&line[..end]);
            broken.push('\n');
            line = &line[end..];
        }
        broken.push_str(line);
    }
    broken.replace('\0', "\u{fffd}")
}

/// Writes a new file that only the user can read.
fn keep(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

/// The whole lines that fit, and how many they are; if the first line is too long, its beginning,
/// and zero.
fn beginning(text: &str, limit: usize) -> (&str, usize) {
    let room = &text[..text.floor_char_boundary(limit)];
    match room.rfind('\n') {
        Some(end) => (&text[..end], text[..=end].lines().count()),
        None => (room, 0),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("a\nb\nc", 4, "a\nb", 2)]
    #[case("a\nb\nc", 3, "a", 1)]
    #[case("a\n\nb", 3, "a\n", 2)]
    #[case("abc", 2, "ab", 0)]
    #[case("äää", 3, "ä", 0)]
    fn lines_are_kept_whole(
        #[case] text: &str,
        #[case] limit: usize,
        #[case] head: &str,
        #[case] lines: usize,
    ) {
        assert_eq!(beginning(text, limit), (head, lines));
    }

    #[test]
    fn what_cannot_be_stored_is_still_begun() {
        let folder = tempfile::tempdir().unwrap();
        let text = "line\n".repeat(100);
        let kept = shorten(&text, 12, folder.path());
        assert!(kept.starts_with("line\nline\n\n[9 bytes of 500 bytes. Continue"), "{kept}");
        assert_eq!(std::fs::read_to_string(folder.path().join("out1.txt")).unwrap(), text);
        let nowhere = folder.path().join("out1.txt/below");
        let lost = shorten(&text, 12, &nowhere);
        assert!(lost.starts_with("line\nline\n\n[9 bytes of 500 bytes. The rest"), "{lost}");
    }

    #[test]
    fn long_lines_are_broken_where_words_end() {
        assert_eq!(broken("a\n\nb\n"), "a\n\nb\n");
        let words = "word ".repeat(500);
        let lines = broken(&words);
        assert_eq!(lines.lines().count(), 3);
        assert_eq!(lines.replace('\n', ""), words);
        assert!(lines.lines().all(|line| line.ends_with("word ") && line.len() <= LINE));
        let one = broken(&"ä".repeat(1_200));
        assert!(one.lines().all(|line| line.len() <= LINE) && one.lines().count() == 3);
        let exact = format!("{}\nb\n", "a".repeat(LINE));
        assert_eq!(broken(&exact), exact);
        assert_eq!(broken("a\0b"), "a\u{fffd}b");
    }

    proptest! {
        #[test]
        fn what_is_shown_and_what_follows_are_all(text in "[a\n]{0,30}", limit in 0_usize..40) {
            let (head, lines) = beginning(&text, limit);
            prop_assert!(head.len() <= limit);
            let rest: Vec<_> = text.lines().skip(lines).collect();
            if lines > 0 {
                let shown: Vec<_> = text.lines().take(lines).collect();
                prop_assert_eq!(head, shown.join("\n"));
            }
            prop_assert_eq!(text.lines().count(), lines + rest.len());
        }
    }
}
