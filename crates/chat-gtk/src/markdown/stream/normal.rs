//! Normalizes line endings.

/// Appends text with every kind of line ending normalized to `\n`, and without the one character
/// that the specification forbids. `after_return`: whether the previous text ended with a carriage
/// return; returns the same about this one.
pub fn normalise(source: &mut String, text: &str, after_return: bool) -> bool {
    let text = if after_return { text.strip_prefix('\n').unwrap_or(text) } else { text };
    let mut rest = text;
    while let Some(at) = rest.find(['\r', '\0']) {
        source.push_str(&rest[..at]);
        if rest.as_bytes()[at] == b'\0' {
            source.push('\u{FFFD}');
            rest = &rest[at + 1..];
        } else {
            source.push('\n');
            rest = &rest[at + 1..];
            if rest.is_empty() {
                return true;
            }
            rest = rest.strip_prefix('\n').unwrap_or(rest);
        }
    }
    source.push_str(rest);
    false
}
