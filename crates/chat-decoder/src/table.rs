//! Converts values that are separated by a character to a Markdown table.

use std::fmt::Write as _;

use crate::protocol::Limits;

/// The most columns that are shown.
const COLUMNS: usize = 200;

/// The first rows as a table, and how many there are where that is not all.
pub fn markdown(text: &str, name: &str, limits: &Limits) -> String {
    let tabs = name.rsplit('.').next().is_some_and(|end| end.eq_ignore_ascii_case("tsv"));
    let separator = if tabs { '\t' } else { separator(text) };
    let mut rows = Vec::new();
    let (mut count, mut widest) = (0, 0);
    for mut row in (Rows { rest: text, separator }) {
        if row.iter().all(|value| value.trim().is_empty()) {
            continue;
        }
        // The first row has the names of the columns.
        if count <= limits.rows {
            widest = widest.max(row.len());
            row.truncate(COLUMNS);
            rows.push(row);
        }
        count += 1;
    }
    let Some((head, body)) = rows.split_first() else { return String::new() };
    let columns = widest.min(COLUMNS);
    let mut table = String::new();
    line(&mut table, head.iter().map(String::as_str), columns);
    line(&mut table, (0..columns).map(|_| "---"), columns);
    for row in body {
        line(&mut table, row.iter().map(String::as_str), columns);
        // The rest would be cut.
        if table.len() > limits.text {
            return table;
        }
    }
    if count > rows.len() {
        let (shown, all) = (body.len(), count - 1);
        let _ = write!(table, "\n[Only the first {shown} of {all} rows are shown.]\n");
    }
    if widest > COLUMNS {
        let _ = write!(table, "\n[Only the first {COLUMNS} of {widest} columns are shown.]\n");
    }
    table
}

fn line<'a>(table: &mut String, values: impl Iterator<Item = &'a str>, columns: usize) {
    let empty = std::iter::repeat("");
    table.push('|');
    for value in values.chain(empty).take(columns) {
        table.push(' ');
        for letter in value.trim().chars() {
            match letter {
                '|' => table.push_str("\\|"),
                '\n' => table.push_str("<br>"),
                '\r' => {}
                letter => table.push(letter),
            }
        }
        table.push_str(" |");
    }
    table.push('\n');
}

/// What separates the values: what is in the first line most often, outside of quotes.
fn separator(text: &str) -> char {
    let mut counts = [(',', 0), (';', 0), ('\t', 0)];
    let mut quoted = false;
    for letter in text.chars() {
        match letter {
            '"' => quoted = !quoted,
            '\n' if !quoted => break,
            letter if !quoted => {
                for (separator, count) in &mut counts {
                    *count += usize::from(*separator == letter);
                }
            }
            _ => {}
        }
    }
    // Of equal ones the first.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map_or(',', |(separator, _)| separator)
}

/// The rows of a text.
struct Rows<'a> {
    rest: &'a str,
    separator: char,
}

impl Iterator for Rows<'_> {
    type Item = Vec<String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let mut row = Vec::new();
        let mut value = String::new();
        let mut quoted = false;
        let mut letters = self.rest.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            match letter {
                // Two of them inside of quotes are one.
                '"' if quoted && letters.next_if(|(_, next)| *next == '"').is_some() => {
                    value.push('"');
                }
                '"' if quoted => quoted = false,
                '"' if value.is_empty() => quoted = true,
                '\n' if !quoted => {
                    row.push(value);
                    self.rest = &self.rest[at + 1..];
                    return Some(row);
                }
                letter if letter == self.separator && !quoted => {
                    row.push(std::mem::take(&mut value));
                }
                letter => value.push(letter),
            }
        }
        row.push(value);
        self.rest = "";
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str, name: &str) -> String {
        markdown(text, name, &Limits { rows: 2, ..Limits::default() })
    }

    #[test]
    fn values_become_a_table() {
        let text = "name,says\r\nBee,\"zoom, \"\"sum\"\"\nand | hum\"\r\n\r\nFly\r\n";
        let expected =
            "| name | says |\n| --- | --- |\n| Bee | zoom, \"sum\"<br>and \\| hum |\n| Fly |  |\n";
        assert_eq!(table(text, "a.csv"), expected);
    }

    #[test]
    fn the_separator_is_found() {
        let expected = "| a,b | c |\n| --- | --- |\n";
        assert_eq!(table("\"a,b\";c", "a.csv"), expected);
        assert_eq!(table("a,b\tc", "a.TSV"), expected);
        assert_eq!(separator("a\tb\tc;d\n;;;;"), '\t');
        assert_eq!(separator("a"), ',');
    }

    #[test]
    fn more_rows_and_columns_are_counted() {
        let long = table("n\n1\n2\n3\n4", "a.csv");
        assert!(long.ends_with("| 2 |\n\n[Only the first 2 of 4 rows are shown.]\n"), "{long}");
        let wide = table(&",".repeat(300), "a.csv");
        assert_eq!(wide, "", "empty values are no row");
        let wide = table(&"x,".repeat(300), "a.csv");
        assert!(wide.ends_with("[Only the first 200 of 301 columns are shown.]\n"), "{wide}");
    }
}
