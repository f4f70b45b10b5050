//! Reads a fenced code block that is still open, line by line.
//!
//! The parser would read it from its start for every piece that arrives. An open fence handles a
//! line so simply that it can be done here: the line either belongs to the fence or closes it.

/// The mark that opened a fence: which character, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    mark: u8,
    count: usize,
}

impl Fence {
    /// The fence that this line opens, if it is one without indentation. (An indented fence removes
    /// indentation from its lines, which is left to the parser.)
    pub fn opened_by(line: &str) -> Option<Self> {
        let mark = *line.as_bytes().first()?;
        if mark != b'`' && mark != b'~' {
            return None;
        }
        let count = repeated(line.as_bytes(), mark);
        let spoilt = mark == b'`' && line.as_bytes()[count..].contains(&b'`');
        (count >= 3 && !spoilt).then_some(Self { mark, count })
    }

    /// Whether this line, without its line ending, closes the fence.
    pub fn is_closed_by(self, line: &str) -> bool {
        let indent = repeated(line.as_bytes(), b' ');
        let rest = &line.as_bytes()[indent..];
        let count = repeated(rest, self.mark);
        indent < 4 && count >= self.count && rest[count..].iter().all(|&byte| byte == b' ')
    }
}

fn repeated(bytes: &[u8], mark: u8) -> usize {
    bytes.iter().take_while(|&&byte| byte == mark).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_closed_by_at_least_as_many_of_the_same() {
        let fence = Fence::opened_by("````rust").unwrap();
        assert!(!fence.is_closed_by("```"));
        assert!(fence.is_closed_by("   `````  "));
        assert!(!fence.is_closed_by("    ````"));
        assert!(!fence.is_closed_by("````x"));
        assert!(Fence::opened_by("``` a`b").is_none());
        assert!(Fence::opened_by("``").is_none());
        assert!(Fence::opened_by("~~~ a`b").unwrap().is_closed_by("~~~"));
    }
}
