//! Parses the values of options.

use chat_core::message::{OptionName, Options, Thinking};
use chat_core::permission::{Mode, Rule};
use chat_core::settings::ConnectionKind;
use chat_presentation::words;
use clap::builder::TypedValueParser as _;
use clap::builder::{PossibleValue, PossibleValuesParser};

pub(super) fn thinking_parser() -> impl clap::builder::TypedValueParser<Value = Thinking> {
    let value = |level| {
        let value = PossibleValue::new(words::thinking_name(level));
        if level == Thinking::default() { value.alias(words::OLD_DEFAULT_THINKING) } else { value }
    };
    PossibleValuesParser::new(words::thinking_levels().map(value))
        .map(|name| words::thinking_from_name(&name).unwrap_or_default())
}

pub(super) fn mode_parser() -> impl clap::builder::TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::name))
        .map(|name| name.parse().unwrap_or_default())
}

/// The same for what would make its command the largest.
pub(super) fn parse_boxed_rule(text: &str) -> Result<Box<Rule>, String> {
    parse_rule(text).map(Box::new)
}

pub(super) fn parse_rule(text: &str) -> Result<Rule, String> {
    text.parse().map_err(|bad| words::bad_rule(&bad))
}

pub(super) fn kind_parser() -> impl clap::builder::TypedValueParser<Value = ConnectionKind> {
    PossibleValuesParser::new(ConnectionKind::ALL.map(ConnectionKind::name)).try_map(|name| {
        ConnectionKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or(name)
    })
}

pub(super) fn parse_temperature(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=2.0).contains(&number) => Ok(number),
        _ => Err("it must be a number from 0 to 2".to_owned()),
    }
}

/// Parses `NAME=VALUE` of an option.
pub(super) fn parse_option(text: &str) -> Result<(OptionName, String), String> {
    let names = || OptionName::ALL.map(OptionName::name).join(", ");
    let (name, value) =
        text.split_once('=').ok_or_else(|| format!("write NAME=VALUE; there are {}", names()))?;
    let option = OptionName::named(name.trim())
        .ok_or_else(|| format!("no option is called {name}; there are {}", names()))?;
    Options::default().set_text(option, Some(value)).map_err(|_| words::bad_option(option))?;
    Ok((option, value.to_owned()))
}

/// Parses a header as `NAME: VALUE`.
pub(super) fn parse_header(text: &str) -> Result<(String, String), String> {
    split_header(text, ':').ok_or_else(|| "it must look like NAME: VALUE".to_owned())
}

/// Parses a header and the environment variable with its value as `NAME=VARIABLE`.
pub(super) fn parse_header_variable(text: &str) -> Result<(String, String), String> {
    split_header(text, '=').ok_or_else(|| "it must look like NAME=VARIABLE".to_owned())
}

/// Parses a variable as `NAME=VALUE`. The value may be empty.
pub(super) fn parse_variable(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = pair.ok_or_else(|| "it must look like NAME=VALUE".to_owned())?;
    Ok((name.to_owned(), value.to_owned()))
}

fn split_header(text: &str, between: char) -> Option<(String, String)> {
    let (name, value) = text.split_once(between)?;
    let (name, value) = (name.trim(), value.trim());
    (!name.is_empty() && !value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
}
