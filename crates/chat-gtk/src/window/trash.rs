//! Shows the trash: deleted chats and messages, which can be restored for some time.

use std::rc::Rc;

use adw::prelude::*;
use chat_core::error::Result;
use chat_core::manager::{Manager, TRASH_AGE};
use chat_core::message::Fid;
use chat_core::store::{TrashedMessages, TrashedSession};
use chat_presentation::words::{fill, messages_of};
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

/// What the trash holds.
#[derive(Default)]
struct Content {
    chats: Vec<TrashedSession>,
    messages: Vec<TrashedMessages>,
}

/// What the buttons of a row are called, and what is asked before it goes.
struct RowWords {
    restore: String,
    delete: String,
    question: String,
}

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
    accessible::set_label(&list, &gettext("Deleted chats and messages"));
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
        .description(gettext("Deleted chats and messages can be restored here for 30 days."))
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
            let content = Content::read(&this.manager).await;
            let failed = done.err().or(content.as_ref().err().cloned());
            if let Ok(content) = content {
                this.show(&content);
            }
            if let Some(error) = failed {
                this.input.emit(Input::Failed(error));
            }
        });
    }

    fn show(self: &Rc<Self>, content: &Content) {
        while let Some(row) = self.list.row_at_index(0) {
            self.list.remove(&row);
        }
        let chats = content.chats.iter().map(|chat| (chat.deleted, self.row_of_chat(chat)));
        let messages = content.messages.iter().map(|it| (it.deleted, self.row_of_messages(it)));
        let mut rows: Vec<_> = chats.chain(messages).collect();
        rows.sort_by_key(|(deleted, _)| std::cmp::Reverse(*deleted));
        for (_, row) in &rows {
            self.list.append(row);
        }
        self.empty.set_sensitive(!rows.is_empty());
        self.stack.set_visible_child_name(if rows.is_empty() { EMPTY } else { LIST });
    }

    fn row_of_chat(self: &Rc<Self>, chat: &TrashedSession) -> adw::ActionRow {
        let fid = chat.meta.fid.clone();
        let going = Content { chats: vec![chat.clone()], ..Content::default() };
        let title = &chat.meta.title;
        let row = plain_row(title, &subtitle(chat, Timestamp::now()));
        let named = |text: &str| fill(text, &[("title", title)]);
        let words = RowWords {
            restore: named(&gettext("Restore “{title}”")),
            delete: named(&gettext("Delete “{title}” for good")),
            question: named(&gettext("Delete “{title}” for Good?")),
        };
        self.connect_row(&row, words, going, async move |trash| {
            trash.manager.sessions().restore(&fid).await
        });
        row
    }

    fn row_of_messages(self: &Rc<Self>, messages: &TrashedMessages) -> adw::ActionRow {
        let title = messages_of(messages.messages.shown, &messages.title);
        let excerpt = messages.excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        let when = when(messages.deleted, Timestamp::now());
        let subtitle = if excerpt.is_empty() { when } else { [when, excerpt].join("\n") };
        let row = plain_row(&title, &subtitle);
        let named = |text: &str| fill(text, &[("messages", &title)]);
        let words = RowWords {
            restore: named(&gettext("Restore {messages}")),
            delete: named(&gettext("Delete {messages} for good")),
            question: named(&gettext("Delete {messages} for Good?")),
        };
        let (fid, deleted) = (messages.fid.clone(), messages.messages.clone());
        let going = Content { messages: vec![messages.clone()], ..Content::default() };
        self.connect_row(&row, words, going, async move |trash| {
            trash.manager.messages().restore(&fid, deleted.clone()).await?;
            trash.input.emit(Input::MessagesBack(deleted.clone()));
            Ok(())
        });
        row
    }

    /// Adds buttons to a row: one restores it, the other deletes for good what goes with it.
    fn connect_row<F>(
        self: &Rc<Self>,
        row: &adw::ActionRow,
        words: RowWords,
        going: Content,
        restore_it: F,
    ) where
        F: AsyncFn(&Self) -> Result<()> + 'static,
    {
        let RowWords { restore, delete, question } = words;
        let restore_it = Rc::new(restore_it);
        let restore = icon_button("edit-undo-symbolic", &restore);
        let delete = icon_button("user-trash-symbolic", &delete);
        for button in [&restore, &delete] {
            button.add_css_class("flat");
            row.add_suffix(button);
        }
        row.set_activatable_widget(Some(&restore));
        let weak = Rc::downgrade(self);
        restore.connect_clicked(move |_| {
            let (Some(trash), restore_it) = (weak.upgrade(), Rc::clone(&restore_it)) else {
                return;
            };
            trash.run(async move |trash| (*restore_it)(trash).await);
        });
        let weak = Rc::downgrade(self);
        let going = Rc::new(going);
        delete.connect_clicked(move |_| {
            let (Some(trash), going) = (weak.upgrade(), Rc::clone(&going)) else { return };
            let question = question.clone();
            trash.run(async move |trash| trash.delete(&question, &going).await);
        });
    }

    /// Deletes all for good, if the user confirms it.
    async fn empty(&self) -> Result<()> {
        let content = Content::read(&self.manager).await?;
        self.delete(&gettext("Empty the Trash?"), &content).await
    }

    /// Deletes chats and messages for good, if the user confirms it.
    async fn delete(&self, question: &str, going: &Content) -> Result<()> {
        let dialog = adw::MessageDialog::builder()
            .heading(question)
            .body(going.warning())
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
            let chats: Vec<Fid> = going.chats.iter().map(|chat| chat.meta.fid.clone()).collect();
            self.manager.messages().delete_for_good(going.messages.clone()).await?;
            self.manager.sessions().delete_for_good(chats).await?;
        }
        Ok(())
    }
}

