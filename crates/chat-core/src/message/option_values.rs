//! Defines options that are more than a number.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long a server keeps a model in memory after a reply: seconds, or a duration such as `10m` or
/// `1h30m`. Negative is for ever, `0` is not at all. As Ollama has it (`keep_alive`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeepAlive(String);

impl KeepAlive {
    /// As it was typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As JSON: a number of seconds, or the duration's text.
    pub(crate) fn to_json(&self) -> Value {
        self.0.parse::<i64>().map_or_else(|_| self.0.as_str().into(), Into::into)
    }
}

impl TryFrom<String> for KeepAlive {
    type Error = InvalidOption;

    fn try_from(text: String) -> Result<Self, InvalidOption> {
        let text = text.trim().to_owned();
        let unsigned = text.strip_prefix('-').unwrap_or(&text);
        let is_number = !unsigned.is_empty()
            && unsigned.len() <= 9
            && unsigned.bytes().all(|b| b.is_ascii_digit());
        if is_number || is_duration(unsigned) { Ok(Self(text)) } else { Err(InvalidOption) }
    }
}

impl From<KeepAlive> for String {
    fn from(value: KeepAlive) -> Self {
        value.0
    }
}

/// Whether it is a duration as Go writes it: numbers, each with its unit.
fn is_duration(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number = &rest[..end];
        if end == 0 || end > 9 || number.parse::<f64>().is_err() {
            return false;
        }
        // The longer ones first: a minute is a part of a millisecond's name.
        let units = ["ms", "h", "m", "s"];
        let Some(unit) = units.into_iter().find(|unit| rest[end..].starts_with(unit)) else {
            return false;
        };
        rest = &rest[end + unit.len()..];
    }
    !text.is_empty()
}

/// A JSON schema that a reply must follow, as the JSON text that was given.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ReplySchema(String);

impl ReplySchema {
    /// The most bytes a schema may have.
    const LONGEST: usize = 64 * 1024;

    /// Its JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its JSON.
    pub(crate) fn to_json(&self) -> Value {
        // It was checked when it was made.
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

impl TryFrom<String> for ReplySchema {
    type Error = InvalidOption;

    fn try_from(text: String) -> Result<Self, InvalidOption> {
        let is_object = matches!(serde_json::from_str(&text), Ok(Value::Object(_)));
        if is_object && text.len() <= Self::LONGEST { Ok(Self(text)) } else { Err(InvalidOption) }
    }
}

impl From<ReplySchema> for String {
    fn from(value: ReplySchema) -> Self {
        value.0
    }
}

/// A value that an option cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a value of this option")]
pub struct InvalidOption;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_as_ollama_takes_them() {
        for good in ["0", "-1", "300", "10m", "1h30m", "1.5h", "-1s", "500ms", " 5m "] {
            assert!(KeepAlive::try_from(good.to_owned()).is_ok(), "{good}");
        }
        for bad in ["", "-", "m", "10", "5 minutes", "1d", "1h30", "1..5h", "9999999999"] {
            let is_number = bad == "10";
            assert_eq!(KeepAlive::try_from(bad.to_owned()).is_ok(), is_number, "{bad}");
        }
        let json = |text: &str| KeepAlive::try_from(text.to_owned()).unwrap().to_json();
        assert_eq!((json("300"), json("-1"), json("5m")), (300.into(), (-1).into(), "5m".into()));
    }

    #[test]
    fn a_schema_is_an_object() {
        let schema = |text: &str| ReplySchema::try_from(text.to_owned());
        assert_eq!(schema("{\"type\": \"object\"}").unwrap().to_json()["type"], "object");
        for bad in ["", "{", "[]", "true", "\"object\""] {
            assert_eq!(schema(bad), Err(InvalidOption), "{bad}");
        }
    }
}
