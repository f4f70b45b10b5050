//! Asks for the fields of a form one by one, shows what was filled in, and asks whether to send it.

use std::fmt::Write as _;

use chat_core::message::{Answer, FieldKind, Form, FormAnswer, FormField, FormOption};
use chat_presentation::words::{self, one_line};
use serde_json::{Map, Value};

use super::{Choice, chosen};
use crate::say;

/// What leaves a field empty that has something in it.
const EMPTY: &str = "-";

/// A form that is being filled in.
#[derive(Clone, Debug)]
pub(super) struct FormPrompt {
    form: Form,
    filled: Map<String, Value>,
    /// The field that is asked for; after the last one, whether to send it all.
    at: usize,
}

impl FormPrompt {
    pub(super) fn new(form: &Form) -> Self {
        Self { form: form.clone(), filled: form.defaults(), at: 0 }
    }

    /// What is asked for now. The cursor stays after it.
    pub(super) fn line(&self) -> String {
        match self.form.fields.get(self.at) {
            Some(field) => self.field(field),
            None => self.end(),
        }
    }

    /// Takes a typed line, and gives what is answered if that was all. Otherwise also what is wrong with the line.
    pub(super) fn read(&mut self, line: &str) -> Result<Option<Answer>, String> {
        let line = line.trim();
        let Some(field) = self.form.fields.get(self.at) else { return Ok(self.read_end(line)) };
        let value = match line {
            "" => self.filled.get(&field.name).cloned(),
            EMPTY if !field.required && self.filled.contains_key(&field.name) => None,
            line => Some(typed(&field.kind, line)),
        };
        let checked = field.check(value.as_ref()).map_err(|kind| words::field_problem(&kind))?;
        match checked {
            Some(value) => drop(self.filled.insert(field.name.clone(), value)),
            None => drop(self.filled.remove(&field.name)),
        }
        self.at += 1;
        Ok(None)
    }

    fn read_end(&mut self, line: &str) -> Option<Answer> {
        if let Some(answer) = chosen(&self.ends(), line) {
            return Some(answer);
        }
        if say::is_change(line) {
            self.at = 0;
        }
        None
    }

    /// The answers at the end that are answers of the form.
    fn ends(&self) -> [Choice; 2] {
        let filled = FormAnswer::Filled(self.filled.clone());
        [
            Choice { label: say::send_form(), english: 's', answer: Answer::Form(filled) },
            Choice {
                label: say::decline_form(),
                english: 'd',
                answer: Answer::Form(FormAnswer::Declined),
            },
        ]
    }

    fn end(&self) -> String {
        let mut text = String::new();
        for field in &self.form.fields {
            let value = self.filled.get(&field.name).map(|value| shown(&field.kind, value));
            let value = value.unwrap_or_default();
            let _ = writeln!(text, "  {}: {value}", one_line(field.label()));
        }
        let [send, decline] = self.ends().map(|choice| choice.label);
        text + &format!("{}, {}, {}: ", send, say::change_form(), decline)
    }

    fn field(&self, field: &FormField) -> String {
        let mut text = String::new();
        if let FieldKind::Choice { options, .. } | FieldKind::Choices { options, .. } = &field.kind
        {
            for (at, option) in options.iter().enumerate() {
                let _ = writeln!(text, "  {}  {}", at + 1, one_line(&option.title));
            }
        }
        let told = words::field_description(field).into_iter();
        let told = told.chain(say::how_to_fill(&field.kind));
        for line in told.collect::<Vec<_>>().join("\n").lines() {
            let _ = writeln!(text, "  {line}");
        }
        let now = self.filled.get(&field.name).map(|value| shown(&field.kind, value));
        text + &say::field_line(&words::field_title(field), now.as_deref(), !field.required)
    }
}

/// What a typed line fills in.
fn typed(kind: &FieldKind, line: &str) -> Value {
    let option = |options: &[FormOption], word: &str| {
        let number = word.parse().ok().and_then(|number: usize| number.checked_sub(1));
        let by_number = number.and_then(|at| options.get(at));
        let named = || options.iter().find(|option| option.title == word || option.value == word);
        let found = by_number.or_else(named).map(|option| option.value.clone());
        Value::String(found.unwrap_or_else(|| word.to_owned()))
    };
    match kind {
        FieldKind::Switch { .. } if say::is_yes(line) => Value::Bool(true),
        FieldKind::Switch { .. } if say::is_no(line) => Value::Bool(false),
        FieldKind::Choice { options, .. } => option(options, line),
        FieldKind::Choices { options, .. } => {
            let words = line.split([',', ' ']).filter(|word| !word.is_empty());
            words.map(|word| option(options, word)).collect()
        }
        FieldKind::Text { .. }
        | FieldKind::Integer(_)
        | FieldKind::Number(_)
        | FieldKind::Switch { .. } => Value::String(line.to_owned()),
    }
}

/// What is filled in, as people read it.
fn shown(kind: &FieldKind, value: &Value) -> String {
    let title = |options: &[FormOption], value: &Value| {
        let found = options.iter().find(|option| *value == option.value.as_str());
        found.map(|option| one_line(&option.title)).unwrap_or_default()
    };
    match (kind, value) {
        (FieldKind::Choice { options, .. }, value) => title(options, value),
        (FieldKind::Choices { options, .. }, Value::Array(chosen)) => {
            chosen.iter().map(|value| title(options, value)).collect::<Vec<_>>().join(", ")
        }
        (_, Value::Bool(on)) => say::yes_or_no(*on),
        (_, Value::String(text)) => one_line(text),
        (_, value) => value.to_string(),
    }
}
