//! Shows the trash: deleted chats, which can be restored for some time.

use std::rc::Rc;

use adw::prelude::*;
use chat_core::error::Result;
use chat_core::manager::{Manager, TRASH_AGE};
use chat_core::message::Fid;
use chat_core::store::TrashedSession;
use chat_presentation::words::fill;
use gettextrs::{gettext, ngettext};
use gtk::glib;
use jiff::{SignedDuration, Timestamp};

use super::Input;
use crate::accessible;
use crate::close_keys::close_with_escape;
use crate::dates::local_date;
use crate::preferences::{icon_button, plain_row};

/// The names of the pages.
const LIST: &str = "list";
const EMPTY: &str = "empty";
/// The name of the response that confirms.
const CONFIRM: &str = "confirm";

/// The window.
struct Trash {
    window: adw::Window,
    manager: Manager,
    stack: gtk::Stack,
    list: gtk::ListBox,
    empty: gtk::Button,
    input: relm4::Sender<Input>,
}

/// Shows the trash above a window.
pub(super) fn open(
    parent: &adw::ApplicationWindow,
    manager: &Manager,
    input: relm4::Sender<Input>,
) {
    let title = adw::WindowTitle::new(&gettext("Trash"), "");
    let header = adw::HeaderBar::builder().css_classes(["flat"]).title_widget(&title).build();
    let empty = gtk::Button::builder().label(gettext("Empty…")).sensitive(false).build();
    header.pack_start(&empty);
    let list = gtk::ListBox::builder()
        .selection_mode(gtk::SelectionMode::None)
        .css_classes(["boxed-list"])
        .valign(gtk::Align::Start)
        .build();
    accessible::set_label(&list, &gettext("Deleted chats"));
    let clamp = adw::Clamp::builder()
        .child(&list)
        .margin_top(12)
        .margin_bottom(18)
        .margin_start(12)
        .margin_end(12)
        .build();
    let scroller = gtk::ScrolledWindow::builder()
        .child(&clamp)
        .hscrollbar_policy(gtk::PolicyType::Never)
        .vexpand(true)
        .build();
    let page = adw::StatusPage::builder()
        .icon_name("user-trash-symbolic")
        .title(gettext("The trash is empty"))
        .description(gettext("Deleted chats can be restored here for 30 days."))
        .vexpand(true)
        .build();
    let stack = gtk::Stack::new();
    stack.add_named(&scroller, Some(LIST));
    stack.add_named(&page, Some(EMPTY));
    let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
    content.append(&header);
    content.append(&stack);
    let window = adw::Window::builder()
        .transient_for(parent)
        .modal(true)
        .destroy_with_parent(true)
        .title(gettext("Trash"))
        .default_width(480)
        .default_height(520)
        .content(&content)
        .build();
    close_with_escape(&window);
    let trash = Rc::new(Trash { window, manager: manager.clone(), stack, list, empty, input });
    let emptying = Rc::downgrade(&trash);
    trash.empty.connect_clicked(move |_| {
        if let Some(trash) = emptying.upgrade() {
            trash.run(async |trash| trash.empty().await);
        }
    });
    // The window keeps it, and it keeps nothing of the window alive once that is closed.
    let kept = std::cell::Cell::new(Some(Rc::clone(&trash)));
    trash.window.connect_close_request(move |_| {
        drop(kept.take());
        glib::Propagation::Proceed
    });
    trash.window.present();
    trash.run(async |_| Ok(()));
}

impl Trash {
    /// Does something, and shows what is in the trash then.
    fn run<F>(self: &Rc<Self>, act: F)
    where
        F: AsyncFnOnce(&Self) -> Result<()> + 'static,
    {
        let this = Rc::clone(self);
        glib::spawn_future_local(async move {
            let done = act(&this).await;
            let trash = this.manager.sessions().trash().await;
            let failed = done.err().or(trash.as_ref().err().cloned());
            if let Ok(trash) = trash {
                this.show(&trash);
            }
            if let Some(error) = failed {
                this.input.emit(Input::Failed(error));
            }
        });
    }

