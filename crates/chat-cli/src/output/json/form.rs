//! Defines the JSON of a form: what was asked for, and which fields were sent. The values go to the server alone.

use chat_core::message::{Answer, FieldKind, Form, FormAnswer, FormField};
use serde::Serialize;

use super::names::form_answer_name;

/// A form and what became of it.
#[derive(Debug, Serialize)]
pub(super) struct FormView<'a> {
    id: &'a str,
    tool: &'a str,
    server: &'a str,
    message: &'a str,
    fields: Vec<FieldView<'a>>,
    answer: &'static str,
    /// The names of the fields that were sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sent: Vec<&'a str>,
}

/// A field that was asked for.
#[derive(Debug, Serialize)]
struct FieldView<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    kind: &'static str,
    required: bool,
}

impl<'a> FormView<'a> {
    /// What became of the form; none if it was settled without an answer.
    pub(super) fn new(
        id: &'a str,
        tool: &'a str,
        form: &'a Form,
        answer: Option<&'a Answer>,
    ) -> Self {
        let sent = match answer {
            Some(Answer::Form(FormAnswer::Filled(values))) => {
                values.keys().map(String::as_str).collect()
            }
            _ => Vec::new(),
        };
        Self {
            id,
            tool,
            server: &form.server,
            message: &form.message,
            fields: form.fields.iter().map(FieldView::new).collect(),
            answer: form_answer_name(answer),
            sent,
        }
    }
}

impl<'a> FieldView<'a> {
    fn new(field: &'a FormField) -> Self {
        let kind = match field.kind {
            FieldKind::Text { .. } => "text",
            FieldKind::Integer(_) => "integer",
            FieldKind::Number(_) => "number",
            FieldKind::Switch { .. } => "switch",
            FieldKind::Choice { .. } => "choice",
            FieldKind::Choices { .. } => "choices",
        };
        let title = field.title.as_deref();
        Self { name: &field.name, title, kind, required: field.required }
    }
}

#[cfg(test)]
mod tests {
    use chat_core::message::NumberLimits;
    use serde_json::json;

    use super::*;

    #[test]
    fn which_fields_were_sent_is_told_and_no_value() {
        let age = NumberLimits { min: None, max: None, default: None };
        let field = |name: &str, required, kind| FormField {
            name: name.to_owned(),
            title: None,
            description: None,
            required,
            kind,
        };
        let form = Form {
            server: "Club".to_owned(),
            message: "Who?".to_owned(),
            fields: vec![
                field("member", true, FieldKind::Switch { default: None }),
                field("age", false, FieldKind::Integer(age)),
            ],
        };
        let told = |answer: Option<&Answer>| {
            serde_json::to_value(FormView::new("c1", "signs", &form, answer)).expect("JSON")
        };
        let values = form.check(json!({ "member": true }).as_object().expect("a map"));
        let filled = Answer::Form(FormAnswer::Filled(values.expect("it fits")));
        assert_eq!(
            told(Some(&filled)),
            json!({
                "id": "c1",
                "tool": "signs",
                "server": "Club",
                "message": "Who?",
                "fields": [
                    { "name": "member", "kind": "switch", "required": true },
                    { "name": "age", "kind": "integer", "required": false },
                ],
                "answer": "sent",
                "sent": ["member"],
            })
        );
        let declined = Answer::Form(FormAnswer::Declined);
        let answers = [Some(&declined), Some(&Answer::Nobody), None];
        let names = answers.map(|answer| told(answer)["answer"].clone());
        assert_eq!(names, ["declined", "nobody", "settled"]);
    }
}
