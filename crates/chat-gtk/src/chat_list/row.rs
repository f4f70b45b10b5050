//! Shows a row of the chat list: a heading where a new group begins, the title, and the state.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;

use gtk::glib;
use gtk::glib::subclass::prelude::*;
use gtk::pango;
use gtk::subclass::prelude::{BoxImpl, WidgetImpl};
use relm4::gtk::prelude::*;

use super::item::ChatItem;
use super::menu;
use super::status::ChatStatus;
use crate::accessible;

mod imp {
    use super::{
        BoxImpl, ChatItem, ObjectImpl, ObjectImplExt, ObjectSubclass, ObjectSubclassExt, OnceCell,
        RefCell, WidgetImpl, build, glib,
    };

    #[derive(Debug, Default)]
    pub struct ChatRow {
        pub(super) body: gtk::Box,
        pub(super) texts: gtk::Box,
        pub(super) title: gtk::Label,
        // GTK creates two hundred rows for a long list, and few of them ever need these.
        pub(super) heading: OnceCell<gtk::Label>,
        pub(super) status: OnceCell<gtk::Label>,
        pub(super) mark: OnceCell<gtk::Image>,
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
    imp.body.add_css_class("chat-row");
    imp.body.set_spacing(6);
    imp.texts.set_orientation(gtk::Orientation::Vertical);
    imp.texts.set_spacing(1);
    imp.texts.set_hexpand(true);
    imp.texts.set_valign(gtk::Align::Center);
    keep_to_the_pane(&imp.title);
    imp.texts.append(&imp.title);
    imp.body.append(&imp.texts);
    row.append(&imp.body);

    // The full text needs no tooltip when it fits into the row.
    imp.title.set_has_tooltip(true);
    imp.title.connect_query_tooltip(|title, _, _, _, tooltip| {
        tooltip.set_text(Some(&title.label()));
        title.layout().is_ellipsized() && !menu::is_open_over(title)
    });
}

/// The pane decides how wide the list is, not the longest title.
fn keep_to_the_pane(label: &gtk::Label) {
    label.set_xalign(0.0);
    label.set_ellipsize(gtk::pango::EllipsizeMode::End);
    label.set_max_width_chars(10);
}

impl ChatRow {
    pub(super) fn new() -> Self {
        glib::Object::new()
    }

    fn heading(&self) -> &gtk::Label {
        self.imp().heading.get_or_init(|| {
            let heading = gtk::Label::builder().xalign(0.0).css_classes(["chat-heading"]).build();
            // Otherwise the list would select the chat below it, but not show it.
            let click = gtk::GestureClick::new();
            click.connect_pressed(|click, _, _, _| {
                click.set_state(gtk::EventSequenceState::Claimed);
            });
            heading.add_controller(click);
            self.prepend(&heading);
            heading
        })
    }

    /// The line below the title.
    fn status(&self) -> &gtk::Label {
        self.imp().status.get_or_init(|| {
            let status = gtk::Label::builder().css_classes(["chat-status"]).build();
            keep_to_the_pane(&status);
            self.imp().texts.append(&status);
            status
        })
    }

    fn mark(&self) -> &gtk::Image {
        self.imp().mark.get_or_init(|| {
            let mark = gtk::Image::new();
            self.imp().body.append(&mark);
            mark
        })
    }

    /// The part below the heading that reacts to the pointer.
    pub(super) fn body(&self) -> &gtk::Box {
        &self.imp().body
    }

    /// The item that the row currently shows.
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
        match item.heading() {
            Some(words) => {
                self.heading().set_label(&words);
                self.heading().set_visible(true);
            }
            None => hide(&imp.heading),
        }

        let (title, shown) = item.with(|session| (session.title.clone(), ChatStatus::of(session)));
        imp.title.set_label(&title);
        let word = shown.word();
        let found = item.found().map(|found| (found.line, found.marks));
        match found.or(word.clone().map(|word| (word, Vec::new()))) {
            Some((words, marks)) => {
                self.status().set_label(&words);
                self.status().set_attributes(bold(&marks).as_ref());
                self.status().set_visible(true);
            }
            None => hide(&imp.status),
        }
        match shown.icon() {
            Some(icon) => {
                let mark = self.mark();
                mark.set_icon_name(Some(icon));
                mark.set_css_classes(&["chat-mark", shown.class()]);
                mark.set_tooltip_text(word.as_deref());
                mark.set_visible(true);
            }
            None => hide(&imp.mark),
        }
        let spoken = shown.spoken(&title);
        accessible::set_label(self, &spoken);
        // GTK's own row has the focus, but no accessible name.
        if let Some(row) = self.parent() {
            accessible::set_label(&row, &spoken);
        }
    }
}

/// Makes these byte ranges of a label bold.
fn bold(places: &[Range<usize>]) -> Option<pango::AttrList> {
    let attributes = pango::AttrList::new();
    for place in places {
        let mut bold = pango::AttrInt::new_weight(pango::Weight::Bold);
        bold.set_start_index(place.start as u32);
        bold.set_end_index(place.end as u32);
        attributes.insert(bold);
    }
    (!places.is_empty()).then_some(attributes)
}

fn hide(part: &OnceCell<impl IsA<gtk::Widget>>) {
    if let Some(part) = part.get() {
        part.set_visible(false);
    }
}
