//! Words the forms that servers ask the user to fill in. What a server says is data: it is shown, never obeyed.

use chat_core::message::{
    FieldKind, FieldProblemKind, Form, FormField, FormRecord, NumberLimits, TextFormat,
};
use gettextrs::{gettext, ngettext};

use super::{fill, one_line, visible};

/// Who asks: the line above a form.
pub fn form_question(form: &Form) -> String {
    fill(&gettext("“{server}” asks for:"), &[("server", &one_line(&form.server))])
}

/// Where the answers go: the line below a form.
pub fn form_note() -> String {
    gettext("Your answers go to the server.")
}

/// What a field is called, and whether it is required.
pub fn field_title(field: &FormField) -> String {
    let title = one_line(field.label());
    if field.required {
        return fill(&gettext("{title} (required)"), &[("title", &title)]);
    }
    title
}

/// What a field is for, and what can be filled in, where there is something to say.
pub fn field_description(field: &FormField) -> Option<String> {
    let told = field.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let lines = [told.map(|text| visible(text).into_owned()), hint(&field.kind)];
    let lines: Vec<_> = lines.into_iter().flatten().collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What can be filled in, where that is limited.
fn hint(kind: &FieldKind) -> Option<String> {
    match kind {
        FieldKind::Text { format: Some(format), .. } => Some(match format {
            TextFormat::Email => gettext("An email address"),
            TextFormat::Uri => gettext("An address such as https://example.org"),
            TextFormat::Date => gettext("A date such as 2026-03-01"),
            TextFormat::DateTime => gettext("A date and time such as 2026-03-01 09:00"),
        }),
        FieldKind::Text { min_length, max_length, format: None, .. } => {
            length(*min_length, *max_length)
        }
        FieldKind::Integer(limits) => {
            Some(within(limits).unwrap_or_else(|| gettext("A whole number")))
        }
        FieldKind::Number(limits) => Some(within(limits).unwrap_or_else(|| gettext("A number"))),
        FieldKind::Choices { min_items, max_items, .. } => count(*min_items, *max_items),
        FieldKind::Switch { .. } | FieldKind::Choice { .. } => None,
    }
}

fn length(least: Option<u32>, most: Option<u32>) -> Option<String> {
    match (least.filter(|least| *least > 1), most) {
        (Some(least), Some(most)) => Some(fill(
            &ngettext("{least} to {most} character", "{least} to {most} characters", most),
            &[("least", &least.to_string()), ("most", &most.to_string())],
        )),
        (Some(least), None) => Some(too_short(least)),
        (None, Some(most)) => Some(too_long(most)),
        (None, None) => None,
    }
}

fn within<T: ToString>(limits: &NumberLimits<T>) -> Option<String> {
    let (least, most) = (
        limits.min.as_ref().map(ToString::to_string),
        limits.max.as_ref().map(ToString::to_string),
    );
    match (least, most) {
        (Some(least), Some(most)) => {
            Some(fill(&gettext("From {least} to {most}"), &[("least", &least), ("most", &most)]))
        }
        (Some(least), None) => Some(too_small(&least)),
        (None, Some(most)) => Some(too_large(&most)),
        (None, None) => None,
    }
}

fn count(least: Option<u64>, most: Option<u64>) -> Option<String> {
    match (least.filter(|least| *least > 0), most) {
        (Some(least), Some(most)) if least != most => Some(fill(
            &gettext("Choose {least} to {most}"),
            &[("least", &least.to_string()), ("most", &most.to_string())],
        )),
        (Some(exactly), Some(_)) => {
            Some(fill(&gettext("Choose {n}"), &[("n", &exactly.to_string())]))
        }
        (Some(least), None) => Some(too_few(least)),
        (None, Some(most)) => Some(too_many(most)),
        (None, None) => None,
    }
}

fn too_short(least: u32) -> String {
    let text = ngettext("At least {n} character", "At least {n} characters", least);
    fill(&text, &[("n", &least.to_string())])
}

fn too_long(most: u32) -> String {
    let text = ngettext("At most {n} character", "At most {n} characters", most);
    fill(&text, &[("n", &most.to_string())])
}

fn too_small(least: &str) -> String {
    fill(&gettext("{n} or more"), &[("n", least)])
}

fn too_large(most: &str) -> String {
    fill(&gettext("{n} or less"), &[("n", most)])
}

fn too_few(least: u64) -> String {
    fill(&gettext("Choose at least {n}"), &[("n", &least.to_string())])
}

fn too_many(most: u64) -> String {
    fill(&gettext("Choose at most {n}"), &[("n", &most.to_string())])
}

/// What is wrong with what was filled in, and how it is put right.
pub fn field_problem(kind: &FieldProblemKind) -> String {
    match kind {
        FieldProblemKind::Missing => gettext("This is required."),
        FieldProblemKind::TooShort { least } => sentence(&too_short(*least)),
        FieldProblemKind::TooLong { most } => sentence(&too_long(*most)),
        FieldProblemKind::Format(TextFormat::Email) => {
            gettext("This isn’t an email address. Enter one such as ada@example.org.")
        }
        FieldProblemKind::Format(TextFormat::Uri) => {
            gettext("This isn’t an address. Enter one such as https://example.org.")
        }
        FieldProblemKind::Format(TextFormat::Date) => {
            gettext("This isn’t a date. Enter one such as 2026-03-01.")
        }
        FieldProblemKind::Format(TextFormat::DateTime) => {
            gettext("This isn’t a date and time. Enter one such as 2026-03-01 09:00.")
        }
        FieldProblemKind::NotInteger => gettext("This isn’t a whole number. Enter one such as 12."),
        FieldProblemKind::NotNumber => gettext("This isn’t a number. Enter one such as 1.5."),
        FieldProblemKind::TooSmall { least } => sentence(&too_small(&least.to_string())),
        FieldProblemKind::TooLarge { most } => sentence(&too_large(&most.to_string())),
        FieldProblemKind::NoSuchOption => gettext("Choose one of the options."),
        FieldProblemKind::TooFew { least } => sentence(&too_few(*least)),
        FieldProblemKind::TooMany { most } => sentence(&too_many(*most)),
        FieldProblemKind::WrongType => gettext("This doesn’t fit the field."),
    }
}

/// A short requirement as a sentence of its own.
fn sentence(requirement: &str) -> String {
    format!("{requirement}.")
}

/// What became of a form: which fields were sent, never what was filled in.
pub fn form_record(record: &FormRecord) -> String {
    let server = one_line(&record.server);
    if !record.sent {
        return fill(&gettext("You sent nothing to “{server}”"), &[("server", &server)]);
    }
    let names: Vec<_> = record.fields.iter().map(|name| one_line(name)).collect();
    if names.is_empty() {
        return fill(&gettext("You sent an empty form to “{server}”"), &[("server", &server)]);
    }
    let text = gettext("You sent this to “{server}”: {fields}");
    fill(&text, &[("server", &server), ("fields", &names.join(", "))])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(kind: FieldKind) -> FormField {
        let (name, description) = ("age".to_owned(), Some(" Hides \u{202e}it".to_owned()));
        FormField { name, title: None, description, required: true, kind }
    }

    fn described(kind: FieldKind) -> String {
        let field = FormField { description: None, ..field(kind) };
        field_description(&field).unwrap_or_default()
    }

    #[test]
    fn a_field_says_what_it_is_for_and_what_can_be_filled_in() {
        let limits = |min, max| FieldKind::Integer(NumberLimits { min, max, default: None });
        let age = field(limits(Some(0), Some(150)));
        assert_eq!(field_title(&age), "age (required)");
        let told = field_description(&age);
        assert_eq!(told.as_deref(), Some("Hides ⟨U+202E⟩it\nFrom 0 to 150"));
        assert_eq!(described(limits(Some(1), None)), "1 or more");
        assert_eq!(described(limits(None, Some(9))), "9 or less");
        assert_eq!(described(limits(None, None)), "A whole number");
        let half = NumberLimits { min: Some(0.5), max: None, default: None };
        assert_eq!(described(FieldKind::Number(half)), "0.5 or more");
        let text = |min_length, max_length| {
            described(FieldKind::Text { min_length, max_length, format: None, default: None })
        };
        assert_eq!(text(Some(1), None), "");
        assert_eq!(text(Some(2), Some(8)), "2 to 8 characters");
        assert_eq!(text(None, Some(1)), "At most 1 character");
        let choices = |min_items, max_items| {
            let options = Vec::new();
            described(FieldKind::Choices { options, min_items, max_items, default: Vec::new() })
        };
        assert_eq!(choices(Some(1), Some(3)), "Choose 1 to 3");
        assert_eq!(choices(Some(2), Some(2)), "Choose 2");
        assert_eq!(choices(Some(0), None), "");
        assert_eq!(described(FieldKind::Switch { default: None }), "");
    }

    #[test]
    fn a_problem_is_a_sentence() {
        let most = FieldProblemKind::TooLong { most: 4 };
        assert_eq!(field_problem(&most), "At most 4 characters.");
        let least = FieldProblemKind::TooSmall { least: 3.into() };
        assert_eq!(field_problem(&least), "3 or more.");
    }

    #[test]
    fn what_became_of_a_form_names_the_fields() {
        let server = "Git\nHub".to_owned();
        let fields = vec!["Email".to_owned(), "Age".to_owned()];
        let sent = FormRecord { server: server.clone(), sent: true, fields };
        assert_eq!(form_record(&sent), "You sent this to “Git⏎Hub”: Email, Age");
        let empty = FormRecord { fields: Vec::new(), ..sent.clone() };
        assert_eq!(form_record(&empty), "You sent an empty form to “Git⏎Hub”");
        let declined = FormRecord { sent: false, ..empty };
        assert_eq!(form_record(&declined), "You sent nothing to “Git⏎Hub”");
    }
}
