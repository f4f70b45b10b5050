//! Draws a field of a form: what it is called, what can be filled in, and what is wrong with it.

use std::cell::Cell;
use std::rc::Rc;

use gettextrs::gettext;
use gtk::prelude::*;
use serde_json::Value;

use chat_core::message::{FieldKind, FormField, FormOption};
use chat_presentation::words::{field_description, field_title, one_line};

use super::super::label;
use crate::accessible;
use crate::choices::{self, Choices};

/// A field.
pub struct Row {
    root: gtk::Box,
    name: String,
    description: Option<String>,
    problem: gtk::Label,
    input: Input,
}

/// What is filled in, and where.
enum Input {
    Text(gtk::Entry),
    Switch(gtk::Switch),
    Choice(Choice),
    /// At least one.
    Choices(Vec<(String, gtk::CheckButton)>, gtk::Box),
}

/// One of several options, or none.
struct Choice {
    dropdown: Choices<Option<usize>>,
    values: Vec<String>,
    chosen: Rc<Cell<Option<usize>>>,
    changed: Rc<Changed>,
}

/// Who is told that something else is chosen.
#[derive(Default)]
struct Changed(std::cell::RefCell<Option<Box<dyn Fn()>>>);

impl Row {
    /// The field with this filled in.
    pub fn new(field: &FormField, given: Option<&Value>) -> Self {
        let title = field_title(field);
        let description = field_description(field);
        let input = Input::new(field, given, &title);
        let (name, widget) = (label(&title, &[]), input.widget());
        let root = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .spacing(4)
            .css_classes(["form-field"])
            .build();
        let below = description.as_deref().map(|words| label(words, &["ask-why"]));
        if let Input::Switch(_) = &input {
            let line = gtk::Box::builder().spacing(12).build();
            name.set_hexpand(true);
            line.append(&name);
            line.append(&widget);
            root.append(&line);
            if let Some(below) = &below {
                root.append(below);
            }
        } else {
            root.append(&name);
            if let Some(below) = &below {
                root.append(below);
            }
            root.append(&widget);
        }
        let problem = label("", &["error", "caption"]);
        problem.set_visible(false);
        root.append(&problem);
        let row = Self { root, name: field.name.clone(), description, problem, input };
        row.describe(None);
        row
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// The field's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What has the keyboard when the field is filled in.
    pub fn focusable(&self) -> &gtk::Widget {
        match &self.input {
            Input::Text(entry) => entry.upcast_ref(),
            Input::Switch(switch) => switch.upcast_ref(),
            Input::Choice(choice) => choice.dropdown.widget().upcast_ref(),
            Input::Choices(all, list) => {
                all.first().map_or_else(|| list.upcast_ref(), |(_, button)| button.upcast_ref())
            }
        }
    }

    /// Where it is written into.
    pub fn entry(&self) -> Option<&gtk::Entry> {
        match &self.input {
            Input::Text(entry) => Some(entry),
            _ => None,
        }
    }

    /// What is filled in, as it stands there.
    pub fn value(&self) -> Value {
        match &self.input {
            Input::Text(entry) => Value::String(entry.text().into()),
            Input::Switch(switch) => Value::Bool(switch.is_active()),
            Input::Choice(choice) => {
                let chosen = choice.chosen.get().and_then(|at| choice.values.get(at));
                chosen.map_or(Value::Null, |value| Value::String(value.clone()))
            }
            Input::Choices(all, _) => {
                let chosen = all.iter().filter(|(_, button)| button.is_active());
                chosen.map(|(value, _)| value.as_str()).collect()
            }
        }
    }

    /// Tells of each change.
    pub fn connect_changed(&self, changed: impl Fn() + Clone + 'static) {
        match &self.input {
            Input::Text(entry) => drop(entry.connect_changed(move |_| changed())),
            Input::Switch(switch) => drop(switch.connect_active_notify(move |_| changed())),
            Input::Choice(choice) => drop(choice.changed.0.replace(Some(Box::new(changed)))),
            Input::Choices(all, _) => {
                for (_, button) in all {
                    let changed = changed.clone();
                    button.connect_toggled(move |_| changed());
                }
            }
        }
    }

    /// Says what is wrong with it, or nothing.
    pub fn set_problem(&self, problem: Option<&str>) {
        self.problem.set_label(problem.unwrap_or_default());
        self.problem.set_visible(problem.is_some());
        match (self.entry(), problem) {
            (Some(entry), Some(_)) => entry.add_css_class("error"),
            (Some(entry), None) => entry.remove_css_class("error"),
            (None, _) => {}
        }
        self.describe(problem);
    }

    /// Describes it to those who do not see it.
    fn describe(&self, problem: Option<&str>) {
        let lines: Vec<_> = [problem, self.description.as_deref()].into_iter().flatten().collect();
        accessible::set_description(self.focusable(), &lines.join("\n"));
    }
}

impl Input {
    fn new(field: &FormField, given: Option<&Value>, title: &str) -> Self {
        match &field.kind {
            FieldKind::Text { .. } | FieldKind::Integer(_) | FieldKind::Number(_) => {
                let purpose = match field.kind {
                    FieldKind::Text { .. } => gtk::InputPurpose::FreeForm,
                    _ => gtk::InputPurpose::Number,
                };
                let text = match given {
                    Some(Value::String(text)) => text.clone(),
                    Some(Value::Null) | None => String::new(),
                    Some(other) => other.to_string(),
                };
                let entry = gtk::Entry::builder().text(text).input_purpose(purpose).build();
                accessible::set_label(&entry, title);
                Self::Text(entry)
            }
            FieldKind::Switch { .. } => {
                let active = given == Some(&Value::Bool(true));
                let switch =
                    gtk::Switch::builder().active(active).valign(gtk::Align::Center).build();
                accessible::set_label(&switch, title);
                Self::Switch(switch)
            }
            FieldKind::Choice { options, .. } => {
                Self::Choice(Choice::new(field, options, given, title))
            }
            FieldKind::Choices { options, .. } => {
                let is_chosen = |value: &str| {
                    given
                        .and_then(Value::as_array)
                        .is_some_and(|all| all.iter().any(|it| it == value))
                };
                let list = gtk::Box::builder()
                    .orientation(gtk::Orientation::Vertical)
                    .accessible_role(gtk::AccessibleRole::Group)
                    .build();
                accessible::set_label(&list, title);
                let row = |option: &FormOption| {
                    let shown = one_line(&option.title);
                    let button = gtk::CheckButton::builder()
                        .child(&label(&shown, &[]))
                        .active(is_chosen(&option.value))
                        .build();
                    accessible::set_label(&button, &shown);
                    list.append(&button);
                    (option.value.clone(), button)
                };
                Self::Choices(options.iter().map(row).collect(), list.clone())
            }
        }
    }

