//! Builds the widgets of the chat list.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use chat_core::message::Fid;
use chat_core::tool::Toolbox;
use gettextrs::gettext;
use gtk::{gdk, gio, glib};
use relm4::ComponentSender;
use relm4::gtk::prelude::*;

use super::colors::{self, AgentColors};
use super::item::ChatItem;
use super::model::Model;
use super::row::ChatRow;
use super::row_factory::factory;
use super::selection_bar::SelectionBar;
use super::{ChatList, Input};
use super::{keys, menu, search_filters};
use crate::{accessible, paint, popover};

/// The widgets that the component needs later.
#[derive(Debug)]
pub(crate) struct View {
    root: gtk::Box,
    pub(crate) search_button: gtk::ToggleButton,
    search_bar: gtk::SearchBar,
    search: gtk::SearchEntry,
    list: gtk::ListView,
    /// Where the pointer is over the list.
    pointer: Rc<Cell<Option<(f64, f64)>>>,
    stack: gtk::Stack,
    placeholder: gtk::Label,
    note: gtk::Label,
    /// What is known of the tools that agents run.
    tools: Rc<RefCell<Toolbox>>,
    colors: Rc<AgentColors>,
    pub(super) selection_bar: SelectionBar,
    filters: gtk::MenuButton,
}

/// What the user has of the list before them.
#[derive(Debug)]
pub(super) struct Sight {
    /// The list is scrolled to its top.
    pub(super) at_top: bool,
    /// The row of the current chat is in sight, and the pointer is elsewhere.
    pub(super) sees_shown: bool,
    /// The chat under the pointer, if all of its row is in sight.
    pub(super) under_pointer: Option<Fid>,
    pub(super) has_keyboard: bool,
}

impl View {
    pub(super) fn new(root: &gtk::Box, model: &Model, sender: &ComponentSender<ChatList>) -> Self {
        let search = gtk::SearchEntry::builder()
            .placeholder_text(gettext("Search chats"))
            .hexpand(true)
            .width_chars(12)
            .max_width_chars(12)
            .build();
        accessible::set_label(&search, &gettext("Search Chats"));
        let filters = search_filters::button();
        let line = gtk::Box::builder().spacing(6).build();
        line.append(&search);
        line.append(&filters);
        let search_bar = gtk::SearchBar::builder().child(&line).build();
        search_bar.connect_entry(&search);
        let search_button = gtk::ToggleButton::builder()
            .icon_name("system-search-symbolic")
            .tooltip_text(gettext("Search Chats (Ctrl+Shift+F)"))
            .build();
        accessible::set_label(&search_button, &gettext("Search"));
        search_button
            .bind_property("active", &search_bar, "search-mode-enabled")
            .bidirectional()
            .sync_create()
            .build();

        let tools = Rc::default();
        let colors = Rc::new(colors::asking(sender));
        let factory = factory(root, &tools, &colors, sender);
        let list = gtk::ListView::new(Some(model.selection.clone()), Some(factory));
        list.add_css_class("chats");
        accessible::set_label(&list, &gettext("Chats"));
        let pointer = watch_pointer(&list);
        let scroller = gtk::ScrolledWindow::builder()
            .child(&list)
            .hscrollbar_policy(gtk::PolicyType::Never)
            .vexpand(true)
            .build();
        let placeholder = gtk::Label::builder()
            .css_classes(["dim-label"])
            .wrap(true)
            .max_width_chars(20)
            .justify(gtk::Justification::Center)
            .build();
        let stack = gtk::Stack::new();
        stack.add_named(&scroller, Some("list"));
        stack.add_named(&placeholder, Some("placeholder"));
        root.append(&search_bar);
        root.append(&stack);
        let note = gtk::Label::builder()
            .css_classes(["dim-label", "caption"])
            .margin_top(6)
            .margin_bottom(6)
            .wrap(true)
            .max_width_chars(20)
            .justify(gtk::Justification::Center)
            .visible(false)
            .build();
        root.append(&note);
        let selection_bar = SelectionBar::new(sender);
        root.append(selection_bar.widget());
        menu::install_actions(root, sender);

        let view = Self {
            root: root.clone(),
            search_button,
            search_bar,
            search,
            list,
            pointer,
            stack,
            placeholder,
            note,
            tools,
            colors,
            selection_bar,
            filters,
        };
        view.connect_list(model, sender);
        view.connect_search(sender);
        view
    }

