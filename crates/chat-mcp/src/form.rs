//! Makes a form of what a server asks the user for, and an answer to the server of what they filled in.
//!
//! Texts of servers are data: they are shortened, and freed of control characters. Names and values are sent back as they
//! came, so a form with one that is too long is none.

use std::collections::BTreeSet;

use chat_core::message::{
    FieldKind, Form, FormAnswer, FormField, FormOption, NumberLimits, TextFormat,
};
use rmcp::model::{
    ConstTitle, ElicitRequestParams, ElicitResult, ElicitationAction, EnumSchema,
    MultiSelectEnumSchema, PrimitiveSchemaDefinition, SingleSelectEnumSchema, StringFormat,
};
use serde_json::Value;

/// The most fields of a form.
pub const FIELDS: usize = 50;

/// The most options of a field.
const OPTIONS: usize = 200;

/// Characters of the text above the fields that are shown.
const MESSAGE: usize = 4_000;

/// Characters of a description that are shown.
const DESCRIPTION: usize = 1_000;

/// Characters of a title that are shown.
const TITLE: usize = 200;

/// The longest name of a field and value of an option, in bytes.
const NAME: usize = 1_000;

/// The longest text that is there at first, in bytes.
const DEFAULT: usize = 10_000;

/// The form that a server asks for, with its fields in the server's order. `server` is what people call it. None where it
/// is no form, or one that cannot be shown: the server is to be told that it was declined.
pub fn form(server: &str, params: &ElicitRequestParams) -> Option<Form> {
    let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = params
    else {
        return None;
    };
    let properties = &requested_schema.properties;
    if properties.len() > FIELDS {
        return None;
    }
    let required: BTreeSet<&str> =
        requested_schema.required.iter().flatten().map(String::as_str).collect();
    // Those that the order leaves out, or names twice, come once all the same.
    let mut names: Vec<&String> = Vec::with_capacity(properties.len());
    for name in requested_schema.property_order.iter().flatten().chain(properties.keys()) {
        if properties.contains_key(name) && !names.contains(&name) {
            names.push(name);
        }
    }
    let field = |name: &&String| field(name, required.contains(name.as_str()), &properties[*name]);
    let fields = names.iter().map(field).collect::<Option<_>>()?;
    Some(Form { server: shown(server, TITLE), message: shown(message, MESSAGE), fields })
}

/// What the server is told of what the user did with its form.
pub fn result(answer: &FormAnswer) -> ElicitResult {
    match answer {
        FormAnswer::Filled(values) => {
            ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(values.clone()))
        }
        FormAnswer::Declined => ElicitResult::new(ElicitationAction::Decline),
    }
}

/// What the server is told where the user did nothing with its form: nobody was there, or the request ended.
pub fn cancelled() -> ElicitResult {
    ElicitResult::new(ElicitationAction::Cancel)
}

fn field(name: &str, required: bool, schema: &PrimitiveSchemaDefinition) -> Option<FormField> {
    if name.len() > NAME {
        return None;
    }
    let (title, description, kind) = match schema {
        PrimitiveSchemaDefinition::String(it) => {
            let kind = FieldKind::Text {
                min_length: it.min_length,
                max_length: it.max_length,
                format: match it.format {
                    Some(known) => Some(format(known)?),
                    None => None,
                },
                default: it.default.clone().filter(|text| text.len() <= DEFAULT),
            };
            (&it.title, &it.description, kind)
        }
        PrimitiveSchemaDefinition::Number(it) => {
            let limits = NumberLimits { min: it.minimum, max: it.maximum, default: it.default };
            (&it.title, &it.description, FieldKind::Number(limits))
        }
        PrimitiveSchemaDefinition::Integer(it) => {
            let limits = NumberLimits { min: it.minimum, max: it.maximum, default: it.default };
            (&it.title, &it.description, FieldKind::Integer(limits))
        }
        PrimitiveSchemaDefinition::Boolean(it) => {
            (&it.title, &it.description, FieldKind::Switch { default: it.default })
        }
        PrimitiveSchemaDefinition::Enum(it) => return choice(name, required, it),
        // What a later protocol brings.
        _ => return None,
    };
    let (title, description) = (title.as_deref(), description.as_deref());
    Some(described(name, title, description, required, kind))
}

