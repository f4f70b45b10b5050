use chat_core::message::{FieldKind, Form, FormAnswer, FormField, FormOption, NumberLimits};
use serde_json::{Value, json};

use super::*;

fn form_field(name: &str, required: bool, kind: FieldKind) -> FormField {
    FormField { name: name.to_owned(), title: None, description: None, required, kind }
}

fn form(fields: Vec<FormField>) -> ApprovalRequest {
    let (server, message) = ("Club".to_owned(), "Who are you?\x1b[2J".to_owned());
    ask(ApprovalKind::Form(Form { server, message, fields }))
}

fn filled(values: &Value) -> Answer {
    Answer::Form(FormAnswer::Filled(values.as_object().expect("a map").clone()))
}

#[test]
fn a_form_is_filled_in_field_by_field_and_sent_at_the_end() {
    let text = FieldKind::Text { min_length: None, max_length: None, format: None, default: None };
    let age = NumberLimits { min: Some(18), max: None, default: Some(30) };
    let options = ["red", "dark blue"]
        .map(|value| FormOption { value: value.replace("dark ", ""), title: value.to_owned() });
    let options = Vec::from(options);
    let days = FieldKind::Choices {
        options: options.clone(),
        min_items: None,
        max_items: None,
        default: Vec::new(),
    };
    let ask = form(vec![
        form_field("name", true, text),
        form_field("age", false, FieldKind::Integer(age)),
        form_field("member", false, FieldKind::Switch { default: None }),
        form_field("color", false, FieldKind::Choice { options, default: None }),
        form_field("others", false, days),
    ]);
    assert_eq!(
        shown(&ask, true),
        "“Club” asks for:\n  Who are you?␛[2J\nYour answers go to the server. Press Ctrl+D to send nothing.\n\
         name (required): "
    );
    let mut prompt = Prompt::new(&ask, true);
    let mut next = |line: &str| {
        assert_eq!(prompt.read(line), None, "{line:?}");
        prompt.choices().to_owned()
    };
    assert_eq!(next(" "), "This is required.\nname (required): ");
    let of_age = "  18 or more\nage (Enter keeps “30”, - leaves it empty): ";
    assert_eq!(next("Ada"), of_age);
    assert_eq!(next("17"), format!("18 or more.\n{of_age}"));
    assert_eq!(next(""), "  Enter yes or no\nmember: ");
    assert_eq!(next("perhaps"), "This doesn’t fit the field.\n  Enter yes or no\nmember: ");
    let of_color = "  1  red\n  2  dark blue\n  Enter a number\ncolor: ";
    assert_eq!(next("y"), of_color);
    assert_eq!(next("3"), format!("Choose one of the options.\n{of_color}"));
    next("2");
    let end = next("1, 2");
    assert_eq!(
        end,
        "  name: Ada\n  age: 30\n  member: yes\n  color: dark blue\n  others: red, dark blue\n\
         [s]end, [c]hange, [d]on’t send: "
    );
    assert_eq!(next("what?"), end);
    assert_eq!(next("c"), "name (required) (Enter keeps “Ada”): ");
    next("");
    next("-");
    next("n");
    next("-");
    let end = next("-");
    assert!(end.starts_with("  name: Ada\n  age: \n  member: no\n  color: \n"), "{end:?}");
    let values = json!({ "name": "Ada", "member": false });
    assert_eq!(prompt.read("s"), Some(filled(&values)));
    assert_eq!(prompt.read("d"), Some(Answer::Form(FormAnswer::Declined)));
}

#[test]
fn a_form_without_fields_is_only_sent_or_not() {
    let mut prompt = Prompt::new(&form(Vec::new()), true);
    assert_eq!(prompt.choices(), "[s]end, [c]hange, [d]on’t send: ");
    assert_eq!(prompt.read("send"), Some(filled(&json!({}))));
}