impl Content {
    async fn read(manager: &Manager) -> Result<Self> {
        let chats = manager.sessions().trash().await?;
        Ok(Self { chats, messages: manager.messages().trash().await? })
    }

    /// What will be gone.
    fn warning(&self) -> String {
        let counted = |text: &str, count: u32| fill(text, &[("n", &count.to_string())]);
        let chats = u32::try_from(self.chats.len()).unwrap_or(u32::MAX);
        let messages = self.messages.iter().map(|it| it.messages.shown).sum::<usize>();
        let messages = u32::try_from(messages).unwrap_or(u32::MAX);
        let mut sentences = Vec::new();
        if chats > 0 {
            let text = ngettext(
                "{n} chat and its attachments will be gone.",
                "{n} chats and their attachments will be gone.",
                chats,
            );
            sentences.push(counted(&text, chats));
        }
        if messages > 0 {
            let text =
                ngettext("{n} message will be gone.", "{n} messages will be gone.", messages);
            sentences.push(counted(&text, messages));
        }
        sentences.push(gettext("This can’t be undone."));
        sentences.join(" ")
    }
}

/// When something was deleted, and for how long it can be restored.
fn when(deleted: Timestamp, now: Timestamp) -> String {
    let date = local_date(deleted);
    let age = SignedDuration::try_from(TRASH_AGE).unwrap_or(SignedDuration::MAX);
    let left = (age - now.duration_since(deleted)).as_hours().max(0).unsigned_abs().div_ceil(24);
    let days = u32::try_from(left).unwrap_or_default();
    let text = ngettext("Deleted {date} · {n} day left", "Deleted {date} · {n} days left", days);
    fill(&text, &[("date", &date), ("n", &days.to_string())])
}

/// The second line of a chat.
fn subtitle(chat: &TrashedSession, now: Timestamp) -> String {
    let mut line = when(chat.deleted, now);
    if chat.agents > 0 {
        let agents = ngettext("{n} agent", "{n} agents", chat.agents);
        line = [line, fill(&agents, &[("n", &chat.agents.to_string())])].join(" · ");
    }
    line
}
