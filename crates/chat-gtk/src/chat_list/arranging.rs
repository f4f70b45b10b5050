//! Pins, archives and duplicates chats, and does the same with all that are marked.

use chat_core::message::{Fid, SessionMeta};
use relm4::ComponentSender;
use relm4::gtk::prelude::*;

use super::view::View;
use super::{Act, ChatList, Command};

impl ChatList {
    /// The chats that a command in the list for one of them is about: all that are marked, if it is one of these.
    pub(super) fn meant(&self, fid: Fid) -> Vec<Fid> {
        let marked = self.model.marked();
        if marked.contains(&fid) { marked } else { vec![fid] }
    }

    /// Does something with chats. They are marked no more; others stay so.
    pub(super) fn act(
        &mut self,
        act: Act,
        chats: Vec<Fid>,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        self.model.unmark(&chats);
        self.mark_anchor = None;
        match act {
            Act::Pin => self.toggle_pins(chats, sender),
            Act::Archive => self.toggle_archived(chats, view, sender),
            Act::Delete => self.delete(chats, view, sender),
        }
        self.show_marks(view);
    }

    /// Pins chats; if all of them are pinned, unpins them.
    fn toggle_pins(&self, chats: Vec<Fid>, sender: &ComponentSender<Self>) {
        let pinned = !self.all(&chats, |chat| chat.pinned.is_some());
        self.run(sender, async move |manager| {
            for fid in &chats {
                manager.sessions().set_pinned(fid, pinned).await?;
            }
            Ok(())
        });
    }

    /// Archives chats; if all of them are archived, moves them back to the list.
    fn toggle_archived(&mut self, chats: Vec<Fid>, view: &View, sender: &ComponentSender<Self>) {
        let archived = !self.all(&chats, |chat| chat.archived.is_some());
        // What is so already is left alone, so that Undo leaves it alone, too.
        let chats = self.model.not_yet(chats, archived);
        let title = chats.first().and_then(|fid| self.model.title(fid)).unwrap_or_default();
        if archived && self.query.is_empty() {
            self.keep_keyboard(&chats, view, sender);
        }
        let Some(manager) = self.manager.clone() else { return };
        sender.oneshot_command(async move {
            let mut result = Ok(());
            for fid in &chats {
                result = result.and(manager.sessions().set_archived(fid, archived).await);
            }
            Command::Archived { chats, title, archived, result }
        });
    }

    /// Moves chats to the archive, or back, without an offer to undo that.
    pub(super) fn set_archived(
        &self,
        chats: Vec<Fid>,
        archived: bool,
        sender: &ComponentSender<Self>,
    ) {
        self.run(sender, async move |manager| {
            for fid in &chats {
                manager.sessions().set_archived(fid, archived).await?;
            }
            Ok(())
        });
    }

    /// Copies a chat, and shows the copy.
    pub(super) fn duplicate(&self, fid: Fid, sender: &ComponentSender<Self>) {
        let (Some(manager), Some(title)) = (self.manager.clone(), self.model.title(&fid)) else {
            return;
        };
        let title = self.model.title_of_copy(&title);
        sender.oneshot_command(async move {
            Command::Duplicated(manager.sessions().duplicate(&fid, title).await)
        });
    }

    fn all(&self, chats: &[Fid], is_so: impl Fn(&SessionMeta) -> bool) -> bool {
        chats.iter().all(|fid| self.model.session(fid).is_none_or(|chat| is_so(&chat)))
    }

    /// Marks a chat, or no more.
    pub(super) fn toggle_mark(&mut self, fid: &Fid, view: &View) {
        self.model.toggle_mark(fid);
        self.mark_anchor = self.model.position(fid);
        self.show_marks(view);
    }

    /// Marks all chats from the one that was marked last, or that is shown, up to a row.
    pub(super) fn mark_to(&mut self, position: u32, view: &View) {
        let shown = self.shown.as_ref().and_then(|fid| self.model.position(fid));
        let from = self.mark_anchor.or(shown).unwrap_or(position);
        self.mark_anchor = Some(from);
        self.model.mark_between(from, position);
        self.show_marks(view);
    }

    /// Marks the row with the keyboard and the one so many rows further, to which the keyboard goes.
    pub(super) fn mark_by(&mut self, by: i32, view: &View, sender: &ComponentSender<Self>) {
        let Some(from) = self.model.selected() else { return };
        let Some(to) =
            from.checked_add_signed(by).filter(|to| *to < self.model.selection.n_items())
        else {
            return self.mark_to(from, view);
        };
        self.model.mark_between(from, to);
        if let Some(fid) = self.model.fid_at(to) {
            self.go_to(fid, view, sender);
        }
        self.show_marks(view);
    }

    /// Marks the current chat, or the first, so that others can be marked with a click.
    pub(super) fn start_marking(&mut self, view: &View) {
        let shown = self.shown.clone().filter(|fid| self.model.position(fid).is_some());
        if let Some(fid) =
            shown.or_else(|| self.model.fid_at(0)).filter(|_| !self.model.has_marks())
        {
            self.toggle_mark(&fid, view);
            view.focus_row(&fid);
        }
    }

    pub(super) fn mark_all(&mut self, view: &View) {
        self.model.mark_all();
        self.show_marks(view);
    }

    pub(super) fn unmark(&mut self, view: &View) {
        self.model.unmark_all();
        self.mark_anchor = None;
        self.show_marks(view);
    }

    /// Shows what can be done with the marked chats. The row of the current chat stays selected.
    fn show_marks(&self, view: &View) {
        let marked = self.model.marked();
        let pinned = self.all(&marked, |chat| chat.pinned.is_some());
        let archived = self.all(&marked, |chat| chat.archived.is_some());
        view.selection_bar.show(marked.len(), pinned, archived);
        self.model.select(self.shown.as_ref());
    }

    /// Groups the list as the settings say.
    pub(super) fn group_as_set(&mut self, view: &View) {
        let Some(manager) = &self.manager else { return };
        let by_project = manager.settings().current().ui.group_by_project;
        if self.model.set_by_project(by_project) {
            self.show_shown(view);
        }
    }
}