    fn show(self: &Rc<Self>, trash: &[TrashedSession]) {
        while let Some(row) = self.list.row_at_index(0) {
            self.list.remove(&row);
        }
        for chat in trash {
            self.list.append(&self.row(chat));
        }
        self.empty.set_sensitive(!trash.is_empty());
        self.stack.set_visible_child_name(if trash.is_empty() { EMPTY } else { LIST });
    }

    fn row(self: &Rc<Self>, chat: &TrashedSession) -> adw::ActionRow {
        let title = &chat.meta.title;
        let row = plain_row(title, &subtitle(chat, Timestamp::now()));
        let named = |text: &str| fill(text, &[("title", title)]);
        let restore = icon_button("edit-undo-symbolic", &named(&gettext("Restore “{title}”")));
        let delete =
            icon_button("user-trash-symbolic", &named(&gettext("Delete “{title}” for good")));
        for button in [&restore, &delete] {
            button.add_css_class("flat");
            row.add_suffix(button);
        }
        row.set_activatable_widget(Some(&restore));
        let (weak, fid) = (Rc::downgrade(self), chat.meta.fid.clone());
        restore.connect_clicked(move |_| {
            let (Some(trash), fid) = (weak.upgrade(), fid.clone()) else { return };
            trash.run(async move |trash| trash.manager.sessions().restore(&fid).await);
        });
        let (weak, fid) = (Rc::downgrade(self), chat.meta.fid.clone());
        let question = named(&gettext("Delete “{title}” for Good?"));
        delete.connect_clicked(move |_| {
            let (Some(trash), fid) = (weak.upgrade(), fid.clone()) else { return };
            let question = question.clone();
            trash.run(async move |trash| trash.delete(&question, vec![fid]).await);
        });
        row
    }

    /// Deletes all chats for good, if the user confirms it.
    async fn empty(&self) -> Result<()> {
        let trash = self.manager.sessions().trash().await?;
        let chats: Vec<Fid> = trash.into_iter().map(|chat| chat.meta.fid).collect();
        self.delete(&gettext("Empty the Trash?"), chats).await
    }

    /// Deletes chats for good, if the user confirms it.
    async fn delete(&self, question: &str, chats: Vec<Fid>) -> Result<()> {
        let count = u32::try_from(chats.len()).unwrap_or(u32::MAX);
        let text = ngettext(
            "{n} chat and its attachments will be gone. This can’t be undone.",
            "{n} chats and their attachments will be gone. This can’t be undone.",
            count,
        );
        let dialog = adw::MessageDialog::builder()
            .heading(question)
            .body(fill(&text, &[("n", &count.to_string())]))
            .transient_for(&self.window)
            .modal(true)
            .default_response("cancel")
            .close_response("cancel")
            .build();
        dialog.add_response("cancel", &gettext("_Cancel"));
        dialog.add_response(CONFIRM, &gettext("_Delete for Good"));
        dialog.set_response_appearance(CONFIRM, adw::ResponseAppearance::Destructive);
        let (answer, answered) = tokio::sync::oneshot::channel();
        let answer = std::cell::Cell::new(Some(answer));
        dialog.connect_response(None, move |_, response| {
            if let Some(answer) = answer.take() {
                // Nobody waits for it once the window is gone.
                let _ = answer.send(response == CONFIRM);
            }
        });
        dialog.present();
        drop(dialog);
        if answered.await.unwrap_or(false) {
            self.manager.sessions().delete_for_good(chats).await?;
        }
        Ok(())
    }
}

/// When a chat was deleted, and for how long it can be restored.
fn subtitle(chat: &TrashedSession, now: Timestamp) -> String {
    let date = local_date(chat.deleted);
    let age = SignedDuration::try_from(TRASH_AGE).unwrap_or(SignedDuration::MAX);
    let left =
        (age - now.duration_since(chat.deleted)).as_hours().max(0).unsigned_abs().div_ceil(24);
    let days = u32::try_from(left).unwrap_or_default();
    let text = ngettext("Deleted {date} · {n} day left", "Deleted {date} · {n} days left", days);
    let mut line = fill(&text, &[("date", &date), ("n", &days.to_string())]);
    if chat.agents > 0 {
        let agents = ngettext("{n} agent", "{n} agents", chat.agents);
        line = [line, fill(&agents, &[("n", &chat.agents.to_string())])].join(" · ");
    }
    line
}
