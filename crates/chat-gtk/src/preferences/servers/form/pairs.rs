//! Shows variables or headers: two rows for each, its name and its value.

mod pair;

use std::cell::RefCell;
use std::rc::Rc;

use adw::prelude::*;
use chat_mcp::draft::DraftPair;
use gettextrs::gettext;

use self::pair::Pair;
use super::super::super::rows::icon_button;
use super::Changed;
use super::section::Section;

/// What the two lists call things.
pub(super) struct PairWords {
    title: String,
    add: String,
    /// One of them.
    pub(super) one: String,
}

impl PairWords {
    pub(super) fn of_variables() -> Self {
        Self {
            title: gettext("Environment Variables"),
            add: gettext("Add Variable"),
            one: gettext("Variable"),
        }
    }

    pub(super) fn of_headers() -> Self {
        Self { title: gettext("Headers"), add: gettext("Add Header"), one: gettext("Header") }
    }
}

/// The list. Cheap to clone.
#[derive(Clone)]
pub(super) struct Pairs(Rc<Inner>);

struct Inner {
    section: Section,
    words: PairWords,
    add: gtk::Button,
    pairs: RefCell<Vec<Rc<Pair>>>,
    changed: RefCell<Option<Changed>>,
}

impl Pairs {
    pub(super) fn new(words: PairWords) -> Self {
        let section = Section::new(
            &words.title,
            &gettext("Secrets are saved in your keyring. Leave a saved one empty to keep it."),
        );
        let add = icon_button("list-add-symbolic", &words.add);
        section.group.set_header_suffix(Some(&add));
        let inner = Rc::new(Inner {
            section,
            words,
            add,
            pairs: RefCell::default(),
            changed: RefCell::default(),
        });
        let weak = Rc::downgrade(&inner);
        inner.add.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.add(&DraftPair::default()).grab_focus();
                inner.tell();
            }
        });
        Self(inner)
    }

    pub(super) fn section(&self) -> &Section {
        &self.0.section
    }

    pub(super) fn connect_changed(&self, changed: Changed) {
        self.0.changed.replace(Some(changed));
    }

    pub(super) fn fill(&self, pairs: &[DraftPair]) {
        for pair in pairs {
            self.0.add(pair);
        }
    }

    /// What is filled in.
    pub(super) fn filled(&self) -> Vec<DraftPair> {
        self.0.pairs.borrow().iter().map(|pair| pair.filled()).collect()
    }
}

impl Inner {
    fn add(self: &Rc<Self>, filled: &DraftPair) -> Rc<Pair> {
        let weak = Rc::downgrade(self);
        let changed: Changed = Rc::new(move || {
            if let Some(inner) = weak.upgrade() {
                inner.tell();
            }
        });
        let pair = Pair::new(&self.words, filled, changed);
        for row in pair.rows() {
            self.section.group.add(&row);
        }
        let (weak, of) = (Rc::downgrade(self), Rc::downgrade(&pair));
        pair.connect_removed(move || {
            if let (Some(inner), Some(pair)) = (weak.upgrade(), of.upgrade()) {
                inner.remove(&pair);
            }
        });
        self.pairs.borrow_mut().push(Rc::clone(&pair));
        pair
    }

    fn remove(&self, pair: &Rc<Pair>) {
        // The button that was pressed goes, too.
        self.add.grab_focus();
        for row in pair.rows() {
            self.section.group.remove(&row);
        }
        self.pairs.borrow_mut().retain(|other| !Rc::ptr_eq(other, pair));
        self.tell();
    }

    fn tell(&self) {
        let changed = self.changed.borrow().clone();
        if let Some(changed) = changed {
            changed();
        }
    }
}
