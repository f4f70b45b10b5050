//! Puts values into translated sentences.

/// Replaces each `{name}` by its value, in one pass: what a value holds is never looked at again.
/// Names that are not given stay as they are.
pub fn fill(sentence: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(sentence.len() + 32);
    let mut rest = sentence;
    while let Some(start) = rest.find('{') {
        out.push_str(&rest[..start]);
        let open = &rest[start + 1..];
        let value = open.find('}').and_then(|end| {
            let (_, value) = values.iter().find(|(name, _)| *name == &open[..end])?;
            Some((*value, end))
        });
        if let Some((value, end)) = value {
            out.push_str(value);
            rest = &open[end + 1..];
        } else {
            out.push('{');
            rest = open;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn values_are_put_in_once() {
        assert_eq!(fill("“{a}” and “{b}”", &[("a", "{b}"), ("b", "2")]), "“{b}” and “2”");
    }

    #[test]
    fn what_is_unknown_stays() {
        assert_eq!(fill("{a} {", &[("b", "2")]), "{a} {");
        assert_eq!(fill("{{a}", &[("a", "1")]), "{1");
    }
}
