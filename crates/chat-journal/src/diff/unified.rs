//! Writes a diff as `diff -u` does, for the model and for copying.

use std::fmt::Write;

use super::lines::{changed, split};
use super::show::blocks;

/// The number of context lines around a change.
const AROUND: usize = 3;

/// A unified diff without its file header; empty if both are equal.
pub fn unified(old: &[u8], new: &[u8]) -> String {
    let (old, new) = (split(old), split(new));
    let mut text = String::new();
    for block in blocks(&changed(&old, &new), old.len(), AROUND) {
        let _ = writeln!(text, "@@ -{} +{} @@", range(&block.old), range(&block.new));
        let mut at = block.old.start;
        let mut put = |sign: char, line: &[u8]| {
            let line = String::from_utf8_lossy(line);
            text.push(sign);
            text.push_str(&line);
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        };
        for part in &block.changes {
            old[at..part.old.start].iter().for_each(|line| put(' ', line));
            old[part.old.clone()].iter().for_each(|line| put('-', line));
            new[part.new.clone()].iter().for_each(|line| put('+', line));
            at = part.old.end;
        }
        old[at..block.old.end].iter().for_each(|line| put(' ', line));
    }
    text
}

/// A range of lines as the format counts them: from 1, and an empty range from the line before it.
fn range(lines: &std::ops::Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_everybody_reads() {
        assert_eq!(unified(b"a\nb\nc\n", b"a\nx\ny\nc\n"), "@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c\n");
        assert_eq!(
            unified(b"", b"a\nb"),
            "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
        );
        assert_eq!(unified(b"a\n", b""), "@@ -1 +0,0 @@\n-a\n");
        assert_eq!(unified(b"a", b"a"), "");
        let old: String =
            (0..20).flat_map(|line: u8| [line.to_string(), "\n".to_owned()]).collect();
        let new = old.replace("\n3\n", "\nx\n").replace("\n15\n", "\n");
        assert_eq!(
            unified(old.as_bytes(), new.as_bytes()),
            "@@ -1,7 +1,7 @@\n 0\n 1\n 2\n-3\n+x\n 4\n 5\n 6\n\
             @@ -13,7 +13,6 @@\n 12\n 13\n 14\n-15\n 16\n 17\n 18\n"
        );
    }
}
