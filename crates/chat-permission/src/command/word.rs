//! Unquotes a word, and finds the commands inside it.

use brush_parser::ParserOptions;
use brush_parser::word::{WordPiece, WordPieceWithSource, parse, parse_heredoc};

use super::walk::Walk;
use super::{Unparsable, Word};

/// The shell runs commands without extended patterns: `!(a)` is a negated command.
pub(super) fn options() -> ParserOptions {
    ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() }
}

impl Walk {
    /// A word, with the commands in its substitutions.
    pub(super) fn word(&mut self, written: &str) -> Result<Word, Unparsable> {
        let pieces =
            parse(written, &options()).map_err(|_| Unparsable::Unclear(written.to_owned()))?;
        self.text_of(written, &pieces, Quoting::Bare)
    }

    /// The text of an expanded here-document.
    pub(super) fn document(&mut self, written: &str) -> Result<Word, Unparsable> {
        let pieces = parse_heredoc(written, &options())
            .map_err(|_| Unparsable::Unclear(written.to_owned()))?;
        self.text_of(written, &pieces, Quoting::Quoted)
    }

    fn text_of(
        &mut self,
        written: &str,
        pieces: &[WordPieceWithSource],
        quoting: Quoting,
    ) -> Result<Word, Unparsable> {
        let mut text = Some(String::new());
        for piece in pieces {
            let known = self.piece(written, piece, quoting)?;
            text = text.zip(known).map(|(text, known)| text + &known);
        }
        Ok(match text {
            Some(text) if quoting == Quoting::Quoted || !expands(pieces) => Word::Literal(text),
            _ => Word::Other(written.to_owned()),
        })
    }

    /// The fixed text of a piece, or none.
    fn piece(
        &mut self,
        written: &str,
        piece: &WordPieceWithSource,
        quoting: Quoting,
    ) -> Result<Option<String>, Unparsable> {
        // Positions are relative to the word, even within quotes.
        let source = written.get(piece.start_index..piece.end_index).unwrap_or(written);
        let unclear = || Unparsable::Unclear(source.to_owned());
        Ok(match &piece.piece {
            WordPiece::Text(text) if quoting == Quoting::Bare => {
                // A word cannot contain separators: the parser misplaced a boundary.
                if text
                    .chars()
                    .any(|letter| letter.is_whitespace() || ";&|<>()`'\"".contains(letter))
                {
                    return Err(unclear());
                }
                (!text.contains(['*', '?', '$'])).then(|| text.clone())
            }
            WordPiece::Text(text) => {
                // A shell does not treat everything that the parser does not understand as text.
                let behind = written.get(piece.end_index..).unwrap_or(written);
                if text.contains('`') || has_expansion(text, behind) {
                    return Err(unclear());
                }
                // A backslash at a line's end joins the lines.
                Some(text.replace("\\\n", ""))
            }
            WordPiece::SingleQuotedText(text) => Some(text.clone()),
            WordPiece::EscapeSequence(text) => match text.strip_prefix('\\') {
                Some("\n") => Some(String::new()),
                Some(letter) => Some(letter.to_owned()),
                None => return Err(unclear()),
            },
            WordPiece::DoubleQuotedSequence(pieces) => {
                match self.text_of(written, pieces, Quoting::Quoted)? {
                    Word::Literal(text) => Some(text),
                    Word::Other(_) => None,
                }
            }
            WordPiece::GettextDoubleQuotedSequence(pieces) => {
                self.text_of(written, pieces, Quoting::Quoted)?;
                None
            }
            WordPiece::CommandSubstitution(command) => {
                self.nested(command)?;
                None
            }
            WordPiece::BackquotedCommandSubstitution(command) => {
                // Backslashes mean something else within backquotes.
                if source.contains('\\') || command.contains('\\') {
                    return Err(unclear());
                }
                self.nested(command)?;
                None
            }
            // Some shells take this for a dollar sign and what follows.
            WordPiece::ArithmeticExpression(_) if source.starts_with("$[") => return Err(unclear()),
            WordPiece::AnsiCQuotedText(text) if text.contains("\\'") => return Err(unclear()),
            WordPiece::ArithmeticExpression(expression) => {
                self.within(&expression.value)?;
                None
            }
            WordPiece::ParameterExpansion(_) => {
                let inner = source.strip_prefix("${").and_then(|inner| inner.strip_suffix('}'));
                if let Some(inner) = inner {
                    self.within(inner)?;
                }
                None
            }
            WordPiece::TildeExpansion(_) | WordPiece::AnsiCQuotedText(_) => None,
        })
    }

    /// The commands in an expansion whose text does not matter.
    fn within(&mut self, inner: &str) -> Result<(), Unparsable> {
        if !inner.contains(['$', '`']) {
            return Ok(());
        }
        self.document(inner).map(drop)
    }
}

/// The quoting around a piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoting {
    /// Outside quotes.
    Bare,
    /// In double quotes, or in a here-document.
    Quoted,
}

/// Whether a dollar sign in this text begins an expansion, given the text that follows.
fn has_expansion(text: &str, behind: &str) -> bool {
    text.match_indices('$').any(|(at, _)| {
        let next = text[at + 1..].chars().chain(behind.chars()).next();
        next.is_some_and(|next| next.is_alphanumeric() || "({[_@*#?-$!`".contains(next))
    })
}

/// Whether unquoted text has an expansion that may span several pieces: braces, a character class,
/// a tilde after `=` or `:`.
fn expands(pieces: &[WordPieceWithSource]) -> bool {
    let bare: String = pieces
        .iter()
        .map(|piece| match &piece.piece {
            WordPiece::Text(text) => text.as_str(),
            _ => "\0",
        })
        .collect();
    // `{a,b}` and `{1..9}` become several words; `{name}` before a redirect is a variable that is
    // set.
    let braces = bare.starts_with('{') && bare != "{}"
        || bare.contains('{') && (bare.contains(',') || bare.contains(".."));
    let choice = bare.split_once('[').is_some_and(|(_, behind)| behind.contains(']'));
    braces || choice || bare.contains("=~") || bare.contains(":~")
}