    fn widget(&self) -> gtk::Widget {
        match self {
            Self::Text(entry) => entry.clone().upcast(),
            Self::Switch(switch) => switch.clone().upcast(),
            Self::Choice(choice) => choice.dropdown.widget().clone().upcast(),
            Self::Choices(_, list) => list.clone().upcast(),
        }
    }
}

impl Choice {
    fn new(field: &FormField, options: &[FormOption], given: Option<&Value>, title: &str) -> Self {
        let values: Vec<_> = options.iter().map(|option| option.value.clone()).collect();
        let place =
            given.and_then(|given| values.iter().position(|value| *given == value.as_str()));
        let (chosen, changed) = (Rc::new(Cell::new(place)), Rc::<Changed>::default());
        let dropdown = {
            let (chosen, changed) = (Rc::clone(&chosen), Rc::clone(&changed));
            choices::plain(title, move |place| {
                chosen.set(place);
                if let Some(changed) = &*changed.0.borrow() {
                    changed();
                }
            })
        };
        // What is required and chosen already cannot be taken back to nothing.
        let can_be_empty = !field.required || field.default().is_none();
        let nothing = can_be_empty.then(|| (None, gettext("Nothing chosen")));
        let named = options.iter().enumerate();
        let named = named.map(|(at, option)| (Some(at), one_line(&option.title)));
        dropdown.set_plain(nothing.into_iter().chain(named).collect());
        dropdown.show(&place);
        Self { dropdown, values, chosen, changed }
    }
}
