//! Builds the window's widgets.

use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;

use adw::prelude::*;
use chat_core::manager::Manager;
use chat_core::message::Fid;
use chat_core::review::Seq;
use chat_presentation::diagnostics::Diagnostics;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::{gdk, glib};
use relm4::{ComponentController, ComponentSender, Controller};

use super::deletions::Deletions;
use super::parts::{
    failure_page, flat_header, icon_button, list_menu, main_menu, new_chat_button, notice_bar, pane,
};
use super::side::Side;
use super::state::WindowState;
use super::toasts::{Ground, Toasts};
use super::waiting_approvals::{Place, WaitingApprovals};
use super::{Input, Window, title_buttons};
use crate::chat_list::ChatList;
use crate::chat_widget::ChatWidget;
use crate::models::adding;
use crate::panel::Panel;
use crate::{popover, projects};

/// The list's width, in pixels at the default font.
const LIST_WIDTH: i32 = 260;
/// Below this width, the chat is shown alone.
const CHAT_WIDTH: i32 = 340;
/// Longer texts cannot be read in a toast.
const TOAST_LIMIT: usize = 64;

/// The widgets that the component needs later.
#[derive(Debug)]
pub(crate) struct View {
    pages: gtk::Stack,
    /// Created when it is needed: its picture alone takes megabytes.
    failure: OnceCell<adw::StatusPage>,
    pub(super) toasts: Toasts,
    leaflet: adw::Leaflet,
    list_pane: gtk::Box,
    chat_pane: gtk::Box,
    list_header: adw::HeaderBar,
    chat_header: adw::HeaderBar,
    list_button: gtk::Button,
    back: gtk::Button,
    new_chat: gtk::Button,
    title: adw::WindowTitle,
    notice: gtk::Revealer,
    notice_words: gtk::Label,
    /// The last note about a message of the shown chat.
    note_of_chat: RefCell<String>,
    pub(super) deletions: Deletions,
    renaming: glib::WeakRef<gtk::Popover>,
    pub(super) side: Side,
    waiting: WaitingApprovals,
}

impl View {
    pub(super) fn new(
        root: &adw::ApplicationWindow,
        list: &Controller<ChatList>,
        chat: &Controller<ChatWidget>,
        panel: &Panel,
        (state, waiting): (&WindowState, &WaitingApprovals),
        sender: &ComponentSender<Window>,
    ) -> Self {
        root.set_default_size(state.width, state.height);
        if state.maximized {
            root.maximize();
        }
        let list_header = flat_header();
        list_header.set_title_widget(Some(&adw::WindowTitle::new(&gettext("Chats"), "")));
        list_header.pack_start(&new_chat_button());
        list_header.pack_end(&list_menu());
        list_header.pack_end(&list.widgets().search_button);
        list_header.pack_end(&waiting.button(Place::List));
        let list_pane = pane("chats-pane", &list_header);
        list_pane.set_width_request(LIST_WIDTH);
        // Its rows expand to its width; the pane itself takes no more.
        list_pane.set_hexpand(false);
        list_pane.append(list.widget());

        let chat_header = flat_header();
        let title = adw::WindowTitle::new("", "");
        chat_header.set_title_widget(Some(&title));
        let back = icon_button("go-previous-symbolic", &gettext("Back to Chats"), "win.back");
        let list_button = icon_button(
            "sidebar-show-symbolic",
            &gettext("Show or hide the chat list"),
            "win.toggle-list",
        );
        let new_chat = new_chat_button();
        chat_header.pack_start(&back);
        chat_header.pack_start(&list_button);
        chat_header.pack_start(&new_chat);
        chat_header.pack_end(&main_menu());
        let side = Side::new(panel, state);
        chat_header.pack_end(side.button());
        chat_header.pack_end(chat.widgets().agent_dropdown());
        chat_header.pack_end(&waiting.button(Place::Chat));
        side.header().pack_end(&waiting.button(Place::Panel));
        let chat_pane = pane("chat-pane", &chat_header);
        chat_pane.set_width_request(CHAT_WIDTH);
        chat_pane.set_hexpand(true);
        let (notice, notice_words) = notice_bar();
        chat_pane.append(&notice);
        chat_pane.append(chat.widget());
        side.prepend_chat(&chat_pane);

        let leaflet = adw::Leaflet::builder()
            .can_navigate_back(true)
            .transition_type(adw::LeafletTransitionType::Slide)
            .build();
        leaflet.append(&list_pane);
        leaflet.append(side.widget());
        leaflet.set_visible_child(side.widget());

        let pages = gtk::Stack::new();
        pages.add_named(&leaflet, Some("chats"));
        let ground = {
            let chat = chat.widgets();
            Ground::new(chat.foot(), chat.conversation())
        };
        let toasts = Toasts::new(&pages, ground);
        root.set_content(Some(toasts.widget()));
        let input = sender.input_sender().clone();
        let undo = move |deleted| input.emit(Input::Restore(deleted));
        let deletions = Deletions::new(toasts.area(), undo);
        deletions.connect_key(root, panel.widget().upcast_ref());

        let view = Self {
            pages,
            failure: OnceCell::new(),
            toasts,
            leaflet,
            list_pane,
            chat_pane,
            list_header,
            chat_header,
            list_button,
            back,
            new_chat,
            title,
            notice,
            notice_words,
            note_of_chat: RefCell::default(),
            deletions,
            renaming: glib::WeakRef::new(),
            side,
            waiting: waiting.clone(),
        };
        view.show_folded(state.list_hidden);
        view.connect(root, sender);
        view
    }

