//! Draws a form of a server: its fields, and whether they are sent. What a server says is never markup.

mod row;

use std::rc::{Rc, Weak};

use gettextrs::gettext;
use gtk::prelude::*;
use serde_json::{Map, Value};

use chat_core::message::{Answer, ApprovalId, FieldProblem, Form, FormAnswer};
use chat_presentation::words::{field_problem, form_note, form_question, visible};

use super::{AnswerDrafts, Answered, WidgetContext, head, label};
use crate::adaptive_pair;
use row::Row;

/// The fields of a form, as long as its card is there.
pub struct Fields {
    id: ApprovalId,
    form: Form,
    rows: Vec<Row>,
    answered: Answered,
    /// Brings what has the keyboard into sight.
    show_keyboard: Rc<dyn Fn()>,
}

/// Fills a card with it. Gives the card's name, what has the keyboard first, and the fields, which the card keeps.
pub fn fill(
    root: &gtk::Box,
    (id, form): (ApprovalId, &Form),
    context: &WidgetContext,
    answered: &Answered,
) -> (String, gtk::Widget, Rc<Fields>) {
    let question = form_question(form);
    root.append(&head("dialog-question-symbolic", &label(&question, &["ask-title"])));
    let message = visible(form.message.trim());
    let said = label(&message, &[]);
    said.set_visible(!message.is_empty());
    root.append(&said);

    // What was filled in before, also where it was emptied; else what the server proposes.
    let mut values = form.defaults();
    values.extend(context.drafts.fields(id));
    let rows = form.fields.iter().map(|field| Row::new(field, values.get(&field.name))).collect();
    let fields = Rc::new(Fields {
        id,
        form: form.clone(),
        rows,
        answered: answered.clone(),
        show_keyboard: Rc::clone(&context.show_keyboard),
    });
    for row in &fields.rows {
        root.append(row.widget());
    }
    fields.follow(&context.drafts);

    let send =
        gtk::Button::builder().label(gettext("Send")).css_classes(["suggested-action"]).build();
    let decline = gtk::Button::builder().label(gettext("Don’t Send")).build();
    decline.set_tooltip_text(Some(&gettext("Let the server continue without your answers")));
    let pressed = Rc::downgrade(&fields);
    send.connect_clicked(move |_| with(&pressed, Fields::send));
    let declined = answered.clone();
    decline.connect_clicked(move |_| declined(Answer::Form(FormAnswer::Declined)));
    root.append(&adaptive_pair::buttons(&decline, &send));
    root.append(&label(&form_note(), &["ask-why"]));

    let first = fields.rows.first().map(|row| row.focusable().clone());
    let name = format!("{question} {message}");
    (name.trim_end().to_owned(), first.unwrap_or_else(|| send.upcast()), fields)
}

/// Does something with the fields, where the card is still there.
fn with(fields: &Weak<Fields>, act: impl FnOnce(&Fields)) {
    if let Some(fields) = fields.upgrade() {
        act(&fields);
    }
}

impl Fields {
    /// Keeps what is filled in. Enter goes on to the next field, and in the last one to write in it sends.
    fn follow(self: &Rc<Self>, drafts: &Rc<AnswerDrafts>) {
        let last = self.rows.iter().rposition(|row| row.entry().is_some());
        for (at, row) in self.rows.iter().enumerate() {
            let (weak, drafts) = (Rc::downgrade(self), Rc::downgrade(drafts));
            row.connect_changed(move || {
                let Some(drafts) = drafts.upgrade() else { return };
                with(&weak, |fields| {
                    let row = &fields.rows[at];
                    row.set_problem(None);
                    drafts.set_field(fields.id, row.name(), row.value());
                });
            });
            let Some(entry) = row.entry() else { continue };
            let weak = Rc::downgrade(self);
            entry.connect_activate(move |_| {
                with(&weak, |fields| match fields.rows.get(at + 1) {
                    Some(next) if last != Some(at) => drop(next.focusable().grab_focus()),
                    _ => fields.send(),
                });
            });
        }
    }

    /// Sends what is filled in, or says at its fields what is wrong with it.
    fn send(&self) {
        let values: Map<String, Value> =
            self.rows.iter().map(|row| (row.name().to_owned(), row.value())).collect();
        match self.form.check(&values) {
            Ok(values) => (self.answered)(Answer::Form(FormAnswer::Filled(values))),
            Err(problems) => self.show(&problems),
        }
    }

    /// Shows each problem at its field, and gives the first of these the keyboard.
    fn show(&self, problems: &[FieldProblem]) {
        let mut first = None;
        for row in &self.rows {
            let problem = problems.iter().find(|problem| problem.field == row.name());
            let words = problem.map(|problem| field_problem(&problem.kind));
            row.set_problem(words.as_deref());
            first = first.or(words.map(|_| row));
        }
        if let Some(row) = first {
            row.focusable().grab_focus();
            (self.show_keyboard)();
        }
    }
}
