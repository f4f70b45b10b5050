//! Shows something that waits for the user's answer outside its conversation, with the same card.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gtk::glib;
use gtk::prelude::*;

use chat_core::message::{ApprovalRequest, Fid};

use super::model::answer_drafts::AnswerDrafts;
use super::model::files::Files;
use super::widgets::answer_errors::AnswerErrors;
use super::widgets::context::{Links, Output, WidgetContext};
use super::widgets::tags::Tags;
use super::widgets::tool::prompt::Prompt;
use crate::markdown::{is_safe_address, visible_address};

/// Makes the cards, with the styles of a conversation. Cheap to clone.
#[derive(Clone)]
pub struct ApprovalCards {
    context: WidgetContext,
}

/// The card of something that waits in any session.
pub struct ApprovalCard {
    fid: Fid,
    prompt: Prompt,
    drafts: Rc<AnswerDrafts>,
    errors: Rc<AnswerErrors>,
    tags: Tags,
}

impl ApprovalCards {
    pub(super) fn new(context: &WidgetContext) -> Self {
        Self { context: context.clone() }
    }

    /// The card of an approval request of this session. `output` gets the answer, links to open and
    /// texts to copy.
    pub fn card(
        &self,
        fid: &Fid,
        ask: &ApprovalRequest,
        has_project: bool,
        output: impl Fn(Output) + 'static,
    ) -> ApprovalCard {
        let output: Rc<dyn Fn(Output)> = Rc::new(output);
        let opening = Rc::clone(&output);
        let drafts = AnswerDrafts::of(Rc::new(RefCell::new(Some(fid.clone()))));
        let (drafts, errors) = (Rc::new(drafts), Rc::<AnswerErrors>::default());
        let root: Rc<glib::WeakRef<gtk::Box>> = Rc::default();
        let aimed = Rc::clone(&root);
        let links = Links {
            opened: Rc::new(move |address| {
                if is_safe_address(address) {
                    opening(Output::OpenLink(address.to_owned()));
                }
            }),
            aimed: Rc::new(move |address| {
                if let Some(root) = aimed.upgrade() {
                    root.set_tooltip_text(address.map(visible_address).as_deref());
                }
            }),
            revealed: Rc::new(|_, _| {}),
            // The shown project's files are not those of this session.
            files: Files::default(),
        };
        let context = WidgetContext {
            has_project: Rc::new(Cell::new(has_project)),
            drafts: Rc::clone(&drafts),
            errors: Rc::clone(&errors),
            output,
            links,
            hold: Rc::new(|| {}),
            show_keyboard: Rc::new(|| {}),
            ..self.context.clone()
        };
        let prompt = Prompt::new(ask, &context);
        root.set(Some(prompt.widget()));
        ApprovalCard { fid: fid.clone(), prompt, drafts, errors, tags: self.context.tags.clone() }
    }
}

impl ApprovalCard {
    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        self.prompt.widget()
    }

    /// Focuses the first button. Returns whether it has the focus.
    pub fn focus(&self) -> bool {
        self.prompt.focus()
    }

    /// Applies the theme's colors.
    pub fn recolour(&self) {
        self.prompt.recolour(&self.tags);
    }

    /// Shows why the answer was refused. The request still waits.
    pub fn refuse(&self, why: &str) {
        self.errors.refuse(self.prompt.id(), why);
    }

    /// The request no longer waits. Returns the text that was typed and not sent.
    pub fn end(&self) -> Option<String> {
        self.drafts.waits(Some(&self.fid), &[]).pop()
    }

    /// An answer came in time, or too late. Returns the text that was sent with it, if it came too
    /// late.
    pub fn answered(&self, in_time: bool) -> Option<String> {
        self.drafts.answered(self.prompt.id(), in_time).map(|(_, text)| text)
    }

    /// Takes the text that was typed and is not known to have arrived.
    pub fn take_typed(&self) -> Option<String> {
        self.drafts.take_all().pop().map(|(_, text)| text)
    }
}
