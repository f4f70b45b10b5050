//! Asks for confirmation before a worktree or a snapshot changes.

use std::cell::Cell;

use adw::prelude::*;
use gettextrs::gettext;
use tokio::sync::oneshot;

use crate::accessible;

/// The height from which a list in a question scrolls, in pixels.
const HIGHEST: i32 = 280;
/// The name of the response that confirms.
const CONFIRM: &str = "confirm";

/// A question with two answers.
pub(super) struct Question {
    pub(super) heading: String,
    pub(super) body: String,
    /// The button that confirms, with a mnemonic; none if there is nothing to confirm.
    pub(super) confirm: Option<String>,
    pub(super) is_destructive: bool,
    /// What it is about, line by line.
    pub(super) lines: Vec<String>,
}

/// Shows a question above a window. Whether the user confirmed.
pub(super) async fn ask(parent: &adw::Window, question: Question) -> bool {
    // It may have been closed meanwhile.
    if !parent.is_visible() {
        return false;
    }
    let dialog = adw::MessageDialog::builder()
        .heading(&question.heading)
        .body(&question.body)
        .transient_for(parent)
        .modal(true)
        .default_response("cancel")
        .close_response("cancel")
        .build();
    if !question.lines.is_empty() {
        dialog.set_extra_child(Some(&list(&question.lines)));
    }
    if let Some(confirm) = &question.confirm {
        dialog.add_response("cancel", &gettext("_Cancel"));
        dialog.add_response(CONFIRM, confirm);
        let appearance = if question.is_destructive {
            adw::ResponseAppearance::Destructive
        } else {
            adw::ResponseAppearance::Suggested
        };
        dialog.set_response_appearance(CONFIRM, appearance);
    } else {
        dialog.add_response("cancel", &gettext("_Close"));
    }
    let (answer, answered) = oneshot::channel();
    let answer = Cell::new(Some(answer));
    dialog.connect_response(None, move |_, response| {
        if let Some(answer) = answer.take() {
            // Nobody waits for it once the window is gone.
            let _ = answer.send(response == CONFIRM);
        }
    });
    dialog.present();
    drop(dialog);
    answered.await.unwrap_or(false)
}

/// A label for each line.
fn list(lines: &[String]) -> gtk::ScrolledWindow {
    let column = gtk::Box::new(gtk::Orientation::Vertical, 6);
    for line in lines {
        let label = gtk::Label::builder()
            .label(line)
            .use_markup(false)
            .xalign(0.0)
            .wrap(true)
            .wrap_mode(gtk::pango::WrapMode::WordChar)
            .build();
        column.append(&label);
    }
    // Arrow keys scroll it.
    let list = gtk::ScrolledWindow::builder()
        .child(&column)
        .hscrollbar_policy(gtk::PolicyType::Never)
        .propagate_natural_height(true)
        .max_content_height(HIGHEST)
        .focusable(true)
        .build();
    accessible::set_label(&list, &gettext("Commits and files"));
    list
}
