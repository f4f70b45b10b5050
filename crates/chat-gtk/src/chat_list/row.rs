//! Shows a row of the chat list: a heading where a new group begins, the title, and the state.

mod color;
mod line;

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use chat_core::message::Fid;
use chat_core::tool::Toolbox;
use chat_presentation::words::fill;
use gettextrs::gettext;
use gtk::glib;
use gtk::glib::subclass::prelude::*;
use gtk::subclass::prelude::{BoxImpl, WidgetImpl};
use relm4::gtk::prelude::*;

use super::colors::AgentColors;
use super::item::ChatItem;
use super::menu;
use crate::accessible;
use crate::agent_color::AgentDot;

/// How far an agent stands in from the one that it works for, in pixels.
const INDENT: i32 = 18;

/// How often the line of an agent at work is written again, in seconds.
const MINUTES_EVERY: u32 = 20;

mod imp {
    use super::{
        AgentColors, AgentDot, BoxImpl, ChatItem, Fid, ObjectImpl, ObjectImplExt, ObjectSubclass,
        ObjectSubclassExt, OnceCell, Rc, RefCell, Toolbox, WidgetImpl, build, glib,
    };

    #[derive(Default)]
    pub struct ChatRow {
        pub(super) body: gtk::Box,
        pub(super) texts: gtk::Box,
        pub(super) title: gtk::Label,
        // GTK creates two hundred rows for a long list, and few of them ever need these.
        pub(super) heading: OnceCell<gtk::Label>,
        pub(super) status: OnceCell<gtk::Label>,
        /// For how long an agent is at work. It stays in sight where what it does is cut.
        pub(super) time: OnceCell<gtk::Label>,
        pub(super) mark: OnceCell<gtk::Image>,
        /// In which project the chat is, and when it was last active, where no heading says so.
        pub(super) details: OnceCell<gtk::Label>,
        /// Shows that the chat is marked.
        pub(super) check: OnceCell<gtk::Image>,
        /// The color of an agent, before its title.
        pub(super) dot: OnceCell<AgentDot>,
        /// What the mark stands for.
        pub(super) word: RefCell<Option<String>>,
        /// Shows the agents, or hides them.
        pub(super) disclosure: OnceCell<gtk::Button>,
        pub(super) bound: RefCell<Option<(ChatItem, glib::SignalHandlerId)>>,
        pub(super) tools: OnceCell<Rc<RefCell<Toolbox>>>,
        pub(super) colors: OnceCell<Rc<AgentColors>>,
        pub(super) open: OnceCell<Box<dyn Fn(Fid, bool)>>,
        /// Counts the minutes of an agent at work.
        pub(super) clock: RefCell<Option<glib::SourceId>>,
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
    /// A row that calls `open` where the agents of its chat are to be shown or hidden.
    pub(super) fn new(
        tools: Rc<RefCell<Toolbox>>,
        colors: Rc<AgentColors>,
        open: impl Fn(Fid, bool) + 'static,
    ) -> Self {
        let row: Self = glib::Object::new();
        // They are set once.
        let _ = row.imp().tools.set(tools);
        let _ = row.imp().colors.set(colors);
        let _ = row.imp().open.set(Box::new(open));
        row
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
            let status = gtk::Label::builder().css_classes(["chat-status"]).hexpand(true).build();
            keep_to_the_pane(&status);
            let line = gtk::Box::builder().spacing(6).build();
            line.append(&status);
            self.imp().texts.append(&line);
            status
        })
    }

    /// Shows the line below the title, or takes all its space away.
    fn show_status_line(&self, shown: bool) {
        if let Some(line) = self.imp().status.get().and_then(WidgetExt::parent) {
            line.set_visible(shown);
        }
    }

    /// The line below all others.
    fn details(&self) -> &gtk::Label {
        self.imp().details.get_or_init(|| {
            let details = gtk::Label::builder().css_classes(["chat-status"]).build();
            keep_to_the_pane(&details);
            self.imp().texts.append(&details);
            details
        })
    }

    fn check(&self) -> &gtk::Image {
        self.imp().check.get_or_init(|| {
            let check = gtk::Image::from_icon_name("object-select-symbolic");
            check.add_css_class("chat-check");
            self.imp().body.prepend(&check);
            check
        })
    }

    /// Shows whether the chat is marked.
    fn show_marked(&self, marked: bool) {
        if marked {
            self.check().set_visible(true);
            self.imp().body.add_css_class("marked");
        } else {
            hide(&self.imp().check);
            self.imp().body.remove_css_class("marked");
        }
    }

    /// The end of that line.
    fn time(&self) -> &gtk::Label {
        self.imp().time.get_or_init(|| {
            let time = gtk::Label::builder().css_classes(["chat-status"]).build();
            if let Some(line) = self.status().parent().and_downcast::<gtk::Box>() {
                line.append(&time);
            }
            time
        })
    }

    fn mark(&self) -> &gtk::Image {
        self.imp().mark.get_or_init(|| {
            let mark = gtk::Image::new();
            // Each time that a tooltip's text is set, GTK asks the X server several times where the pointer is.
            mark.set_has_tooltip(true);
            let weak = self.downgrade();
            mark.connect_query_tooltip(move |_, _, _, _, tooltip| {
                let word = weak.upgrade().and_then(|row| row.imp().word.borrow().clone());
                tooltip.set_text(word.as_deref());
                word.is_some()
            });
            self.imp().body.append(&mark);
            mark
        })
    }

    fn disclosure(&self) -> &gtk::Button {
        self.imp().disclosure.get_or_init(|| {
            let button = gtk::Button::builder()
                .css_classes(["flat", "circular", "chat-disclosure"])
                .valign(gtk::Align::Center)
                .focus_on_click(false)
                .build();
            let weak = self.downgrade();
            button.connect_clicked(move |_| {
                let Some(row) = weak.upgrade() else { return };
                if let (Some(item), Some(open)) = (row.item(), row.imp().open.get()) {
                    open(item.fid(), !item.tree().is_open);
                }
            });
            self.imp().body.append(&button);
            button
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
        self.count_minutes(false);
    }

    /// Has the line of an agent say how long it works, as long as it does.
    fn count_minutes(&self, counts: bool) {
        let mut clock = self.imp().clock.borrow_mut();
        if !counts {
            if let Some(clock) = clock.take() {
                clock.remove();
            }
        } else if clock.is_none() {
            let weak = self.downgrade();
            let tick = move || {
                let Some(row) = weak.upgrade() else { return glib::ControlFlow::Break };
                if let Some(item) = row.item() {
                    row.show_item(&item);
                }
                glib::ControlFlow::Continue
            };
            clock.replace(glib::timeout_add_seconds_local(MINUTES_EVERY, tick));
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

        let tree = item.tree();
        let title = item.title();
        imp.title.set_label(&title);
        self.show_color(item);
        imp.body.set_margin_start(INDENT * i32::try_from(tree.depth.min(4)).unwrap_or_default());
        let line = self.line_of(item);
        let word = line.word.clone();
        let found = item.found().map(|found| (found.line, found.marks));
        match found.or(word.clone().map(|word| (word, Vec::new()))) {
            Some((words, marks)) => {
                self.status().set_label(&words);
                self.status().set_attributes(line::bold(&marks).as_ref());
                self.show_status_line(true);
            }
            None => self.show_status_line(false),
        }
        match &line.time {
            Some(time) => {
                self.time().set_label(time);
                self.time().set_visible(true);
            }
            None => hide(&imp.time),
        }
        match item.has_details().then(|| line::details(item)) {
            Some(details) => {
                self.details().set_label(&details);
                self.details().set_visible(true);
            }
            None => hide(&imp.details),
        }
        self.show_marked(item.is_marked());
        match line.icon {
            Some(icon) => {
                let mark = self.mark();
                mark.set_icon_name(Some(icon));
                mark.set_css_classes(&["chat-mark", line.class]);
                imp.word.replace(word);
                mark.set_visible(true);
            }
            None => hide(&imp.mark),
        }
        if tree.below.count > 0 {
            let button = self.disclosure();
            let (icon, text) = if tree.is_open {
                ("pan-down-symbolic", gettext("Hide agents of “{title}”"))
            } else {
                ("pan-end-symbolic", gettext("Show agents of “{title}”"))
            };
            button.set_icon_name(icon);
            let words = fill(&text, &[("title", &title)]);
            accessible::set_label(button, &words);
            button.set_visible(true);
        } else {
            hide(&imp.disclosure);
        }
        let spoken = line.spoken;
        accessible::set_label(self, &spoken);
        // GTK's own row has the focus, but no accessible name.
        if let Some(row) = self.parent() {
            accessible::set_label(&row, &spoken);
        }
    }
}

fn hide(part: &OnceCell<impl IsA<gtk::Widget>>) {
    if let Some(part) = part.get() {
        part.set_visible(false);
    }
}

#[cfg(test)]
mod tests {
    use chat_core::event::{SessionPlaceholder, Status};

    use super::*;

    #[gtk::test]
    fn a_row_that_changes_sets_the_text_of_no_tooltip() {
        crate::init();
        let row = ChatRow::new(Rc::default(), Rc::default(), |_, _| {});
        let at = |status| SessionPlaceholder { status, ..SessionPlaceholder::default() };
        let item = ChatItem::new(at(Status::Waiting));
        row.bind(&item);
        for (status, word) in [(Status::Waiting, "Waiting"), (Status::Answering, "Replying…")] {
            item.set_session(at(status));
            assert!(row.mark().has_tooltip() && row.mark().tooltip_text().is_none());
            assert_eq!(row.imp().word.borrow().as_deref(), Some(word));
        }
    }
}
