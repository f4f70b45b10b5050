//! Takes the delimiters off a formula as it was written.

/// A formula within its delimiters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimited<'s> {
    /// The formula without its delimiters. An environment is its own formula.
    pub tex: &'s str,
    /// Whether the delimiters are those of a formula that stands on its own.
    pub display: bool,
}

/// Reads a formula with its delimiters; none if they are not closed yet.
pub fn delimited(source: &str) -> Option<Delimited<'_>> {
    let source = source.trim();
    for (begin, end, display) in
        [("$$", "$$", true), ("\\[", "\\]", true), ("\\(", "\\)", false), ("$", "$", false)]
    {
        if let Some(rest) = source.strip_prefix(begin) {
            return Some(Delimited { tex: rest.strip_suffix(end)?.trim(), display });
        }
    }
    let rest = source.strip_prefix("\\begin{")?;
    let name = &rest[..rest.find('}')?];
    let is_closed = source.ends_with(&format!("\\end{{{name}}}"));
    is_closed.then_some(Delimited { tex: source, display: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_taken_off_once_they_are_closed() {
        let read = |source| delimited(source).map(|it| (it.tex, it.display));
        assert_eq!(read("$x$"), Some(("x", false)));
        assert_eq!(read("\\( x \\)"), Some(("x", false)));
        assert_eq!(read("$$\nx\n$$"), Some(("x", true)));
        assert_eq!(read("\\[x\\]"), Some(("x", true)));
        let matrix = "\\begin{matrix}a\\end{matrix}";
        assert_eq!(read(matrix), Some((matrix, true)));
        for open in
            ["$", "$x", "$$x", "$$", "$$$", "\\[x", "\\(x", "\\begin{matrix}a", "\\begin{", "x"]
        {
            assert_eq!(read(open), None, "{open}");
        }
        assert_eq!(read("$$$$"), Some(("", true)));
    }
}