    fn connect(&self, root: &adw::ApplicationWindow, sender: &ComponentSender<Window>) {
        let input = sender.input_sender().clone();
        self.side.connect(move || input.emit(Input::Folded));
        let input = sender.input_sender().clone();
        self.leaflet.connect_folded_notify(move |_| input.emit(Input::Folded));
        let input = sender.input_sender().clone();
        root.connect_close_request(move |_| {
            input.emit(Input::Close);
            glib::Propagation::Stop
        });
        let input = sender.input_sender().clone();
        let target = adding::accept_drops(root, move |files| input.emit(Input::Dropped(files)));
        let input = sender.input_sender().clone();
        target.connect_enter(move |_, _, _| {
            input.emit(Input::Dragged(true));
            gdk::DragAction::COPY
        });
        let input = sender.input_sender().clone();
        // Also when they were dropped, taken or not.
        target.connect_current_drop_notify(move |target| {
            if target.current_drop().is_none() {
                input.emit(Input::Dragged(false));
            }
        });
        let input = sender.input_sender().clone();
        root.connect_is_active_notify(move |root| {
            if root.is_active() {
                input.emit(Input::Looked);
            }
        });
    }

    pub(super) fn is_folded(&self) -> bool {
        self.leaflet.is_folded()
    }

    /// Whether the list is shown instead of the chat.
    pub(super) fn shows_list_alone(&self) -> bool {
        let list = Some(self.list_pane.upcast_ref());
        self.is_folded() && self.leaflet.visible_child().as_ref() == list
    }

    /// A single pane has a back button and the window buttons of both sides; two panes have the
    /// toggle.
    pub(super) fn show_folded(&self, list_hidden: bool) {
        let folded = self.is_folded();
        self.list_pane.set_visible(folded || !list_hidden);
        if folded {
            self.list_pane.remove_css_class("beside");
        } else {
            self.list_pane.add_css_class("beside");
        }
        self.back.set_visible(folded);
        self.list_button.set_visible(!folded);
        self.new_chat.set_visible(!folded && list_hidden);
        self.list_header.set_show_end_title_buttons(folded);
        let headers = [&self.list_header, &self.chat_header, self.side.header()];
        title_buttons::show(&headers, folded);
        self.chat_header.set_show_start_title_buttons(folded || list_hidden);
        let beside = self.side.show(folded || list_hidden);
        self.chat_header.set_show_end_title_buttons(!beside);
        self.waiting.set_places(folded, self.side.covers());
    }

    /// F9: hides or shows the list, or switches between the two where only one is shown.
    pub(super) fn toggle_list(&self, hidden: bool) {
        if !self.is_folded() {
            self.show_folded(hidden);
        } else if self.shows_list_alone() {
            self.forward();
        } else {
            self.back();
        }
    }

    pub(super) fn reveal_list(&self) {
        self.show_folded(false);
        if self.is_folded() {
            self.back();
        }
    }

    /// Switches to the chat.
    pub(super) fn forward(&self) {
        self.side.show_conversation();
        self.leaflet.set_visible_child(self.side.widget());
    }

    /// Switches to the panel.
    pub(super) fn show_panel(&self) {
        self.side.show_panel();
        self.leaflet.set_visible_child(self.side.widget());
    }

    /// Switches to the list, where only one is shown.
    pub(super) fn back(&self) {
        if self.side.covers() && !self.shows_list_alone() {
            self.forward();
        } else if self.is_folded() {
            self.leaflet.set_visible_child(&self.list_pane);
        }
    }

    pub(super) fn set_title(&self, title: &str) {
        self.title.set_title(title);
        self.title.set_tooltip_text(Some(title));
    }

    /// Shows a short message in a toast; a longer one stays until it is closed.
    pub(super) fn note(&self, words: &str) {
        if words.chars().count() > TOAST_LIMIT {
            self.notice_words.set_label(words);
            self.notice.set_reveal_child(true);
        } else {
            self.toasts.say(words);
        }
    }

