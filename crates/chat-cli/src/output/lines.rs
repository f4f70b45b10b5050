//! Writes plain data as lines of JSON.

use std::fmt::Write as _;

use serde::Serialize;

/// Formats plain data as one line of JSON.
pub fn line_of(view: &impl Serialize) -> String {
    // Plain data can always be written as JSON.
    ended(serde_json::to_string(view).unwrap_or_default())
}

/// Formats plain data as JSON on several lines.
pub fn lines_of(view: &impl Serialize) -> String {
    ended(serde_json::to_string_pretty(view).unwrap_or_default())
}

/// Escapes control characters that JSON allows but a terminal would obey.
fn ended(json: String) -> String {
    let stays = |c: char| !matches!(c, '\u{7f}'..='\u{9f}');
    let mut out = if json.chars().all(stays) { json } else { escaped(&json) };
    out.push('\n');
    out
}

fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if matches!(c, '\u{7f}'..='\u{9f}') {
            // Writing into memory cannot fail.
            let _ = write!(out, "\\u{:04x}", c as u32);
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_stands_in_a_line_and_all_come_back() {
        let all: String = ('\0'..='\u{a1}').chain("ä漢👧".chars()).collect();
        for line in [line_of(&all), lines_of(&[&all])] {
            assert!(line.ends_with('\n'));
            let controls = line.chars().filter(|c| c.is_control() && *c != '\n').count();
            assert_eq!(controls, 0, "{line:?}");
        }
        assert_eq!(serde_json::from_str::<String>(&line_of(&all)).unwrap(), all);
    }
}
