//! Formats JSON with line breaks, with its keys in their order and every token as it was written.

/// Indents a JSON text. Only white space between tokens changes; a line break inside a string
/// (`\n`) is followed by one in the output, so that long texts are readable.
pub fn indented(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                out.push('"');
                while let Some(c) = chars.next() {
                    out.push(c);
                    match c {
                        '"' => break,
                        '\\' => {
                            let escaped = chars.next().unwrap_or_default();
                            out.push(escaped);
                            if escaped == 'n' && chars.peek() != Some(&'"') {
                                new_line(&mut out, depth + 1);
                            }
                        }
                        _ => {}
                    }
                }
            }
            '{' | '[' => {
                out.push(c);
                while chars.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(end) = chars.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}

/// The fields of a JSON object: names and values as they are written. Empty if it is not an object.
pub(super) fn fields(json: &str) -> Vec<(&str, &str)> {
    let Some(inside) = json.strip_prefix('{').and_then(|json| json.strip_suffix('}')) else {
        return Vec::new();
    };
    let fields = parts(inside).into_iter().filter_map(|field| {
        let (name, value) = field.strip_prefix('"')?.split_once("\":")?;
        Some((name, value))
    });
    fields.collect()
}

/// The items of a JSON array as they are written. Empty if it is not an array.
pub(super) fn items(json: &str) -> Vec<&str> {
    let inside = json.strip_prefix('[').and_then(|json| json.strip_suffix(']'));
    inside.map(parts).unwrap_or_default()
}

/// The parts between top-level commas.
fn parts(inside: &str) -> Vec<&str> {
    let (mut depth, mut from, mut in_string, mut escaped) = (0_i32, 0, false, false);
    let mut parts = Vec::new();
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inside[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    if from < inside.len() {
        parts.push(&inside[from..]);
    }
    parts
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_stay_as_they_were_written() {
        let text = r#"{"b":1.50,"a":[ ],"c":["x, y: {z}",{}, null],"d":"one\ntwo \"\\\n"}"#;
        let expected = "{\n  \"b\": 1.50,\n  \"a\": [],\n  \"c\": [\n    \"x, y: {z}\",\n    {},\n    \
                        null\n  ],\n  \"d\": \"one\\n\n    two \\\"\\\\\\n\"\n}";
        assert_eq!(indented(text), expected);
    }

    #[test]
    fn values_are_cut_out_as_they_were_written() {
        let text = r#"{"a":[1,{"b":"x,\"]"}],"c":"},","d":{}}"#;
        let found = fields(text);
        assert_eq!(found, [("a", r#"[1,{"b":"x,\"]"}]"#), ("c", "\"},\""), ("d", "{}")]);
        assert_eq!(items(found[0].1), ["1", r#"{"b":"x,\"]"}"#]);
        assert!(items("[]").is_empty() && fields("null").is_empty());
    }
}
