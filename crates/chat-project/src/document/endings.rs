//! Defines the line endings of a text.

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Endings {
    /// `\n`, also where there is but one line.
    #[default]
    Lf,
    /// `\r\n`, all of them.
    CrLf,
    /// `\r`, all of them: very old files.
    Cr,
    /// Some so and some so: the text keeps them as they are.
    Mixed,
}

/// A text with its lines ended by `\n`, where all of them end alike.
pub(super) fn read(text: String) -> (String, Endings) {
    let pairs = text.matches("\r\n").count();
    let (returns, feeds) = (text.matches('\r').count(), text.matches('\n').count());
    match (pairs, returns - pairs, feeds - pairs) {
        (_, 0, _) if pairs == 0 => (text, Endings::Lf),
        (_, 0, 0) => (text.replace("\r\n", "\n"), Endings::CrLf),
        (0, _, 0) => (text.replace('\r', "\n"), Endings::Cr),
        _ => (text, Endings::Mixed),
    }
}

/// The text as it is written. Line ends of another kind, which were pasted, become what the others are.
pub(super) fn write(text: &str, endings: Endings) -> String {
    let end = match endings {
        Endings::Mixed => return text.to_owned(),
        Endings::Lf => "\n",
        Endings::CrLf => "\r\n",
        Endings::Cr => "\r",
    };
    let plain = text.replace("\r\n", "\n").replace('\r', "\n");
    if endings == Endings::Lf { plain } else { plain.replace('\n', end) }
}