    /// Selecting by keyboard shows a chat at once; Enter moves the focus to it.
    fn connect_list(&self, model: &Model, sender: &ComponentSender<ChatList>) {
        let selection = model.selection.clone();
        // Only a selection made while the list has the focus counts; others just follow the shown
        // chat.
        let by_keyboard = keys::connect(&self.root, &self.list, &selection, sender);

        // GTK loses its own position for the keyboard when rows are inserted above it.
        let entering = gtk::EventControllerFocus::new();
        let (chosen, root) = (selection.clone(), self.root.clone());
        let list = self.list.downgrade();
        entering.connect_enter(move |_| {
            let Some(item) = chosen.selected_item().and_downcast::<ChatItem>() else { return };
            let (root, list) = (root.clone(), list.clone());
            glib::idle_add_local_once(move || {
                // After a quick click, the message already has the focus.
                let is_inside = gtk::StateFlags::FOCUS_WITHIN;
                if list.upgrade().is_some_and(|list| list.state_flags().contains(is_inside)) {
                    focus_row(&root, &item.fid());
                }
            });
        });
        self.list.add_controller(entering);

        let input = sender.input_sender().clone();
        selection.connect_selected_notify(move |selection| {
            if by_keyboard.take() && selection.selected() != gtk::INVALID_LIST_POSITION {
                input.emit(Input::Chosen { position: selection.selected(), forward: false });
            }
        });
        let input = sender.input_sender().clone();
        self.list.connect_activate(move |_, position| {
            input.emit(Input::Chosen { position, forward: true });
        });
    }

    fn connect_search(&self, sender: &ComponentSender<ChatList>) {
        let input = sender.input_sender().clone();
        self.search_bar.connect_search_mode_enabled_notify(move |bar| {
            if bar.is_search_mode() {
                input.emit(Input::OfferFilters);
            }
        });
        let input = sender.input_sender().clone();
        self.search.connect_changed(move |entry| {
            input.emit(Input::Query(entry.text().to_string()));
        });
        let input = sender.input_sender().clone();
        self.search.connect_search_changed(move |_| input.emit(Input::QueryTexts));
        let input = sender.input_sender().clone();
        self.search.connect_activate(move |_| {
            input.emit(Input::Chosen { position: 0, forward: true });
        });
        let keys = gtk::EventControllerKey::new();
        let list = self.list.clone();
        keys.connect_key_pressed(move |_, key, _, _| {
            if key == gdk::Key::Down {
                list.grab_focus();
                return glib::Propagation::Stop;
            }
            glib::Propagation::Proceed
        });
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        self.search.add_controller(keys);
    }

    /// Takes what is known of the tools that agents run.
    pub(super) fn set_tools(&self, tools: Toolbox) {
        self.tools.replace(tools);
    }

    /// The colors of agents.
    pub(super) fn colors(&self) -> &AgentColors {
        &self.colors
    }

    pub(super) fn start_search(&self) {
        self.search_bar.set_search_mode(true);
        self.search.grab_focus();
        self.search.select_region(0, -1);
    }

    /// Opens the search with these words.
    pub(super) fn search_for(&self, words: &str) {
        self.start_search();
        self.search.set_text(words);
        self.search.set_position(-1);
    }

    /// Adds words to the search; those that are in it already are taken out.
    pub(super) fn narrow(&self, words: &str) {
        let typed = self.search.text();
        let text = match typed.split_once(words) {
            Some((before, after)) => [before.trim_end(), after.trim_start()].join(" "),
            None => [typed.trim_end(), words, ""].join(" "),
        };
        self.search_for(text.trim_start());
    }

    /// What the search can be narrowed to.
    pub(super) fn set_filters(&self, menu: &gio::Menu) {
        self.filters.set_menu_model(Some(menu));
    }

    pub(super) fn end_search(&self) {
        self.search_bar.set_search_mode(false);
    }

    pub(super) fn scroll_to(&self, position: u32) {
        // GTK has had the function only since 4.12, but the action since 4.0.
        let _ = self.list.activate_action("list.scroll-to-item", Some(&position.to_variant()));
    }

