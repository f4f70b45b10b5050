//! A row of the chat list: a heading where a new group begins, the title, and the state.

use std::cell::RefCell;

use gtk::glib;
use gtk::glib::subclass::prelude::*;
use gtk::subclass::prelude::{BoxImpl, WidgetImpl};
use relm4::gtk::prelude::*;

use super::item::ChatItem;
use super::status::Shown;
use crate::accessible;

mod imp {
    use super::{
        BoxImpl, ChatItem, ObjectImpl, ObjectImplExt, ObjectSubclass, ObjectSubclassExt, RefCell,
        WidgetImpl, build, glib,
    };

    #[derive(Debug, Default)]
    pub struct ChatRow {
        pub(super) heading: gtk::Label,
        pub(super) body: gtk::Box,
        pub(super) title: gtk::Label,
        pub(super) status: gtk::Label,
        pub(super) mark: gtk::Image,
        pub(super) bound: RefCell<Option<(ChatItem, glib::SignalHandlerId)>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for ChatRow {
        const NAME: &'static str = "NatterChatRow";
        type Type = super::ChatRow;
        type ParentType = gtk::Box;
    }

    impl ObjectImpl for ChatRow {
        fn constructed(&self) {
            self.parent_constructed();
            build(&self.obj(), self);
        }
    }

    impl WidgetImpl for ChatRow {}
    impl BoxImpl for ChatRow {}
}

glib::wrapper! {
    /// The row's widget.
    pub struct ChatRow(ObjectSubclass<imp::ChatRow>)
        @extends gtk::Box, gtk::Widget,
        @implements gtk::Buildable, gtk::ConstraintTarget, gtk::Orientable;
}

fn build(row: &ChatRow, imp: &imp::ChatRow) {
    row.set_orientation(gtk::Orientation::Vertical);
    imp.heading.set_xalign(0.0);
    imp.heading.add_css_class("chat-heading");
    imp.body.add_css_class("chat-row");
    imp.body.set_spacing(6);

    let texts = gtk::Box::new(gtk::Orientation::Vertical, 1);
    texts.set_hexpand(true);
    texts.set_valign(gtk::Align::Center);
    for label in [&imp.title, &imp.status] {
        label.set_xalign(0.0);
        label.set_ellipsize(gtk::pango::EllipsizeMode::End);
        // The pane says how wide the list is, not the longest title.
        label.set_max_width_chars(10);
        texts.append(label);
    }
    imp.status.add_css_class("chat-status");
    imp.mark.add_css_class("chat-mark");
    imp.body.append(&texts);
    imp.body.append(&imp.mark);
    row.append(&imp.heading);
    row.append(&imp.body);

    // What can be read in the row needs no tooltip.
    imp.title.set_has_tooltip(true);
    imp.title.connect_query_tooltip(|title, _, _, _, tooltip| {
        tooltip.set_text(Some(&title.label()));
        title.layout().is_ellipsized()
    });
}

impl ChatRow {
    pub(super) fn new() -> Self {
        glib::Object::new()
    }

    /// The part below the heading: what is pointed at and pressed.
    pub(super) fn body(&self) -> &gtk::Box {
        &self.imp().body
    }

    /// The item that the row shows now.
    pub(super) fn item(&self) -> Option<ChatItem> {
        self.imp().bound.borrow().as_ref().map(|(item, _)| item.clone())
    }

    pub(super) fn bind(&self, item: &ChatItem) {
        self.show_item(item);
        let row = self.downgrade();
        let handler = item.connect_changed(move |item| {
            if let Some(row) = row.upgrade() {
                row.show_item(item);
            }
        });
        self.imp().bound.replace(Some((item.clone(), handler)));
    }

    pub(super) fn unbind(&self) {
        if let Some((item, handler)) = self.imp().bound.take() {
            item.disconnect(handler);
        }
    }

    fn show_item(&self, item: &ChatItem) {
        let imp = self.imp();
        let heading = item.heading();
        imp.heading.set_label(heading.as_deref().unwrap_or_default());
        imp.heading.set_visible(heading.is_some());

        let (title, shown) = item.with(|session| (session.title.clone(), Shown::of(session)));
        imp.title.set_label(&title);
        let word = shown.word();
        let below = item.found().map(|found| found.line).or(word.clone());
        imp.status.set_label(below.as_deref().unwrap_or_default());
        imp.status.set_visible(below.is_some());
        imp.mark.set_icon_name(shown.icon());
        imp.mark.set_visible(shown.icon().is_some());
        imp.mark.set_css_classes(&["chat-mark", shown.class()]);
        imp.mark.set_tooltip_text(word.as_deref());
        let spoken = match &word {
            Some(word) => format!("{title}, {word}"),
            None => title,
        };
        accessible::set_label(self, &spoken);
    }
}
