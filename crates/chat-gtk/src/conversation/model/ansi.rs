//! Reads what a command wrote for a terminal, as lines with styles.
//!
//! Colours and weights (SGR: 8, 16 and 256 colours, true ones) count, carriage returns and
//! backspaces go back in the line, and `EL` clears it; every other escape sequence is dropped.
//! ECMA-48 says what a sequence is. The bytes are a program's: nothing of them is believed.

use std::collections::VecDeque;

use super::sgr::TerminalStyle;
use super::styled_text::{StyledText, TextStyle};

/// The most letters of a sequence that are kept; no known one is longer.
const LONGEST: usize = 128;

/// Reads what a command writes, in any pieces.
#[derive(Debug)]
pub struct Reader {
    lines: VecDeque<Vec<Cell>>,
    /// The most lines that are kept: the last ones.
    most: usize,
    /// Where in the last line the next letter goes.
    column: usize,
    style: TerminalStyle,
    state: State,
    /// Bytes of a letter that is not whole yet.
    partial: Vec<u8>,
}

/// A letter and its look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    letter: char,
    style: TerminalStyle,
}

/// Where in a sequence the reader is.
#[derive(Debug)]
enum State {
    Text,
    /// Behind ESC.
    Escape,
    /// Behind ESC and what opens a longer sequence, up to its last letter.
    Short,
    /// Behind ESC [, with what came so far.
    Control(String),
    /// In a string for the terminal, which BEL, ESC \ or the line's end closes.
    Message,
    /// In such a string, behind ESC.
    MessageEscape,
}

impl Reader {
    /// A reader that keeps the last so many lines.
    pub fn new(most: usize) -> Self {
        Self {
            lines: VecDeque::from([Vec::new()]),
            most: most.max(1),
            column: 0,
            style: TerminalStyle::default(),
            state: State::Text,
            partial: Vec::new(),
        }
    }