fn choice(name: &str, required: bool, schema: &EnumSchema) -> Option<FormField> {
    let (title, description, kind) = match schema {
        EnumSchema::Single(SingleSelectEnumSchema::Untitled(it)) => {
            (&it.title, &it.description, one(untitled(&it.enum_)?, it.default.as_ref()))
        }
        EnumSchema::Single(SingleSelectEnumSchema::Titled(it)) => {
            (&it.title, &it.description, one(titled(&it.one_of)?, it.default.as_ref()))
        }
        EnumSchema::Legacy(it) => {
            let names = it.enum_names.iter().flatten().map(|title| Some(title.as_str()));
            let titles = names.chain(std::iter::repeat(None));
            let options = it.enum_.iter().zip(titles);
            let all = options.map(|(value, title)| (value.as_str(), title.unwrap_or(value)));
            (&it.title, &it.description, one(options_of(all)?, it.default.as_ref()))
        }
        EnumSchema::Multi(MultiSelectEnumSchema::Untitled(it)) => {
            let options = untitled(&it.items.enum_)?;
            let default = it.default.clone().unwrap_or_default();
            let (min_items, max_items) = (it.min_items, it.max_items);
            let kind = FieldKind::Choices { options, min_items, max_items, default };
            (&it.title, &it.description, kind)
        }
        EnumSchema::Multi(MultiSelectEnumSchema::Titled(it)) => {
            let options = titled(&it.items.any_of)?;
            let default = it.default.clone().unwrap_or_default();
            let (min_items, max_items) = (it.min_items, it.max_items);
            let kind = FieldKind::Choices { options, min_items, max_items, default };
            (&it.title, &it.description, kind)
        }
        _ => return None,
    };
    let (title, description) = (title.as_deref(), description.as_deref());
    Some(described(name, title, description, required, kind))
}

fn described(
    name: &str,
    title: Option<&str>,
    description: Option<&str>,
    required: bool,
    kind: FieldKind,
) -> FormField {
    FormField {
        name: name.to_owned(),
        title: title.map(|title| shown(title, TITLE)),
        description: description.map(|text| shown(text, DESCRIPTION)),
        required,
        kind,
    }
}

fn one(options: Vec<FormOption>, default: Option<&String>) -> FieldKind {
    FieldKind::Choice { options, default: default.cloned() }
}

fn untitled(values: &[String]) -> Option<Vec<FormOption>> {
    options_of(values.iter().map(|value| (value.as_str(), value.as_str())))
}

fn titled(values: &[ConstTitle]) -> Option<Vec<FormOption>> {
    options_of(values.iter().map(|option| (option.const_.as_str(), option.title.as_str())))
}

/// Each value once. None where there are none, or too many, or values that are too long.
fn options_of<'a>(all: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Vec<FormOption>> {
    let mut options: Vec<FormOption> = Vec::new();
    for (value, title) in all {
        if value.len() > NAME || options.len() == OPTIONS {
            return None;
        }
        if options.iter().all(|option| option.value != value) {
            options.push(FormOption { value: value.to_owned(), title: shown(title, TITLE) });
        }
    }
    (!options.is_empty()).then_some(options)
}

fn format(format: StringFormat) -> Option<TextFormat> {
    match format {
        StringFormat::Email => Some(TextFormat::Email),
        StringFormat::Uri => Some(TextFormat::Uri),
        StringFormat::Date => Some(TextFormat::Date),
        StringFormat::DateTime => Some(TextFormat::DateTime),
        _ => None,
    }
}

