//! Marks chats, so that something is done with all of them.

use chat_core::message::Fid;
use relm4::gtk::prelude::*;

use super::Model;

impl Model {
    /// The marked chats in the order of the list. Those without a row come last.
    pub(in super::super) fn marked(&self) -> Vec<Fid> {
        let mut marked: Vec<Fid> = self.marked.iter().cloned().collect();
        marked.sort_by_key(|fid| (self.position(fid).unwrap_or(u32::MAX), fid.clone()));
        marked
    }

    pub(in super::super) fn has_marks(&self) -> bool {
        !self.marked.is_empty()
    }

    /// Marks a chat, or no more. Agents go where their chat goes, so they are never marked.
    pub(in super::super) fn toggle_mark(&mut self, fid: &Fid) {
        let is_marked = self.marked.contains(fid);
        self.set_marked(fid, !is_marked);
    }

    /// Marks all chats between two rows.
    pub(in super::super) fn mark_between(&mut self, one: u32, other: u32) {
        for position in one.min(other)..=one.max(other) {
            if let Some(fid) = self.fid_at(position) {
                self.set_marked(&fid, true);
            }
        }
    }

    /// Marks all chats that have a row.
    pub(in super::super) fn mark_all(&mut self) {
        self.fill_rest();
        if let Some(last) = self.selection.n_items().checked_sub(1) {
            self.mark_between(0, last);
        }
    }

    pub(in super::super) fn unmark_all(&mut self) {
        self.unmark(&self.marked());
    }

    /// Marks these chats no more.
    pub(in super::super) fn unmark(&mut self, chats: &[Fid]) {
        for fid in chats {
            self.set_marked(fid, false);
        }
    }

    fn set_marked(&mut self, fid: &Fid, marked: bool) {
        let Some(item) = self.items.get(fid) else { return };
        if marked && item.with(|session| session.parent.is_some()) {
            return;
        }
        item.set_marked(marked);
        if marked {
            self.marked.insert(fid.clone());
        } else {
            self.marked.remove(fid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::session;
    use super::*;

    #[gtk::test]
    fn a_range_is_marked_without_agents() {
        crate::init();
        let mut model = Model::new();
        let mut chats: Vec<_> = (0..4).map(|at| session(&at.to_string(), None, 9 - at)).collect();
        chats.push(session("agent", Some("1"), 1));
        model.fill(chats);
        model.set_open(&Fid::new("1"), true);
        model.mark_between(3, 1);
        assert_eq!(model.marked(), ["1", "2"].map(Fid::new));
        model.toggle_mark(&Fid::new("2"));
        model.remove(&Fid::new("1"));
        assert!(!model.has_marks());
        model.mark_all();
        assert_eq!(model.marked().len(), 3);
        model.unmark(&["0", "agent"].map(Fid::new));
        assert_eq!(model.marked(), ["2", "3"].map(Fid::new), "others stay marked");
        model.unmark_all();
        assert!(model.marked().is_empty());
    }
}
