//! Draws what waits for the person in a tool's card: a permission request, a question, or a form.

mod answers;
mod form;
mod go_on;
mod permission;
mod preview;
mod question;

use std::rc::Rc;

use gtk::prelude::*;

use chat_core::message::{Answer, ApprovalId, ApprovalKind, ApprovalRequest, Preview};

use super::super::tags::Tags;
use crate::accessible;
use crate::conversation::model::answer_drafts::AnswerDrafts;
use crate::conversation::widgets::context::{Output, WidgetContext};
use crate::conversation::widgets::rich_text::RichText;
use crate::models::has_keyboard;
use form::Fields;

/// What a person answers.
type Answered = Rc<dyn Fn(Answer)>;

/// The card of something that waits.
pub struct Prompt {
    root: gtk::Box,
    id: ApprovalId,
    /// What has the keyboard when the person asks for the card.
    first: gtk::Widget,
    /// What the model asks.
    text: Option<RichText>,
    /// What is filled in.
    _fields: Option<Rc<Fields>>,
}

impl Prompt {
    /// The card.
    pub fn new(ask: &ApprovalRequest, context: &WidgetContext) -> Self {
        let (output, id) = (Rc::clone(&context.output), ask.id);
        let error = gtk::Label::builder()
            .use_markup(false)
            .wrap(true)
            .xalign(0.0)
            .visible(false)
            .accessible_role(gtk::AccessibleRole::Alert)
            .css_classes(["error"])
            .build();
        let answered: Answered = {
            let error = error.downgrade();
            Rc::new(move |answer| {
                if let Some(error) = error.upgrade() {
                    error.set_visible(false);
                }
                output(Output::Answer { ask: id, answer });
            })
        };
        let root = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .spacing(10)
            .accessible_role(gtk::AccessibleRole::Group)
            .css_classes(["ask-card"])
            .build();
        let (mut text, mut fields) = (None, None);
        let (name, first) = match &ask.kind {
            ApprovalKind::Permission(asked) => {
                let is_command = matches!(asked.preview, Preview::Command { .. });
                let bounds = is_command.then(|| context.bounds.say(id)).flatten();
                permission::fill(&root, (id, asked), bounds.as_deref(), context, &answered)
            }
            ApprovalKind::Question(question) => {
                let (name, first, asked) =
                    question::fill(&root, (id, question), context, &answered);
                text = Some(asked);
                (name, first)
            }
            ApprovalKind::Form(form) => {
                let (name, first, filled) = form::fill(&root, (id, form), context, &answered);
                fields = Some(filled);
                (name, first)
            }
            ApprovalKind::GoOn { rounds } => go_on::fill(&root, *rounds, &answered),
        };
        accessible::set_label(&root, &name);
        root.append(&error);
        context.errors.watch(id, &error);
        Self { root, id, first, text, _fields: fields }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Takes the theme's colours.
    pub fn recolour(&self, tags: &Tags) {
        if let Some(text) = &self.text {
            text.recolour(tags);
        }
    }

    /// The project has other files.
    pub fn mark_files(&self) {
        if let Some(text) = &self.text {
            text.mark_files();
        }
    }

    /// What is answered.
    pub fn id(&self) -> ApprovalId {
        self.id
    }

    /// Gives it the keyboard. Whether it took it.
    pub fn focus(&self) -> bool {
        self.first.grab_focus()
    }

    /// Whether it has the keyboard.
    pub fn has_keyboard(&self) -> bool {
        has_keyboard(&self.root)
    }
}

/// The first line of the card: an icon, and what it is about.
fn head(icon: &str, title: &impl IsA<gtk::Widget>) -> gtk::Box {
    let head = gtk::Box::builder().spacing(8).build();
    let icon = gtk::Image::from_icon_name(icon);
    icon.set_valign(gtk::Align::Start);
    head.append(&icon);
    title.set_hexpand(true);
    head.append(title);
    head
}

/// A label of the card; what it says is never markup.
fn label(text: &str, classes: &[&str]) -> gtk::Label {
    gtk::Label::builder()
        .label(text)
        .use_markup(false)
        .wrap(true)
        .wrap_mode(gtk::pango::WrapMode::WordChar)
        .xalign(0.0)
        .css_classes(classes.iter().copied().map(str::to_owned).collect::<Vec<_>>())
        .build()
}

/// Puts into a field what was typed before, and keeps what is typed from now on.
fn keep_draft(drafts: &Rc<AnswerDrafts>, ask: ApprovalId, entry: &gtk::Entry) {
    if let Some(text) = drafts.text(ask) {
        entry.set_text(&text);
    }
    let drafts = Rc::clone(drafts);
    entry.connect_changed(move |entry| drafts.set(ask, entry.text().into()));
}
