//! Checks what was filled into a field.

use jiff::civil;
use jiff::{Timestamp, Zoned, tz::TimeZone};
use reqwest::Url;
use serde_json::{Number, Value};

use super::{FieldKind, FieldProblemKind, FormOption, NumberLimits, TextFormat};

/// The longest address of a mailbox, in bytes.
const EMAIL: usize = 254;

/// The shortest time with seconds and a zone, in bytes: `2026-03-01T09:00:00Z`.
const DATE_TIME: usize = 20;

/// Whole numbers up to here are the same as `f64` and as integers.
const EXACT: f64 = 9_007_199_254_740_992.0;

type Checked = Result<Option<Value>, FieldProblemKind>;

/// The value that is to be sent; none where it is left empty.
pub(super) fn value(kind: &FieldKind, given: &Value) -> Checked {
    if given.is_null() {
        return Ok(None);
    }
    match kind {
        FieldKind::Text { min_length, max_length, format, .. } => {
            let Value::String(text) = given else { return Err(FieldProblemKind::WrongType) };
            self::text(text, *min_length, *max_length, *format)
        }
        FieldKind::Integer(limits) => integer(limits, given),
        FieldKind::Number(limits) => decimal(limits, given),
        FieldKind::Switch { .. } if given.is_boolean() => Ok(Some(given.clone())),
        FieldKind::Switch { .. } => Err(FieldProblemKind::WrongType),
        FieldKind::Choice { options, .. } => choice(options, given),
        FieldKind::Choices { options, min_items, max_items, .. } => {
            choices(options, *min_items, *max_items, given)
        }
    }
}

/// A number as JSON writes it: a whole one without a fraction. None where it is not finite.
pub(super) fn number(value: f64) -> Option<Number> {
    let is_whole = value.fract() == 0.0 && value.abs() < EXACT;
    if is_whole { format!("{value:.0}").parse().ok() } else { Number::from_f64(value) }
}

fn text(
    text: &str,
    min_length: Option<u32>,
    max_length: Option<u32>,
    format: Option<TextFormat>,
) -> Checked {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let text = match format {
        None => text.to_owned(),
        Some(format) => formatted(format, text.trim()).ok_or(FieldProblemKind::Format(format))?,
    };
    let length = text.chars().count();
    let is = |limit: u32| usize::try_from(limit).unwrap_or(usize::MAX);
    match (min_length, max_length) {
        (Some(least), _) if length < is(least) => Err(FieldProblemKind::TooShort { least }),
        (_, Some(most)) if length > is(most) => Err(FieldProblemKind::TooLong { most }),
        _ => Ok(Some(Value::String(text))),
    }
}

/// The text as it is sent; none where it does not look like this.
fn formatted(format: TextFormat, text: &str) -> Option<String> {
    let fits = match format {
        TextFormat::Email => is_email(text),
        TextFormat::Uri => {
            !text.contains(|c: char| c.is_whitespace() || c.is_control())
                && Url::parse(text).is_ok()
        }
        TextFormat::Date => {
            text.len() == "2026-03-01".len()
                && text.bytes().enumerate().all(|(at, byte)| {
                    if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() }
                })
                && text.parse::<civil::Date>().is_ok()
        }
        TextFormat::DateTime => return date_time(text),
    };
    fits.then(|| text.to_owned())
}

fn is_email(text: &str) -> bool {
    let Some((mailbox, host)) = text.rsplit_once('@') else { return false };
    let is_label = |label: &str| {
        !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
    };
    text.len() <= EMAIL
        && !mailbox.is_empty()
        && !mailbox.contains(|c: char| c.is_whitespace() || c.is_control() || c == '@')
        && host.split('.').all(is_label)
}

