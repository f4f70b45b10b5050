//! Keeps the end of a running command's output, to be shown while it runs.

/// How many bytes are shown: some screens.
const TAIL_LENGTH: usize = 8 * 1024;

/// The last bytes of an output.
#[derive(Debug, Default)]
pub struct Tail {
    bytes: Vec<u8>,
    total: u64,
}

impl Tail {
    /// Adds more output.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let kept = &bytes[bytes.len().saturating_sub(TAIL_LENGTH)..];
        let over = (self.bytes.len() + kept.len()).saturating_sub(TAIL_LENGTH);
        self.bytes.drain(..over);
        self.bytes.extend_from_slice(kept);
    }

    /// The text; if something is missing, from the beginning of a line on.
    pub fn text(&self) -> String {
        let is_cut = self.total > self.bytes.len() as u64;
        let line = self.bytes.iter().position(|byte| *byte == b'\n').filter(|_| is_cut);
        String::from_utf8_lossy(&self.bytes[line.map_or(0, |line| line + 1)..])
            .replace('\0', "\u{2400}")
    }

    /// How many bytes there were in total.
    pub fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_whole_lines_are_shown() {
        let mut tail = Tail::default();
        tail.push(b"a\0\n");
        assert_eq!((tail.text(), tail.total()), ("a\u{2400}\n".to_owned(), 3));
        tail.push(&b"0123456789\n".repeat(1000));
        assert!(tail.text().starts_with("0123456789\n") && tail.text().len() <= TAIL_LENGTH);
        assert_eq!(tail.total(), 11_003);
        tail.push(b"end");
        assert!(tail.text().ends_with("\nend"));
    }
}