    /// Reads more.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut held = std::mem::take(&mut self.partial);
        held.extend_from_slice(bytes);
        let mut rest = held.as_slice();
        while !rest.is_empty() {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    text.chars().for_each(|letter| self.read(letter));
                    rest = &[];
                }
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    String::from_utf8_lossy(good).chars().for_each(|letter| self.read(letter));
                    if let Some(len) = error.error_len() {
                        self.read(char::REPLACEMENT_CHARACTER);
                        rest = &bad[len..];
                    } else {
                        self.partial = bad.to_vec();
                        rest = &[];
                    }
                }
            }
        }
    }

    /// What there is to see.
    pub fn styled(&self) -> StyledText {
        self.styled_within(usize::MAX)
    }

    /// The same with so many letters of each line at most.
    pub fn styled_within(&self, columns: usize) -> StyledText {
        let mut out = StyledText::default();
        let mut piece = String::new();
        for (index, line) in self.lines.iter().enumerate() {
            if index > 0 {
                out.push("\n", TextStyle::Plain);
            }
            let mut cells = line.iter().take(columns).peekable();
            while let Some(cell) = cells.next() {
                piece.push(cell.letter);
                if cells.peek().is_none_or(|next| next.style != cell.style) {
                    let plain = cell.style == TerminalStyle::default();
                    let look =
                        if plain { TextStyle::Plain } else { TextStyle::Written(cell.style) };
                    out.push(&piece, look);
                    piece.clear();
                }
            }
        }
        out
    }

    fn read(&mut self, letter: char) {
        match &mut self.state {
            State::Text => self.read_text(letter),
            State::Escape => {
                self.state = match letter {
                    '[' => State::Control(String::new()),
                    ']' | 'P' | 'X' | '^' | '_' => State::Message,
                    ' '..='/' => State::Short,
                    '\x1b' => State::Escape,
                    _ => State::Text,
                };
                if letter < ' ' && letter != '\x1b' {
                    self.read_text(letter);
                }
            }
            State::Short => match letter {
                ' '..='/' => {}
                '\x1b' => self.state = State::Escape,
                _ => {
                    self.state = State::Text;
                    if letter < ' ' {
                        self.read_text(letter);
                    }
                }
            },
            State::Control(so_far) => match letter {
                '\x1b' => self.state = State::Escape,
                '\0'..'\x20' => {
                    self.state = State::Text;
                    self.read_text(letter);
                }
                '@'..='~' => {
                    let parameters = std::mem::take(so_far);
                    self.state = State::Text;
                    self.control(&parameters, letter);
                }
                _ if so_far.len() < LONGEST => so_far.push(letter),
                _ => {}
            },
            State::Message => match letter {
                '\x07' | '\u{9c}' => self.state = State::Text,
                '\x1b' => self.state = State::MessageEscape,
                // One that is never closed must not swallow all that follows.
                '\n' => {
                    self.state = State::Text;
                    self.read_text(letter);
                }
                _ => {}
            },
            State::MessageEscape => {
                self.state = State::Escape;
                if letter == '\\' {
                    self.state = State::Text;
                } else {
                    self.read(letter);
                }
            }
        }
    }

    fn read_text(&mut self, letter: char) {
        match letter {
            '\x1b' => self.state = State::Escape,
            '\n' => {
                self.lines.push_back(Vec::new());
                if self.lines.len() > self.most {
                    self.lines.pop_front();
                }
                self.column = 0;
            }
            '\r' => self.column = 0,
            '\x08' => self.column = self.column.saturating_sub(1),
            '\t' => self.write('\t'),
            // Marks that turn the direction of writing would show the text as it is not.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            letter if letter.is_control() => {}
            letter => self.write(letter),
        }
    }

    fn write(&mut self, letter: char) {
        let cell = Cell { letter, style: self.style };
        let column = self.column;
        let line = self.line();
        match line.get_mut(column) {
            Some(place) => *place = cell,
            None => line.push(cell),
        }
        self.column += 1;
    }

    /// The last line.
    fn line(&mut self) -> &mut Vec<Cell> {
        if self.lines.is_empty() {
            self.lines.push_back(Vec::new());
        }
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }

    fn control(&mut self, parameters: &str, last: char) {
        match last {
            'm' => self.style.take(parameters),
            'K' => {
                let column = self.column;
                let style = self.style;
                let line = self.line();
                match parameters {
                    "" | "0" => line.truncate(column),
                    "1" | "2" => {
                        let blank = Cell { letter: ' ', style };
                        let cleared = line.len().min(column);
                        line[..cleared].fill(blank);
                        if parameters == "2" {
                            line.truncate(column);
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// A whole text as a terminal would show it.
pub fn styled(text: &str) -> StyledText {
    let mut reader = Reader::new(usize::MAX);
    reader.push(text.as_bytes());
    reader.styled()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::sgr::TerminalColour;
    use super::*;

    fn text(bytes: &str) -> String {
        styled(bytes).text().to_owned()
    }

    #[test]
    fn lines_are_overwritten_and_cleared() {
        assert_eq!(text("10 %\r20 %\r100 %\ndone\r\n"), "100 %\ndone\n");
        assert_eq!(text("Compiling a\r\x1b[KDone"), "Done");
        assert_eq!(text("abc\x08\x08X"), "aXc");
        assert_eq!(text("abcdef\r\x1b[2Kxy"), "xy");
        assert_eq!(text("abc\x1b[1Kd"), "   d");
    }

    #[test]
    fn other_sequences_leave_nothing() {
        for (written, seen) in [
            ("\x1b]0;title\x07a", "a"),
            ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1b[2J\x1b[1;1Ha", "a"),
            ("\x1b(Ba\x1b7b\x1b=c", "abc"),
            ("a\x07\x0eb\x7f\u{9b}c", "abc"),
            ("\x1bP1$r\x1b\\a", "a"),
            // Broken off.
            ("\x1b]0;title\na", "\na"),
            ("\x1b[31\na", "\na"),
            ("\x1b", ""),
            ("\u{202e}abc", "abc"),
        ] {
            assert_eq!(text(written), seen, "{written:?}");
        }
    }

    #[test]
    fn colours_are_spans() {
        let read = styled("a \x1b[1;31mred\x1b[0m b");
        let red = TerminalStyle {
            fore: Some(TerminalColour::Palette(1)),
            bold: true,
            ..TerminalStyle::default()
        };
        assert_eq!(read.text(), "a red b");
        assert_eq!(read.spans(), [(2..5, TextStyle::Written(red))]);
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let mut reader = Reader::new(3);
        reader.push(b"1\n2\n3\n4\n5");
        assert_eq!(reader.styled().text(), "3\n4\n5");
    }

    /// Bytes as commands write them, and others.
    fn written() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            "[ -~]{0,8}".prop_map(String::into_bytes),
            Just(b"\r".to_vec()),
            Just(b"\n".to_vec()),
            Just(b"\x1b[".to_vec()),
            Just("ü€😀".as_bytes().to_vec()),
            "[0-9;:]{0,6}[mKJ]".prop_map(|text| [b"\x1b[", text.as_bytes()].concat()),
            Just(b"\x1b]0;x\x07".to_vec()),
            proptest::collection::vec(any::<u8>(), 0..6),
        ];
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_give_the_same(
            bytes in written(),
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
            most in 1_usize..20,
        ) {
            let mut whole = Reader::new(most);
            whole.push(&bytes);
            let mut places: Vec<usize> =
                cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            places.extend([0, bytes.len()]);
            places.sort_unstable();
            let mut parted = Reader::new(most);
            for piece in places.windows(2) {
                parted.push(&bytes[piece[0]..piece[1]]);
            }
            prop_assert_eq!(parted.styled(), whole.styled());
            let shown = whole.styled();
            prop_assert!(shown.text().lines().count() <= most);
            prop_assert!(!shown.text().contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
            let letters = shown.text().chars().count();
            prop_assert!(shown.spans().iter().all(|(span, _)| span.end <= letters && !span.is_empty()));
        }
    }
}
