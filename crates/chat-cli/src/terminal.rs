//! Detects whether the output goes to a terminal, and whether that terminal supports colours.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Where output goes. Cheap to copy.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "three streams and the colours are four facts")]
pub struct Terminal {
    /// Standard input is a terminal.
    pub input: bool,
    /// Standard output is a terminal.
    pub output: bool,
    /// Standard error is a terminal.
    pub error: bool,
    /// Standard error supports colours.
    colours: bool,
}

impl Terminal {
    /// Checks the three streams, `NO_COLOR` and `TERM`.
    pub fn detect() -> Self {
        let error = std::io::stderr().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            input: std::io::stdin().is_terminal(),
            output: std::io::stdout().is_terminal(),
            error,
            colours: error && !plain,
        }
    }

    /// A model's text for standard output: unchanged, unless a terminal would obey it.
    pub fn clean_output(self, text: &str) -> Cow<'_, str> {
        if self.output { clean(text) } else { Cow::Borrowed(text) }
    }

    /// Formats text as dim, for standard error.
    pub fn dim(self, text: &str) -> String {
        self.styled("2", text)
    }

    /// Formats text as bold, for standard output.
    pub fn bold(self, text: &str) -> String {
        if self.output && self.colours { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Formats an error message, for standard error.
    pub fn alarm(self, sentence: &str) -> String {
        format!("{} {}", self.styled("1;31", "natter-cli:"), clean(sentence))
    }

    /// Formats text as bold, for standard error.
    pub fn strong(self, text: &str) -> String {
        self.styled("1", text)
    }

    /// Formats text in a colour, for standard error.
    pub fn coloured(self, colour: Colour, text: &str) -> String {
        self.styled(colour.code(), text)
    }

    /// Whether a line on standard error can be overwritten.
    pub fn rewrites(self) -> bool {
        self.error && self.colours
    }

    fn styled(self, style: &str, text: &str) -> String {
        if self.colours { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The colours in use, from those that a terminal's own theme keeps readable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    Red,
    Green,
    Cyan,
}

impl Colour {
    fn code(self) -> &'static str {
        match self {
            Self::Red => "31",
            Self::Green => "32",
            Self::Cyan => "36",
        }
    }
}

/// Hides what is typed in a terminal, until it is dropped.
#[derive(Debug)]
pub struct HiddenInput(Option<Termios>);

impl HiddenInput {
    /// Starts to hide input. Does nothing if standard input is not a terminal.
    pub fn begin() -> Self {
        let before = tcgetattr(std::io::stdin()).ok();
        if let Some(before) = &before {
            let mut unseen = before.clone();
            unseen.local_modes.remove(LocalModes::ECHO);
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &unseen);
        }
        Self(before)
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
            // The user's own line break was not shown either.
            say("\n");
        }
    }
}

/// Restores the terminal's settings when dropped, whoever was reading from it.
#[derive(Debug)]
pub struct RestoreTerminal(Option<Termios>);

impl RestoreTerminal {
    /// Saves the current settings. If standard input is not a terminal, there is nothing to
    /// restore.
    pub fn now() -> Self {
        Self(tcgetattr(std::io::stdin()).ok())
    }

    /// Keeps what was typed ahead when Ctrl+C is pressed, until the settings are restored.
    pub fn keep_typed(self) -> Self {
        if let Some(before) = &self.0 {
            let mut keeping = before.clone();
            keeping.local_modes.insert(LocalModes::NOFLSH);
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &keeping);
        }
        self
    }
}

impl Drop for RestoreTerminal {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}

/// Writes to standard error at once. Errors are ignored, since they could not be reported.
pub fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Shows control characters instead of letting a terminal obey them: a model or a file could move
/// the cursor, rename the window or fill the clipboard. Characters that reverse the writing
/// direction are shown as `⟨U+202E⟩`, since they can disguise a name or a command. Newlines and
/// tabs stay.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_dangerous(c) || turns(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if turns(c) {
            // Writing into a string cannot fail.
            let _ = write!(out, "⟨U+{:04X}⟩", c as u32);
        } else {
            out.push(if is_dangerous(c) { picture(c) } else { c });
        }
    }
    Cow::Owned(out)
}

fn is_dangerous(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

/// Whether a character changes the order in which others are shown: embeddings, overrides and
/// isolates. The marks of right-to-left writing itself (U+200E, U+200F, U+061C) affect only
/// characters without a direction, and stay.
fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Unicode's symbol for a control character, `␛` for escape.
fn picture(c: char) -> char {
    match c as u32 {
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        _ => '\u{fffd}',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_reaches_a_terminal() {
        let all: String = ('\0'..='\u{a0}').collect();
        let out = clean(&all);
        assert!(out.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'), "{out:?}");
        assert_eq!(out.chars().count(), all.chars().count());
        assert_eq!(clean("\x1b]52;c;aGk=\x07"), "␛]52;c;aGk=␇");
    }

    #[test]
    fn what_turns_writing_round_is_shown_as_a_sign() {
        assert_eq!(clean("rm \u{202e}gpj.exe\u{202c}"), "rm ⟨U+202E⟩gpj.exe⟨U+202C⟩");
        let all: String = ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}').collect();
        assert_eq!(clean(&all).matches("⟨U+20").count(), 9);
    }

    #[test]
    fn what_is_harmless_is_not_touched() {
        let text = "ä 漢\t👩‍👩‍👧\nend";
        assert!(matches!(clean(text), Cow::Borrowed(same) if same == text));
        let pipe = Terminal::default();
        assert_eq!(pipe.clean_output("\x1b[1m"), "\x1b[1m");
    }
}
