//! Formats a path with a range of lines.

/// A path with a range of lines, if there is one: “src/main.rs 1–80”.
pub fn with_lines(path: &str, from: Option<u64>, to: Option<u64>) -> String {
    match (from, to) {
        (None, None) => path.to_owned(),
        (Some(from), Some(to)) if from == to => format!("{path} {from}"),
        (from, Some(to)) => format!("{path} {}–{to}", from.unwrap_or(1)),
        (Some(from), None) => format!("{path} {from}–"),
    }
}
