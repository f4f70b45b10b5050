//! Converts values to and from the database's columns.

use std::path::Path;

use chat_permission::Entry;
use jiff::Timestamp;
use serde::Serialize;
use serde::de::value::{Error as WordError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

use super::fault::Outcome;
use crate::message::Options;

/// A time as stored: nanoseconds since 1970, so that it comes back as it went in.
pub(super) fn nanoseconds(time: Timestamp) -> i64 {
    i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX)
}

/// A stored time.
pub(super) fn instant(nanoseconds: i64) -> Timestamp {
    Timestamp::from_nanosecond(nanoseconds.into()).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// An enum without fields as its name.
pub(super) fn word(value: &impl Serialize) -> Outcome<String> {
    let quoted = serde_json::to_string(value)?;
    Ok(quoted.trim_matches('"').to_owned())
}

/// An enum by its name; none for an unknown one.
pub(super) fn read_word<T: DeserializeOwned>(word: &str) -> Option<T> {
    let word: StrDeserializer<'_, WordError> = word.into_deserializer();
    T::deserialize(word).ok()
}

/// A value as JSON, where there is one.
pub(super) fn json(value: Option<&impl Serialize>) -> Outcome<Option<String>> {
    Ok(value.map(serde_json::to_string).transpose()?)
}

/// A value from its JSON; the default where there is none, or one that is not known here.
pub(super) fn read_json<T: Default + DeserializeOwned>(json: Option<&str>) -> T {
    json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
}

/// A path as text. One that is no text cannot be given by any front end.
pub(super) fn path(path: Option<&Path>) -> Option<String> {
    path.map(|path| path.to_string_lossy().into_owned())
}

/// Rules as JSON; none where there is none, as in nearly all sessions.
pub(super) fn rules(rules: &[Entry]) -> Outcome<Option<String>> {
    json((!rules.is_empty()).then_some(&rules))
}

/// Options as JSON; none where none is set, as in nearly all sessions.
pub(super) fn options(options: &Options) -> Outcome<Option<String>> {
    json((*options != Options::default()).then_some(options))
}
