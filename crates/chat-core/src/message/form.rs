//! Defines forms: what a server asks the user to fill in, and what is sent back.

mod check;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

/// What a server asks the user to fill in. All its texts come from the server: they are data.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// The server that asks, as people call it.
    pub server: String,
    /// What the server says above the fields.
    pub message: String,
    /// What is to be filled in, in the order of the server. Their names differ.
    pub fields: Vec<FormField>,
}

/// One thing to fill in.
#[derive(Clone, Debug, PartialEq)]
pub struct FormField {
    /// Its name in the answer.
    pub name: String,
    /// What people call it.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Whether the form cannot be sent without it.
    pub required: bool,
    /// What can be filled in.
    pub kind: FieldKind,
}

/// What can be filled in.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    /// A text of one line.
    Text {
        /// How many characters it has at least.
        min_length: Option<u32>,
        /// How many characters it has at most.
        max_length: Option<u32>,
        /// What it has to look like.
        format: Option<TextFormat>,
        /// What is there at first.
        default: Option<String>,
    },
    /// A whole number.
    Integer(NumberLimits<i64>),
    /// A number.
    Number(NumberLimits<f64>),
    /// Yes or no.
    Switch {
        /// What is there at first.
        default: Option<bool>,
    },
    /// One of several options.
    Choice {
        /// The options.
        options: Vec<FormOption>,
        /// The value that is chosen at first.
        default: Option<String>,
    },
    /// Any of several options.
    Choices {
        /// The options.
        options: Vec<FormOption>,
        /// How many are chosen at least.
        min_items: Option<u64>,
        /// How many are chosen at most.
        max_items: Option<u64>,
        /// The values that are chosen at first.
        default: Vec<String>,
    },
}

/// What a number may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberLimits<T> {
    /// The smallest.
    pub min: Option<T>,
    /// The largest.
    pub max: Option<T>,
    /// What is there at first.
    pub default: Option<T>,
}

/// What a text has to look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// An email address.
    Email,
    /// An address of any kind, with its scheme.
    Uri,
    /// A day, such as `2026-03-01`.
    Date,
    /// A time on a day. Where no time zone is given, that of this computer is added.
    DateTime,
}

/// Something that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormOption {
    /// What is sent.
    pub value: String,
    /// What people call it.
    pub title: String,
}

/// What the user does with a form. Where they do neither, because nobody is there or the request ends,
/// it is denied.
#[derive(Clone, PartialEq, Eq)]
pub enum FormAnswer {
    /// They send it, with these values by the names of the fields.
    Filled(Map<String, Value>),
    /// They do not send it.
    Declined,
}

/// Values may be private, so logs get the names alone.
impl fmt::Debug for FormAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Filled(values) => f.debug_tuple("Filled").field(&values.keys()).finish(),
            Self::Declined => f.write_str("Declined"),
        }
    }
}

/// What became of a form, as it is stored: never what was filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormRecord {
    /// The server that asked.
    pub server: String,
    /// Whether the form was sent.
    pub sent: bool,
    /// What people call the fields that were sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

/// Something that keeps a form from being sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldProblem {
    /// The name of the field.
    pub field: String,
    /// What is wrong with it.
    pub kind: FieldProblemKind,
}

/// What is wrong with what was filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldProblemKind {
    /// It is required, and nothing was filled in.
    Missing,
    /// The text has fewer characters.
    TooShort {
        /// How many it has at least.
        least: u32,
    },
    /// The text has more characters.
    TooLong {
        /// How many it has at most.
        most: u32,
    },
    /// The text does not look as it has to.
    Format(TextFormat),
    /// It is no whole number, or one that is too large to be sent.
    NotInteger,
    /// It is no number.
    NotNumber,
    /// The number is smaller.
    TooSmall {
        /// The smallest.
        least: Number,
    },
    /// The number is larger.
    TooLarge {
        /// The largest.
        most: Number,
    },
    /// There is no such option.
    NoSuchOption,
    /// Fewer are chosen.
    TooFew {
        /// How many at least.
        least: u64,
    },
    /// More are chosen.
    TooMany {
        /// How many at most.
        most: u64,
    },
    /// It is not what the field takes at all, such as a text for a switch.
    WrongType,
}

impl Form {
    /// Holds what was filled in against the fields, and gives what is to be sent: the values of the fields, without those that
    /// were left empty. A number may be given as it was typed.
    ///
    /// # Errors
    /// All that is wrong, in the order of the fields.
    pub fn check(
        &self,
        given: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Vec<FieldProblem>> {
        let (mut values, mut problems) = (Map::new(), Vec::new());
        for field in &self.fields {
            match field.check(given.get(&field.name)) {
                Ok(Some(value)) => drop(values.insert(field.name.clone(), value)),
                Ok(None) => {}
                Err(kind) => problems.push(FieldProblem { field: field.name.clone(), kind }),
            }
        }
        if problems.is_empty() { Ok(values) } else { Err(problems) }
    }

    /// What is there at first.
    pub fn defaults(&self) -> Map<String, Value> {
        let with_default = |field: &FormField| Some((field.name.clone(), field.default()?));
        self.fields.iter().filter_map(with_default).collect()
    }

    /// What is stored of it.
    pub fn record(&self, answer: &FormAnswer) -> FormRecord {
        let (sent, fields) = match answer {
            FormAnswer::Filled(values) => {
                let sent = self.fields.iter().filter(|field| values.contains_key(&field.name));
                (true, sent.map(|field| field.label().to_owned()).collect())
            }
            FormAnswer::Declined => (false, Vec::new()),
        };
        FormRecord { server: self.server.clone(), sent, fields }
    }
}

impl FormField {
    /// What people call it; its name where it has no title.
    pub fn label(&self) -> &str {
        let title = self.title.as_deref().filter(|title| !title.trim().is_empty());
        title.unwrap_or(&self.name)
    }

    /// What is there at first; none where there is nothing, or nothing that could be sent.
    pub fn default(&self) -> Option<Value> {
        let value = match &self.kind {
            FieldKind::Text { default, .. } | FieldKind::Choice { default, .. } => {
                default.clone().map(Value::String)
            }
            FieldKind::Integer(limits) => limits.default.map(Value::from),
            FieldKind::Number(limits) => limits.default.and_then(check::number).map(Value::Number),
            FieldKind::Switch { default } => default.map(Value::Bool),
            FieldKind::Choices { default, .. } => {
                (!default.is_empty()).then(|| Value::from(default.clone()))
            }
        };
        self.check(value.as_ref()).ok().flatten()
    }

    /// Holds what was filled in against the field, and gives what is to be sent; none where it is left empty.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, given: Option<&Value>) -> Result<Option<Value>, FieldProblemKind> {
        match given.map_or(Ok(None), |given| check::value(&self.kind, given))? {
            None if self.required => Err(FieldProblemKind::Missing),
            value => Ok(value),
        }
    }
}