/// A time with its zone, as servers read it.
fn date_time(text: &str) -> Option<String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        let is_whole = text.len() >= DATE_TIME
            && !text.contains('[')
            && [(10, b'T'), (16, b':')].iter().all(|(at, byte)| text.as_bytes()[*at] == *byte);
        return Some(if is_whole { text.to_owned() } else { time.to_string() });
    }
    // A day alone says no time.
    let time = text.contains(':').then(|| text.parse::<civil::DateTime>().ok()).flatten()?;
    let here: Zoned = time.to_zoned(TimeZone::system()).ok()?;
    Some(here.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string())
}

fn integer(limits: &NumberLimits<i64>, given: &Value) -> Checked {
    let value = match given {
        Value::String(text) if text.trim().is_empty() => return Ok(None),
        Value::String(text) => text.trim().parse().map_err(|_| FieldProblemKind::NotInteger)?,
        given => given.as_i64().ok_or(FieldProblemKind::NotInteger)?,
    };
    match (limits.min, limits.max) {
        (Some(least), _) if value < least => {
            Err(FieldProblemKind::TooSmall { least: least.into() })
        }
        (_, Some(most)) if value > most => Err(FieldProblemKind::TooLarge { most: most.into() }),
        _ => Ok(Some(value.into())),
    }
}

fn decimal(limits: &NumberLimits<f64>, given: &Value) -> Checked {
    let value = match given {
        Value::String(text) if text.trim().is_empty() => return Ok(None),
        Value::String(text) => typed(text.trim()),
        given => given.as_f64(),
    };
    let value = value.ok_or(FieldProblemKind::NotNumber)?;
    let sent = number(value).ok_or(FieldProblemKind::NotNumber)?;
    if let Some(least) = limits.min.filter(|least| value < *least).and_then(number) {
        return Err(FieldProblemKind::TooSmall { least });
    }
    if let Some(most) = limits.max.filter(|most| value > *most).and_then(number) {
        return Err(FieldProblemKind::TooLarge { most });
    }
    Ok(Some(Value::Number(sent)))
}

/// A number as people type it, also with a comma. Where the comma may stand between thousands, it is
/// not known which number is meant.
fn typed(text: &str) -> Option<f64> {
    // Words such as “infinity” would be read, too.
    if text.contains(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E')) {
        return None;
    }
    match text.split_once(',') {
        Some((_, rest)) if rest.len() == 3 || text.contains('.') => None,
        Some((whole, rest)) => format!("{whole}.{rest}").parse().ok(),
        None => text.parse().ok(),
    }
}

fn choice(options: &[FormOption], given: &Value) -> Checked {
    let Value::String(value) = given else { return Err(FieldProblemKind::WrongType) };
    match options.iter().any(|option| option.value == *value) {
        true => Ok(Some(given.clone())),
        false if value.is_empty() => Ok(None),
        false => Err(FieldProblemKind::NoSuchOption),
    }
}

fn choices(
    options: &[FormOption],
    min_items: Option<u64>,
    max_items: Option<u64>,
    given: &Value,
) -> Checked {
    let Value::Array(chosen) = given else { return Err(FieldProblemKind::WrongType) };
    let is_there = |value: &Value| options.iter().any(|option| *value == option.value.as_str());
    if !chosen.iter().all(is_there) {
        return Err(FieldProblemKind::NoSuchOption);
    }
    // Each once, in the order of the options.
    let mut values: Vec<&str> = Vec::new();
    for option in options {
        let is_chosen = chosen.iter().any(|value| *value == option.value.as_str());
        if is_chosen && !values.contains(&option.value.as_str()) {
            values.push(&option.value);
        }
    }
    let count = values.len() as u64;
    match (min_items, max_items) {
        // None at all is left empty, where that is possible.
        (Some(1..), _) if count == 0 => Ok(None),
        (Some(least), _) if count < least => Err(FieldProblemKind::TooFew { least }),
        (_, Some(most)) if count > most => Err(FieldProblemKind::TooMany { most }),
        _ => Ok(Some(Value::from(values))),
    }
}