    /// Shows a message that goes when another chat is shown.
    pub(super) fn note_of_chat(&self, words: &str) {
        self.note(words);
        self.note_of_chat.replace(words.to_owned());
    }

    /// Another chat is shown.
    pub(super) fn end_note_of_chat(&self) {
        let words = self.note_of_chat.take();
        // Another note may have replaced it.
        if self.notice_words.label() == words {
            self.notice.set_reveal_child(false);
        }
    }

    /// Shows what happened at the start, all in one note, since a second note would replace the
    /// first. Until the user closes it, it is shown again at the next start.
    pub(super) fn tell_start(&self, manager: &Manager) {
        let notices: Vec<_> = manager.start_notices().iter().map(words::sentence).collect();
        if notices.is_empty() {
            return;
        }
        let told = notices.join("\n");
        self.notice_words.set_label(&told);
        self.notice.set_reveal_child(true);
        let (manager, words) = (manager.clone(), self.notice_words.clone());
        self.notice.connect_reveal_child_notify(move |notice| {
            // Another note may have replaced it, unread.
            if !notice.reveals_child() && words.label() == told {
                let manager = manager.clone();
                glib::spawn_future_local(async move { manager.start_notices_shown().await });
            }
        });
    }

    /// Shows or removes the hint that another Esc stops the reply.
    pub(super) fn ask_escape(&self, asked: bool) {
        self.toasts.ask_escape(asked);
    }

    /// Reports an answer to changes, and offers to undo it.
    pub(super) fn offer_answer(&self, answer: Seq, words: &str, undo: impl Fn() + 'static) {
        self.toasts.offer_undo(answer, words, undo);
    }

    /// An answer was undone.
    pub(super) fn answer_undone(&self, answer: Seq) {
        self.toasts.undone(answer);
    }

    /// Something followed the last answer.
    pub(super) fn answer_passed(&self) {
        self.toasts.pass_on();
    }

    /// Shows a short message, and offers an action.
    pub(super) fn offer(&self, words: &str, button: &str, then: impl Fn() + 'static) {
        self.toasts.offer(words, button, then);
    }

    /// Offers in a toast to work in a dropped folder.
    pub(super) fn offer_folder(&self, folder: PathBuf, sender: &ComponentSender<Window>) {
        let text = gettext("Open the folder “{name}” in this chat?");
        let words = words::fill(&text, &[("name", &projects::name(&folder))]);
        let input = sender.input_sender().clone();
        self.toasts.offer(&words, &gettext("Open Folder"), move || {
            input.emit(Input::Work(folder.clone()));
        });
    }

    /// Asks for a new title of the current chat, below its old one.
    pub(super) fn ask_title(&self, fid: Fid, title: &str, sender: &ComponentSender<Window>) {
        // The shortcut may be pressed again while the title is being typed.
        if self.renaming.upgrade().is_some_and(|popover| popover.is_visible()) {
            return;
        }
        let bounds = self.title.compute_bounds(&self.chat_pane);
        let (x, y, width, height) =
            bounds.map_or((0.0, 0.0, 0.0, 0.0), |b| (b.x(), b.y(), b.width(), b.height()));
        let place = gdk::Rectangle::new(x as i32, y as i32, width as i32, height as i32);
        let input = sender.input_sender().clone();
        let popover = popover::ask_title(&self.chat_pane, &place, title, move |title| {
            input.emit(Input::Retitle(fid.clone(), title));
        });
        self.renaming.set(Some(&popover));
    }

    /// Shows why the engine could not start.
    pub(super) fn show_failure(&self, words: &str, sender: &ComponentSender<Window>) {
        let page = self.failure.get_or_init(|| {
            let page = failure_page(sender);
            self.pages.add_named(&page, Some("failure"));
            page
        });
        page.set_description(Some(&glib::markup_escape_text(words)));
        self.pages.set_visible_child_name("failure");
    }

    pub(super) fn show_chats(&self) {
        self.pages.set_visible_child_name("chats");
    }
}

/// Records when the window was first painted.
pub(super) fn mark_first_frame(root: &adw::ApplicationWindow, diagnostics: &Diagnostics) {
    if !diagnostics.is_on() {
        return;
    }
    let diagnostics = diagnostics.clone();
    root.connect_map(move |root| mark_after_frame(root, &diagnostics, "first_frame"));
}

/// Records when the next frame was painted.
pub(super) fn mark_after_frame(
    root: &adw::ApplicationWindow,
    diagnostics: &Diagnostics,
    name: &'static str,
) {
    if !diagnostics.is_on() {
        return;
    }
    let diagnostics = diagnostics.clone();
    crate::paint::after_next(root, move || diagnostics.mark(name));
}
