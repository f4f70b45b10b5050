//! Holds the rows of the chat list: all chats in their order, or search results.

use std::cell::RefCell;
use std::collections::HashMap;

use chat_core::event::{Event, SessionPlaceholder, Status};
use chat_core::message::Fid;
use chat_core::store::{Hit, Pattern};
use gtk::gio;
use jiff::civil::Date;
use relm4::gtk::prelude::*;

use super::excerpt::FoundIn;
use super::groups::Grouping;
use super::item::ChatItem;

/// More rows than a tall screen shows.
const FIRST_ROWS: usize = 60;

/// The chats by their ids, and the list models that the view shows.
#[derive(Debug)]
pub(super) struct Model {
    items: HashMap<Fid, ChatItem>,
    /// All chats, newest first, except those that are still in `rest`.
    all: gio::ListStore,
    /// Chats that are added after the first frame, so that it need not wait for two hundred rows.
    rest: RefCell<Vec<ChatItem>>,
    /// The search results.
    found: gio::ListStore,
    pub(super) selection: gtk::SingleSelection,
    searching: bool,
    grouped_on: Date,
}

impl Model {
    pub(super) fn new() -> Self {
        let all = gio::ListStore::new::<ChatItem>();
        let selection = gtk::SingleSelection::builder()
            .autoselect(false)
            .can_unselect(true)
            .model(&all)
            .build();
        Self {
            items: HashMap::new(),
            all,
            rest: RefCell::default(),
            found: gio::ListStore::new::<ChatItem>(),
            selection,
            searching: false,
            grouped_on: today(),
        }
    }

    /// Takes all chats, newest first. Shows as many as fit on the screen; the rest follow with
    /// `fill_rest`, or when one of them is needed.
    pub(super) fn fill(&mut self, sessions: Vec<SessionPlaceholder>) {
        let items: Vec<ChatItem> = sessions.into_iter().map(ChatItem::new).collect();
        self.items = items.iter().map(|item| (item.fid(), item.clone())).collect();
        set_headings(&items);
        let (first, rest) = items.split_at(items.len().min(FIRST_ROWS));
        self.rest.replace(rest.to_vec());
        self.all.splice(0, self.all.n_items(), first);
    }

    /// Adds the chats that the first frame left out.
    pub(super) fn fill_rest(&self) {
        let rest = self.rest.take();
        if !rest.is_empty() {
            self.all.extend_from_slice(&rest);
        }
    }

    /// All chats, newest first.
    fn all(&self) -> &gio::ListStore {
        self.fill_rest();
        &self.all
    }

    /// Whether this event adds, removes or reorders chats, or may change their headings.
    pub(super) fn is_reordered_by(&self, event: &Event) -> bool {
        match event {
            Event::SessionAdded(session) | Event::SessionChanged(session) => {
                let item = self.items.get(&session.fid);
                item.is_none_or(|item| item.with(|old| old.updated != session.updated))
            }
            Event::SessionRemoved { fid } => self.items.contains_key(fid),
            _ => false,
        }
    }

    /// Adds or updates a chat. Returns whether it is new or has another place.
    pub(super) fn put(&mut self, session: SessionPlaceholder) -> bool {
        let updated = session.updated;
        let item = if let Some(item) = self.items.get(&session.fid) {
            let moved = item.with(|old| old.updated != updated);
            item.set_session(session);
            if !moved {
                return false;
            }
            let item = item.clone();
            if let Some(position) = self.all().find(&item) {
                if self.is_in_order(position) {
                    return false;
                }
                self.all().remove(position);
            }
            item
        } else {
            let fid = session.fid.clone();
            let item = ChatItem::new(session);
            self.items.insert(fid, item.clone());
            item
        };
        let position = items(self.all()).position(|other| other.with(|s| s.updated <= updated));
        let position = position.map_or(self.all().n_items(), |position| position as u32);
        self.all().insert(position, &item);
        true
    }

    /// Whether a chat that has changed is still between the same neighbors. A row that is taken out
    /// and inserted again loses the selection and the keyboard.
    fn is_in_order(&self, position: u32) -> bool {
        let updated = |position: u32| {
            let item = self.all().item(position).and_downcast::<ChatItem>()?;
            Some(item.with(|session| session.updated))
        };
        let Some(own) = updated(position) else { return false };
        let newer = position.checked_sub(1).and_then(updated);
        let older = updated(position + 1);
        newer.is_none_or(|newer| newer > own) && older.is_none_or(|older| older <= own)
    }

    pub(super) fn remove(&mut self, fid: &Fid) {
        let Some(item) = self.items.remove(fid) else { return };
        for store in [self.all(), &self.found] {
            if let Some(position) = store.find(&item) {
                store.remove(position);
            }
        }
    }

    /// Sets the headings where groups begin. Search results have none.
    pub(super) fn regroup(&mut self) {
        if !self.searching {
            self.grouped_on = today();
            set_headings(&items(self.all()).collect::<Vec<_>>());
        }
    }

