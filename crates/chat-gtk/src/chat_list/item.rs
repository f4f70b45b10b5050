//! Defines a chat as an item of the list's model.

use std::cell::{Cell, RefCell};

use chat_core::event::SessionPlaceholder;
use chat_core::message::Fid;
use gtk::glib;
use gtk::glib::subclass::prelude::*;
use relm4::gtk::prelude::*;

use super::excerpt::FoundIn;
use super::families::TreePlace;
use super::menu::Possible;

mod imp {
    use std::sync::OnceLock;

    use gtk::glib::subclass::Signal;

    use super::{
        Cell, FoundIn, ObjectImpl, ObjectSubclass, RefCell, SessionPlaceholder, TreePlace, glib,
    };

    #[derive(Debug, Default)]
    pub struct ChatItem {
        pub(super) session: RefCell<Option<SessionPlaceholder>>,
        pub(super) heading: RefCell<Option<String>>,
        pub(super) found: RefCell<Option<FoundIn>>,
        pub(super) tree: Cell<TreePlace>,
        pub(super) details: Cell<bool>,
        pub(super) marked: Cell<bool>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for ChatItem {
        const NAME: &'static str = "NatterChatItem";
        type Type = super::ChatItem;
    }

    impl ObjectImpl for ChatItem {
        fn signals() -> &'static [Signal] {
            static SIGNALS: OnceLock<[Signal; 1]> = OnceLock::new();
            SIGNALS.get_or_init(|| [Signal::builder("changed").build()])
        }
    }
}

glib::wrapper! {
    /// A row's data. Notifies its row when it changes.
    pub struct ChatItem(ObjectSubclass<imp::ChatItem>);
}

impl ChatItem {
    pub(super) fn new(session: SessionPlaceholder) -> Self {
        let item: Self = glib::Object::new();
        item.imp().session.replace(Some(session));
        item
    }

    /// Accesses the session; a row always has one.
    pub(super) fn with<T>(&self, look: impl FnOnce(&SessionPlaceholder) -> T) -> T {
        look(self.imp().session.borrow().as_ref().expect("set by new"))
    }

    pub(super) fn fid(&self) -> Fid {
        self.with(|session| session.fid.clone())
    }

    pub(super) fn title(&self) -> String {
        self.with(|session| session.title.clone())
    }

    pub(super) fn heading(&self) -> Option<String> {
        self.imp().heading.borrow().clone()
    }

    /// Where a search found it.
    pub(super) fn found(&self) -> Option<FoundIn> {
        self.imp().found.borrow().clone()
    }

    /// Whether its row says when the chat was last active, and in which project: no heading does.
    pub(super) fn has_details(&self) -> bool {
        self.imp().details.get()
    }

    pub(super) fn set_details(&self, details: bool) {
        if self.imp().details.replace(details) != details {
            self.tell();
        }
    }

    /// Whether something is to be done with it and others.
    pub(super) fn is_marked(&self) -> bool {
        self.imp().marked.get()
    }

    pub(super) fn set_marked(&self, marked: bool) {
        if self.imp().marked.replace(marked) != marked {
            self.tell();
        }
    }

    /// How it stands among chats and agents.
    pub(super) fn tree(&self) -> TreePlace {
        self.imp().tree.get()
    }

    /// What can be done with it.
    pub(super) fn possible(&self) -> Possible {
        let below = self.tree().below;
        self.with(|session| Possible {
            stop: session.status.is_busy(),
            stop_agents: below.working + below.asking > 0,
            arrange: session.parent.is_none(),
            is_pinned: session.pinned.is_some(),
            is_archived: session.archived.is_some(),
        })
    }

    pub(super) fn set_tree(&self, tree: TreePlace) {
        if self.imp().tree.replace(tree) != tree {
            self.tell();
        }
    }

    pub(super) fn set_session(&self, session: SessionPlaceholder) {
        if self.imp().session.borrow().as_ref() != Some(&session) {
            self.imp().session.replace(Some(session));
            self.tell();
        }
    }

    /// Sets the heading above the row, and where a search found it.
    pub(super) fn set_surroundings(&self, heading: Option<String>, found: Option<FoundIn>) {
        let imp = self.imp();
        if *imp.heading.borrow() != heading || *imp.found.borrow() != found {
            imp.heading.replace(heading);
            imp.found.replace(found);
            self.tell();
        }
    }

    pub(super) fn connect_changed(
        &self,
        changed: impl Fn(&Self) + 'static,
    ) -> glib::SignalHandlerId {
        self.connect_closure(
            "changed",
            false,
            glib::closure_local!(move |item: &Self| changed(item)),
        )
    }

    /// Has its row show it again.
    pub(super) fn tell(&self) {
        self.emit_by_name::<()>("changed", &[]);
    }
}
