//! Unquotes a word, and finds the commands inside it.

use brush_parser::ParserOptions;
use brush_parser::word::{WordPiece, WordPieceWithSource, parse, parse_heredoc};

use super::walk::Walk;
use super::{Unparsable, Word};

/// The shell runs commands without patterns of its own extension: `!(a)` is a command that is negated.
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

    /// The text of a here-document that is expanded.
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
        // Places count from the word's beginning, within quotation marks too.
        let source = written.get(piece.start_index..piece.end_index).unwrap_or(written);
        let unclear = || Unparsable::Unclear(source.to_owned());
        Ok(match &piece.piece {
            WordPiece::Text(text) if quoting == Quoting::Bare => {
                // What separates words cannot stand in one: the parser took a border for something else.
                if text
                    .chars()
                    .any(|letter| letter.is_whitespace() || ";&|<>()`'\"".contains(letter))
                {
                    return Err(unclear());
                }
                (!text.contains(['*', '?', '$'])).then(|| text.clone())
            }
            WordPiece::Text(text) => {
                // Not all that the parser does not understand is text to a shell.
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
            // To some shells these are a dollar sign, and what stands behind it.
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

    /// Commands in the inside of an expansion, whose text matters to nobody.
    fn within(&mut self, inner: &str) -> Result<(), Unparsable> {
        if !inner.contains(['$', '`']) {
            return Ok(());
        }
        self.document(inner).map(drop)
    }
}

/// Where a piece stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoting {
    /// Outside quotation marks.
    Bare,
    /// Within double ones, or in a here-document.
    Quoted,
}

/// Whether a dollar sign in this text is more than itself, in view of what stands behind the text.
fn has_expansion(text: &str, behind: &str) -> bool {
    text.match_indices('$').any(|(at, _)| {
        let next = text[at + 1..].chars().chain(behind.chars()).next();
        next.is_some_and(|next| next.is_alphanumeric() || "({[_@*#?-$!`".contains(next))
    })
}

/// Whether bare text asks for an expansion that may go over several pieces: braces, a choice of letters, a tilde
/// behind `=` or `:`.
fn expands(pieces: &[WordPieceWithSource]) -> bool {
    let bare: String = pieces
        .iter()
        .map(|piece| match &piece.piece {
            WordPiece::Text(text) => text.as_str(),
            _ => "\0",
        })
        .collect();
    // `{a,b}` and `{1..9}` become several words; `{name}` before a redirect is a variable that is set.
    let braces = bare.starts_with('{') && bare != "{}"
        || bare.contains('{') && (bare.contains(',') || bare.contains(".."));
    let choice = bare.split_once('[').is_some_and(|(_, behind)| behind.contains(']'));
    braces || choice || bare.contains("=~") || bare.contains(":~")
}
