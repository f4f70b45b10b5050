//! Writes JSON as Python does: models were trained on `{"a": 1}`, not on `{"a":1}`.

use std::io;

use minijinja::Value;
use minijinja::value::Kwargs;
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

/// The template's filter `tojson`, which takes `indent`. minijinja's own also escapes for HTML.
#[expect(clippy::needless_pass_by_value, reason = "filters take their arguments so")]
pub(super) fn filter(value: Value, options: Kwargs) -> Result<Value, minijinja::Error> {
    let indent: Option<usize> = options.get("indent")?;
    // Python's own words for what is always so here, or means nothing to a model.
    let _: (Option<bool>, Option<bool>) = (options.get("ensure_ascii")?, options.get("sort_keys")?);
    let _: Option<Value> = options.get("separators")?;
    options.assert_all_used()?;
    text(&value, indent).map(Value::from_safe_string).map_err(|error| {
        minijinja::Error::new(minijinja::ErrorKind::InvalidOperation, error.to_string())
    })
}

fn text(value: &Value, indent: Option<usize>) -> serde_json::Result<String> {
    let mut out = Vec::new();
    match indent {
        Some(width) => {
            let spaces = " ".repeat(width.min(16));
            let formatter = PrettyFormatter::with_indent(spaces.as_bytes());
            value.serialize(&mut Serializer::with_formatter(&mut out, formatter))?;
        }
        None => value.serialize(&mut Serializer::with_formatter(&mut out, Spaced))?,
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// A space after each comma and colon.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        w: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { w.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        w: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { w.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, w: &mut W) -> io::Result<()> {
        w.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_written_as_python_writes_it() {
        let value: Value = serde_json::from_str(r#"{"b":[1,"<ü>"],"a":{}}"#).unwrap();
        assert_eq!(text(&value, None).unwrap(), r#"{"b": [1, "<ü>"], "a": {}}"#);
        let value: Value = serde_json::from_str(r#"{"a":1}"#).unwrap();
        assert_eq!(text(&value, Some(2)).unwrap(), "{\n  \"a\": 1\n}");
    }
}
