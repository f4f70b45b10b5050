//! Holds the rows of the chat list: all chats in their order with the agents of those that are open
//! below them, or search results.

mod agents;
mod arranging;
mod marking;
mod rearranging;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use chat_core::event::{Event, SessionPlaceholder, Status};
use chat_core::message::Fid;
use chat_core::store::{Hit, Pattern, SearchFilter};
use chat_presentation::search_words::TypedSearch;
use chat_presentation::words;
use gtk::gio;
use jiff::civil::Date;
use relm4::gtk::prelude::*;

use super::excerpt::FoundIn;
use super::families::{Families, TreePlace};
use super::item::ChatItem;
use super::search_filters;

/// More rows than a tall screen shows.
const FIRST_ROWS: usize = 60;

/// The chats by their ids, and the list models that the view shows.
#[derive(Debug)]
pub(super) struct Model {
    items: HashMap<Fid, ChatItem>,
    families: Families,
    /// All chats in their order, except archived ones and those that are still in `rest`. Below those that
    /// are open are their agents.
    all: gio::ListStore,
    /// Chats that are added after the first frame, so that it need not wait for two hundred rows.
    rest: RefCell<Vec<ChatItem>>,
    /// The search results.
    found: gio::ListStore,
    pub(super) selection: gtk::SingleSelection,
    searching: bool,
    /// What the search leaves out.
    filter: SearchFilter,
    /// Whether chats are grouped by their projects.
    by_project: bool,
    /// The chats that are marked, so that something is done with all of them.
    marked: HashSet<Fid>,
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
            families: Families::default(),
            all,
            rest: RefCell::default(),
            found: gio::ListStore::new::<ChatItem>(),
            selection,
            searching: false,
            filter: SearchFilter::default(),
            by_project: false,
            marked: HashSet::new(),
            grouped_on: today(),
        }
    }

    /// Takes all chats, newest first. Shows as many as fit on the screen; the rest follow with
    /// `fill_rest`, or when one of them is needed.
    pub(super) fn fill(&mut self, sessions: Vec<SessionPlaceholder>) {
        let mut items: Vec<ChatItem> = sessions.into_iter().map(ChatItem::new).collect();
        self.items = items.iter().map(|item| (item.fid(), item.clone())).collect();
        self.families = Families::default();
        for item in in_order_of_creation(&items) {
            item.with(|session| self.families.add(&session.fid, session.parent.as_ref()));
        }
        for item in &items {
            self.show_tree(item);
        }
        items.retain(|item| self.is_top(item) && self.place(item).is_some());
        items.sort_by_cached_key(|item| self.place(item));
        self.set_headings(&items);
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

    /// All chats, newest first, with the agents that are shown.
    fn all(&self) -> &gio::ListStore {
        self.fill_rest();
        &self.all
    }

    /// Whether this event adds, removes or reorders chats, or may change their headings.
    pub(super) fn is_reordered_by(&self, event: &Event) -> bool {
        match event {
            Event::SessionAdded(session) | Event::SessionChanged(session) => {
                let is_agent =
                    session.parent.as_ref().is_some_and(|it| self.items.contains_key(it));
                match self.items.get(&session.fid) {
                    // Agents stand in the order in which they came.
                    Some(item) => !is_agent && self.place(item) != self.place_of(session),
                    None => true,
                }
            }
            Event::SessionRemoved { fid } => self.items.contains_key(fid),
            _ => false,
        }
    }

    /// Adds or updates a chat. Returns whether its row is new or has another place.
    pub(super) fn put(&mut self, session: SessionPlaceholder) -> bool {
        let fid = session.fid.clone();
        let Some(item) = self.items.get(&fid).cloned() else {
            return self.add(session);
        };
        let was = self.place(&item);
        item.set_session(session);
        if self.families.parent(&fid).is_some() {
            self.show_tree_above(&fid);
            return false;
        }
        if was == self.place(&item) {
            return false;
        }
        if let Some(position) = self.all().find(&item) {
            if self.is_in_order(position) {
                return false;
            }
            let block = 1 + self.rows_below(position);
            self.all().splice(position, block, &[] as &[ChatItem]);
        }
        self.insert(&item);
        true
    }

    fn add(&mut self, session: SessionPlaceholder) -> bool {
        let (fid, parent) = (session.fid.clone(), session.parent.clone());
        let item = ChatItem::new(session);
        self.items.insert(fid.clone(), item.clone());
        self.families.add(&fid, parent.as_ref());
        if self.families.parent(&fid).is_some() {
            self.show_tree_above(&fid);
            self.place_agents(&fid);
            return self.families.is_shown(&fid);
        }
        // Agents that came before it stand alone no more.
        for agent in self.families.below(&fid) {
            self.remove_row(&agent);
        }
        self.show_tree(&item);
        self.insert(&item);
        true
    }

    pub(super) fn remove(&mut self, fid: &Fid) {
        if self.items.contains_key(fid) {
            self.remove_row(fid);
            self.forget(fid);
        }
    }

    /// Removes a chat, but not its row.
    fn forget(&mut self, fid: &Fid) {
        let above = self.families.above(fid);
        self.marked.remove(fid);
        let Some(item) = self.items.remove(fid) else { return };
        if let Some(position) = self.found.find(&item) {
            self.found.remove(position);
        }
        self.families.remove(fid);
        for fid in above {
            if let Some(item) = self.items.get(&fid) {
                self.show_tree(item);
            }
        }
    }

    /// Sets the headings where groups begin. Search results have none.
    pub(super) fn regroup(&mut self) {
        if !self.searching {
            self.grouped_on = today();
            self.set_headings(&items(self.all()).collect::<Vec<_>>());
        }
    }

    pub(super) fn regroup_if_day_changed(&mut self) {
        if self.grouped_on != today() {
            self.regroup();
        }
    }

    /// Shows the chats whose titles contain the text and that pass the filter; an empty search shows all
    /// again.
    pub(super) fn search_titles(&mut self, search: &TypedSearch) {
        self.found.remove_all();
        self.filter = search.filter.clone();
        if search.is_empty() {
            if self.searching {
                self.searching = false;
                self.items.values().for_each(|item| {
                    item.set_details(false);
                    self.show_tree(item);
                });
                self.regroup();
                self.selection.set_model(Some(self.all()));
            }
            return;
        }
        self.searching = true;
        let pattern = Pattern::new(search.text.trim());
        let is_any = search.text.trim().is_empty();
        let fits = |item: &ChatItem| {
            let has = |pattern: &Pattern| item.with(|s| !pattern.find(&s.title).is_empty());
            let is_titled = is_any || pattern.as_ref().is_some_and(has);
            is_titled && item.with(|session| self.filter.allows(session))
        };
        let mut titled: Vec<ChatItem> = self.everything().into_iter().filter(fits).collect();
        if is_any {
            titled.sort_by_key(|item| std::cmp::Reverse(item.with(|session| session.updated)));
        }
        for item in &titled {
            item.set_surroundings(None, None);
            item.set_details(true);
            item.set_tree(TreePlace::default());
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
            item.set_details(true);
            item.set_tree(TreePlace::default());
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

    /// Has the rows of all agents shown again.
    pub(super) fn show_agents_again(&self) {
        let is_agent = |item: &&ChatItem| item.with(|session| session.parent.is_some());
        self.items.values().filter(is_agent).for_each(ChatItem::tell);
    }

    /// The menu of what a search can be narrowed to.
    pub(super) fn filters(&self) -> gio::Menu {
        let chats: Vec<_> =
            self.everything().iter().map(|it| it.with(|s| s.meta.clone())).collect();
        search_filters::menu(chats.iter())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.selection.n_items() == 0
    }

    pub(super) fn titles(&self) -> Vec<(Fid, String)> {
        self.everything().iter().map(|item| (item.fid(), self.full_title(item))).collect()
    }

    /// What the copy of a chat of this title is called.
    pub(super) fn title_of_copy(&self, title: &str) -> String {
        let all = self.everything();
        let is_taken = |title: &str| all.iter().any(|item| item.with(|chat| chat.title == title));
        words::title_of_copy(title, is_taken)
    }

    /// Another chat in which something waits for the user, the newest first.
    pub(super) fn asking(&self, but: Option<&Fid>) -> Option<Fid> {
        let asks = |item: &ChatItem| item.with(|session| session.status == Status::NeedsInput);
        let asking = self.everything().into_iter().filter(asks);
        asking.map(|item| item.fid()).find(|fid| Some(fid) != but)
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

    /// The position of a chat's row; of an agent whose row is not shown, that of the chat above it.
    pub(super) fn position(&self, fid: &Fid) -> Option<u32> {
        let item = self.items.get(fid)?;
        if self.searching {
            return self.found.find(item);
        }
        let above = self.families.above(fid);
        let mut rows = std::iter::once(fid).chain(&above);
        let top = rows.clone().last()?;
        if self.all.find(self.items.get(top)?).is_none() {
            self.fill_rest();
        }
        rows.find_map(|fid| self.all.find(self.items.get(fid)?))
    }
}

fn items(store: &gio::ListStore) -> impl Iterator<Item = ChatItem> + '_ {
    (0..store.n_items()).filter_map(|at| store.item(at).and_downcast())
}

/// The same chats, the oldest first.
fn in_order_of_creation(items: &[ChatItem]) -> Vec<ChatItem> {
    let mut items = items.to_vec();
    items.sort_by_key(|item| item.with(|session| (session.created, session.fid.clone())));
    items
}

fn today() -> Date {
    jiff::Zoned::now().date()
}