    pub(super) fn regroup_if_day_changed(&mut self) {
        if self.grouped_on != today() {
            self.regroup();
        }
    }

    /// Shows the chats whose titles contain the text; an empty text shows all again.
    pub(super) fn search_titles(&mut self, query: &str) {
        self.found.remove_all();
        if query.is_empty() {
            if self.searching {
                self.searching = false;
                self.regroup();
                self.selection.set_model(Some(self.all()));
            }
            return;
        }
        self.searching = true;
        let pattern = Pattern::new(query.trim());
        let fits = |item: &ChatItem| {
            let has = |pattern: &Pattern| item.with(|s| !pattern.find(&s.title).is_empty());
            pattern.as_ref().is_some_and(has)
        };
        let titled: Vec<ChatItem> = items(self.all()).filter(fits).collect();
        for item in &titled {
            item.set_surroundings(None, None);
        }
        self.found.extend_from_slice(&titled);
        self.selection.set_model(Some(&self.found));
    }

    /// Adds the chats whose texts match, with the positions, and sorts all results in the order of
    /// the search.
    pub(super) fn add_hits(&mut self, query: &str, hits: &[Hit]) {
        if !self.searching {
            return;
        }
        let mut found = Vec::with_capacity(hits.len());
        for hit in hits {
            let Some(item) = self.items.get(&hit.session.fid) else { continue };
            item.set_surroundings(None, FoundIn::of(hit, query));
            found.push(item.clone());
        }
        // More titles may match than the search returns hits.
        found.extend(items(&self.found).filter(|item| !found.contains(item)).collect::<Vec<_>>());
        let same = items(&self.found).zip(&found).take_while(|(old, new)| old == *new).count();
        if same < found.len() {
            let chosen = self.selected().and_then(|at| self.fid_at(at));
            let after = self.found.n_items() - same as u32;
            self.found.splice(same as u32, after, &found[same..]);
            self.select(chosen.as_ref());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.selection.n_items() == 0
    }

    pub(super) fn titles(&self) -> Vec<(Fid, String)> {
        items(self.all()).map(|item| (item.fid(), item.title())).collect()
    }

    /// Another chat in which something waits for the user, the newest first.
    pub(super) fn asking(&self, but: Option<&Fid>) -> Option<Fid> {
        let asks = |item: &ChatItem| item.with(|session| session.status == Status::NeedsInput);
        items(self.all()).filter(asks).map(|item| item.fid()).find(|fid| Some(fid) != but)
    }

    pub(super) fn session(&self, fid: &Fid) -> Option<SessionPlaceholder> {
        self.items.get(fid).map(|item| item.with(SessionPlaceholder::clone))
    }

    pub(super) fn title(&self, fid: &Fid) -> Option<String> {
        self.items.get(fid).map(ChatItem::title)
    }

    pub(super) fn fid_at(&self, position: u32) -> Option<Fid> {
        self.item_at(position).map(|item| item.fid())
    }

    pub(super) fn item_at(&self, position: u32) -> Option<ChatItem> {
        self.selection.item(position).and_downcast::<ChatItem>()
    }

    /// The position of the selected row.
    pub(super) fn selected(&self) -> Option<u32> {
        Some(self.selection.selected()).filter(|at| *at != gtk::INVALID_LIST_POSITION)
    }

    /// Selects the row of this chat, if it has one.
    pub(super) fn select(&self, fid: Option<&Fid>) {
        let position = fid.and_then(|fid| self.position(fid)).unwrap_or(gtk::INVALID_LIST_POSITION);
        if self.selection.selected() != position {
            self.selection.set_selected(position);
        }
    }

    /// The chat this many rows below another one; the first if there is no other.
    pub(super) fn step(&self, from: Option<&Fid>, by: i32) -> Option<Fid> {
        self.fill_rest();
        let last = self.selection.n_items().checked_sub(1)?;
        let to = match from.and_then(|fid| self.position(fid)) {
            Some(at) => at.checked_add_signed(by)?.min(last),
            None => 0,
        };
        self.fid_at(to).filter(|fid| Some(fid) != from)
    }

    /// The position of a chat's row.
    pub(super) fn position(&self, fid: &Fid) -> Option<u32> {
        let item = self.items.get(fid)?;
        if self.searching {
            return self.found.find(item);
        }
        self.all.find(item).or_else(|| self.all().find(item))
    }
}

fn items(store: &gio::ListStore) -> impl Iterator<Item = ChatItem> + '_ {
    (0..store.n_items()).filter_map(|at| store.item(at).and_downcast())
}

fn set_headings(items: &[ChatItem]) {
    let grouping = Grouping::now();
    let mut last = None;
    for item in items {
        let group = item.with(|session| grouping.of(session.updated));
        let heading = (last != Some(group)).then(|| grouping.heading(group));
        item.set_surroundings(heading, None);
        last = Some(group);
    }
}

fn today() -> Date {
    jiff::Zoned::now().date()
}