/// A text of a server as it is shown: no longer than this, and without control characters other than those that break lines.
fn shown(text: &str, most: usize) -> String {
    let mut chars = text.trim().chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t'));
    let mut out: String = chars.by_ref().take(most).collect();
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    /// The form of such a request, as it comes: the order of keys counts.
    fn read(schema: &str) -> Option<Form> {
        let text =
            format!(r#"{{"mode":"form","message":"Who are you?","requestedSchema":{schema}}}"#);
        form("Hub", &serde_json::from_str(&text).expect("a request"))
    }

    fn of(properties: &Value) -> Option<Form> {
        read(&json!({ "type": "object", "properties": properties }).to_string())
    }

    fn options(pairs: &[(&str, &str)]) -> Vec<FormOption> {
        let option = |(value, title): &(&str, &str)| FormOption {
            value: (*value).to_owned(),
            title: (*title).to_owned(),
        };
        pairs.iter().map(option).collect()
    }

    #[test]
    fn fields_come_in_the_order_of_the_server_with_what_they_may_be() {
        let form = read(
            r#"{
            "type": "object",
            "properties": {
                "zip": { "type": "string", "title": "ZIP", "minLength": 5, "maxLength": 5, "default": "01067" },
                "mail": { "type": "string", "format": "email", "description": "Where to write to" },
                "age": { "type": "integer", "minimum": 18, "maximum": 99 },
                "size": { "type": "number", "default": 1.5 },
                "agreed": { "type": "boolean", "default": true }
            },
            "required": ["mail", "age"]
        }"#,
        )
        .expect("a form");
        assert_eq!((form.server.as_str(), form.message.as_str()), ("Hub", "Who are you?"));
        let names: Vec<_> = form.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["zip", "mail", "age", "size", "agreed"]);
        let required: Vec<_> = form.fields.iter().map(|field| field.required).collect();
        assert_eq!(required, [false, true, true, false, false]);
        let [zip, mail, age, size, agreed] = &form.fields[..] else { panic!() };
        assert_eq!(zip.label(), "ZIP");
        assert_eq!(mail.description.as_deref(), Some("Where to write to"));
        let text = |limits: Option<u32>, format, default: Option<&str>| FieldKind::Text {
            min_length: limits,
            max_length: limits,
            format,
            default: default.map(str::to_owned),
        };
        assert_eq!(zip.kind, text(Some(5), None, Some("01067")));
        assert_eq!(mail.kind, text(None, Some(TextFormat::Email), None));
        let limits = NumberLimits { min: Some(18), max: Some(99), default: None };
        assert_eq!(age.kind, FieldKind::Integer(limits));
        let limits = NumberLimits { min: None, max: None, default: Some(1.5) };
        assert_eq!(size.kind, FieldKind::Number(limits));
        assert_eq!(agreed.kind, FieldKind::Switch { default: Some(true) });
    }

    #[test]
    fn every_kind_of_choice_is_read() {
        let form = read(
            r#"{ "type": "object", "properties": {
            "plain": { "type": "string", "enum": ["a", "b", "a"], "default": "b" },
            "named": { "type": "string", "oneOf": [{ "const": "a", "title": "Apple" }] },
            "old": { "type": "string", "enum": ["a", "b"], "enumNames": ["Apple"] },
            "several": {
                "type": "array", "minItems": 1, "maxItems": 2, "default": ["a"],
                "items": { "type": "string", "enum": ["a", "b"] }
            },
            "both": { "type": "array", "items": { "anyOf": [{ "const": "a", "title": "Apple" }] } }
        } }"#,
        )
        .expect("a form");
        let kinds: Vec<_> = form.fields.iter().map(|field| field.kind.clone()).collect();
        let default = |default: &str| Some(default.to_owned());
        let plain = [("a", "a"), ("b", "b")];
        assert_eq!(
            kinds,
            [
                FieldKind::Choice { options: options(&plain), default: default("b") },
                FieldKind::Choice { options: options(&[("a", "Apple")]), default: None },
                FieldKind::Choice {
                    options: options(&[("a", "Apple"), ("b", "b")]),
                    default: None
                },
                FieldKind::Choices {
                    options: options(&plain),
                    min_items: Some(1),
                    max_items: Some(2),
                    default: vec!["a".to_owned()],
                },
                FieldKind::Choices {
                    options: options(&[("a", "Apple")]),
                    min_items: None,
                    max_items: None,
                    default: Vec::new(),
                },
            ]
        );
    }

    #[test]
    fn what_cannot_be_shown_is_no_form() {
        let params = json!({ "mode": "url", "message": "Sign in", "url": "https://example.org/", "elicitationId": "1" });
        let params = serde_json::from_value(params).expect("a request");
        assert_eq!(form("Hub", &params), None);
        assert_eq!(of(&json!({ "empty": { "type": "string", "enum": [] } })), None);
        let long = "x".repeat(NAME + 1);
        assert_eq!(of(&json!({ long.as_str(): { "type": "string" } })), None);
        assert_eq!(of(&json!({ "long": { "type": "string", "enum": [long] } })), None);
        let fields = |count: usize| {
            let field = |n: usize| (format!("f{n}"), json!({ "type": "string" }));
            of(&Value::Object((0..count).map(field).collect::<Map<_, _>>()))
        };
        assert!(fields(FIELDS).is_some_and(|form| form.fields.len() == FIELDS));
        assert_eq!(fields(FIELDS + 1), None);
        let options = |count: usize| {
            let values: Vec<_> = (0..count).map(|n| n.to_string()).collect();
            of(&json!({ "many": { "type": "string", "enum": values } }))
        };
        assert!(options(OPTIONS).is_some() && options(OPTIONS + 1).is_none());
    }

    #[test]
    fn texts_are_shortened_and_have_no_control_characters() {
        let title = format!("\u{1b}[8m\r{}", "x".repeat(TITLE));
        let form =
            of(&json!({ "a": { "type": "string", "title": title, "description": "a\nb\u{7}" } }));
        let field = form.expect("a form").fields.remove(0);
        let title = field.title.expect("a title");
        assert!(title.starts_with("[8mx") && title.ends_with("x…"), "{title}");
        assert_eq!(title.chars().count(), TITLE + 1);
        assert_eq!(field.description.as_deref(), Some("a\nb"));
    }

    #[test]
    fn the_server_is_told_what_was_sent_or_that_nothing_was() {
        let told = |result| serde_json::to_value::<ElicitResult>(result).expect("JSON");
        let values = json!({ "name": "Ada" });
        let filled = FormAnswer::Filled(values.as_object().expect("a map").clone());
        assert_eq!(told(result(&filled)), json!({ "action": "accept", "content": values }));
        assert_eq!(told(result(&FormAnswer::Declined)), json!({ "action": "decline" }));
        assert_eq!(told(cancelled()), json!({ "action": "cancel" }));
    }
}