    /// What the user has of the list before them, with this chat as the current one.
    pub(super) fn sight(&self, shown: Option<&Fid>) -> Sight {
        let height = self.list.height() as f32;
        let bounds = |row: &ChatRow| row.compute_bounds(&self.list);
        let is_seen = |row: ChatRow| {
            bounds(&row).is_some_and(|row| row.y() + row.height() > 0.0 && row.y() < height)
        };
        let is_whole = |row: &ChatRow| {
            bounds(row).is_some_and(|row| row.y() >= 0.0 && row.y() + row.height() <= height)
        };
        let pointer = self.pointer.get();
        let under_pointer = pointer.and_then(|(x, y)| {
            let picked = self.list.pick(x, y, gtk::PickFlags::DEFAULT)?;
            let mut widgets = std::iter::successors(Some(picked), WidgetExt::parent);
            let row = widgets.find_map(|widget| widget.downcast::<ChatRow>().ok())?;
            row.item().filter(|_| is_whole(&row)).map(|item| item.fid())
        });
        Sight {
            at_top: self.list.vadjustment().is_none_or(|adjustment| adjustment.value() < 1.0),
            sees_shown: pointer.is_none()
                && shown.and_then(|fid| row_of(self.list.upcast_ref(), fid)).is_some_and(is_seen),
            under_pointer,
            has_keyboard: self.has_keyboard(),
        }
    }

    /// Shows a text in place of the list, or the list again.
    pub(super) fn set_placeholder(&self, words: Option<&str>) {
        if let Some(words) = words {
            self.placeholder.set_label(words);
        }
        self.stack.set_visible_child_name(if words.is_some() { "placeholder" } else { "list" });
    }

    /// Shows a remark below the search results, or none.
    pub(super) fn set_note(&self, words: &str) {
        self.note.set_label(words);
        self.note.set_visible(!words.is_empty());
    }

    /// Asks for a new title next to the chat's row.
    pub(super) fn ask_title(&self, fid: Fid, title: &str, sender: &ComponentSender<ChatList>) {
        let input = sender.input_sender().clone();
        let place = row_bounds(&self.root, &fid);
        popover::ask_title(&self.root, &place, title, move |title| {
            input.emit(Input::Retitle { fid: fid.clone(), title });
        });
    }

    /// Whether the list has the keyboard focus.
    pub(super) fn has_keyboard(&self) -> bool {
        self.list.state_flags().contains(gtk::StateFlags::FOCUS_WITHIN)
    }

    /// Focuses a chat's row, if it is on the screen.
    pub(super) fn focus_row(&self, fid: &Fid) {
        focus_row(&self.root, fid);
    }

    /// Focuses a chat's row once it has been laid out.
    pub(super) fn focus_row_later(&self, fid: Fid) {
        let root = self.root.clone();
        paint::after_next(&self.root, move || focus_row(&root, &fid));
    }
}

/// Keeps track of where the pointer is over the list.
fn watch_pointer(list: &gtk::ListView) -> Rc<Cell<Option<(f64, f64)>>> {
    let place: Rc<Cell<Option<(f64, f64)>>> = Rc::default();
    let motion = gtk::EventControllerMotion::new();
    let at = Rc::clone(&place);
    motion.connect_enter(move |_, x, y| at.set(Some((x, y))));
    let at = Rc::clone(&place);
    motion.connect_motion(move |_, x, y| at.set(Some((x, y))));
    let at = Rc::clone(&place);
    motion.connect_leave(move |_| at.set(None));
    list.add_controller(motion);
    place
}

/// The row of a chat, if it is on the screen.
fn row_of(widget: &gtk::Widget, fid: &Fid) -> Option<ChatRow> {
    if let Some(row) = widget.downcast_ref::<ChatRow>() {
        let wanted = row.is_mapped() && row.item().is_some_and(|item| item.fid() == *fid);
        return wanted.then(|| row.clone());
    }
    let children = std::iter::successors(widget.first_child(), WidgetExt::next_sibling);
    children.into_iter().find_map(|child| row_of(&child, fid))
}

fn focus_row(root: &gtk::Box, fid: &Fid) {
    if let Some(item) = row_of(root.upcast_ref(), fid).and_then(|row| row.parent()) {
        item.grab_focus();
    }
}

/// The bounds of a chat's row on the screen; the top of the list if it has none.
pub(super) fn row_bounds(root: &gtk::Box, fid: &Fid) -> gdk::Rectangle {
    let row = row_of(root.upcast_ref(), fid);
    let bounds = row.and_then(|row| row.body().compute_bounds(root));
    bounds.map_or_else(
        || gdk::Rectangle::new(root.width() / 2, 0, 1, 1),
        |b| gdk::Rectangle::new(b.x() as i32, b.y() as i32, b.width() as i32, b.height() as i32),
    )
}
