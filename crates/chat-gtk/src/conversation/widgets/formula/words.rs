//! Says in words what a formula says, and why one cannot be drawn.

use chat_formula::{FormulaError, Phrase, Spoken};
use chat_presentation::words::fill;
use gettextrs::gettext;

/// What a formula says, as a screen reader says it.
pub fn spoken(pieces: &[Spoken]) -> String {
    let said: Vec<String> = pieces.iter().map(piece).collect();
    said.join(" ")
}

fn piece(piece: &Spoken) -> String {
    let phrase = match piece {
        Spoken::Text(text) => return text.clone(),
        Spoken::Phrase(phrase) => phrase,
    };
    match phrase {
        // Translators: The phrases from here on are read aloud as parts of a formula: “fraction a over b”.
        Phrase::Fraction => gettext("fraction"),
        // Translators: Between the numerator and the denominator of a fraction.
        Phrase::Over => gettext("over"),
        Phrase::EndFraction => gettext("end of fraction"),
        // Translators: Between the numbers of a binomial coefficient: “n choose k”.
        Phrase::Choose => gettext("choose"),
        Phrase::SquareRoot => gettext("square root of"),
        // Translators: Begins a root with an index: “root 3 of x”.
        Phrase::Root => gettext("root"),
        // Translators: Behind the index of a root: “root 3 of x”.
        Phrase::Of => gettext("of"),
        Phrase::EndRoot => gettext("end of root"),
        // Translators: Before an index below the line: “a sub 1”.
        Phrase::Sub => gettext("sub"),
        Phrase::Squared => gettext("squared"),
        Phrase::Cubed => gettext("cubed"),
        // Translators: Before an exponent: “x to the power n”.
        Phrase::Power => gettext("to the power"),
        Phrase::EndPower => gettext("end of power"),
        // Translators: Before the lower limit of a sum or an integral: “from 0 to n”.
        Phrase::From => gettext("from"),
        // Translators: Before the upper limit of a sum or an integral: “from 0 to n”.
        Phrase::To => gettext("to"),
        // Translators: Before what stands above an arrow or a brace.
        Phrase::Above => gettext("above"),
        Phrase::Table { rows, columns } => {
            let text = gettext("table with {rows} rows and {columns} columns");
            fill(&text, &[("rows", &rows.to_string()), ("columns", &columns.to_string())])
        }
        Phrase::Row(number) => fill(&gettext("row {n}:"), &[("n", &number.to_string())]),
    }
}

/// Why a formula cannot be drawn.
pub fn error(error: &FormulaError) -> String {
    match error {
        FormulaError::Empty => gettext("This formula has nothing to draw."),
        FormulaError::TooLong => gettext("This formula is too long to be drawn."),
        FormulaError::TooDeep => gettext("This formula is nested too deeply to be drawn."),
        FormulaError::TooLarge => gettext("This formula is too large to be drawn here."),
        FormulaError::UnknownCommand(command) => {
            let text =
                gettext("This formula uses the command {command}, which Natter cannot draw.");
            fill(&text, &[("command", command)])
        }
        FormulaError::Invalid => gettext("This formula isn’t valid TeX."),
        FormulaError::Failed => gettext("This formula could not be drawn."),
    }
}
