//! Lays out the widgets of a chat.

use std::cell::{Cell, RefCell};

use adw::prelude::*;
use gtk::{gdk, glib};

use super::handle::Handle;
use super::messages::FrameMsg;
use crate::conversation::Conversation;
use crate::models::has_keyboard;

/// The column's usual width, in pixels at the usual font.
const COLUMN: i32 = 760;

/// How long the composer glides down, in milliseconds.
const GLIDE: u32 = 250;

/// What a program needs of a chat that it shows.
pub struct View {
    conversation: Conversation,
    agents: gtk::DropDown,
    foot: adw::Clamp,
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").finish_non_exhaustive()
    }
}

impl View {
    /// The agent dropdown, for the header bar of the window that the chat stands in.
    pub fn agent_dropdown(&self) -> &gtk::DropDown {
        &self.agents
    }

    /// What stands below the conversation: the composer and what is said above it.
    pub fn foot(&self) -> &adw::Clamp {
        &self.foot
    }

    pub(crate) fn conversation(&self) -> &Conversation {
        &self.conversation
    }
}

/// The widgets of the chat's own parts.
pub(super) struct Children<'a> {
    pub(super) conversation: &'a Conversation,
    pub(super) composer: &'a gtk::Box,
    pub(super) find: &'a gtk::SearchBar,
    pub(super) agents: &'a gtk::DropDown,
    pub(super) agent_bar: &'a gtk::Box,
    pub(super) hint: &'a gtk::Revealer,
    pub(super) definitions: &'a gtk::Box,
    pub(super) servers: &'a gtk::Box,
    pub(super) start: &'a gtk::ScrolledWindow,
    pub(super) background: &'a gtk::Box,
    pub(super) changed: &'a gtk::Button,
    pub(super) plan: &'a gtk::Box,
    pub(super) plan_ready: &'a gtk::Box,
}

/// What stands above the composer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Page {
    Blank,
    Start,
    Conversation,
}

/// How the parts stand in the chat.
pub(super) struct Layout {
    root: gtk::Box,
    stack: gtk::Stack,
    /// What is as wide as the conversation.
    clamps: [adw::Clamp; 2],
    /// What is free below the composer, while that is in the middle.
    room: gtk::Box,
    /// Whether the composer glides down when it next leaves the middle.
    glides: Cell<bool>,
    glide: RefCell<Option<adw::TimedAnimation>>,
}

impl Layout {
    pub(super) fn root(&self) -> &gtk::Box {
        &self.root
    }

    /// Shows whether files that are dragged here would be attached.
    pub(super) fn show_drop(&self, inside: bool) {
        if inside {
            self.root.add_css_class("takes-files");
        } else {
            self.root.remove_css_class("takes-files");
        }
    }

    /// Sets the column's width, in pixels.
    pub(super) fn set_width(&self, width: i32) {
        for clamp in &self.clamps {
            clamp.set_maximum_size(width);
            clamp.set_tightening_threshold(width);
        }
    }

    /// Whether another part of the window has the keyboard.
    pub(super) fn has_focus_elsewhere(&self) -> bool {
        let focus = self.root.root().and_then(|root| root.focus());
        focus.is_some_and(|focus| !focus.is_ancestor(&self.root))
    }

    /// The first message of a new chat was sent: the composer glides to its place.
    pub(super) fn glide_down(&self) {
        self.glides.set(true);
    }

    /// Has the composer stand in the middle, below what is offered to begin with; or at the bottom.
    fn centre(&self, centred: bool) {
        let glides = self.glides.take();
        if centred {
            if let Some(glide) = self.glide.take() {
                glide.skip();
            }
            self.room.set_height_request(-1);
            self.room.set_vexpand(true);
            self.room.set_visible(true);
            return;
        }
        // It is on its way already, or there.
        if !self.room.is_visible() || !self.room.vexpands() {
            return;
        }
        let height = self.room.height();
        self.room.set_vexpand(false);
        if !glides || height == 0 {
            return self.room.set_visible(false);
        }
        self.room.set_height_request(height);
        let room = self.room.downgrade();
        let target = adw::CallbackAnimationTarget::new(move |height| {
            if let Some(room) = room.upgrade() {
                room.set_height_request(height.round() as i32);
            }
        });
        // Without animations it is there at once.
        let glide = adw::TimedAnimation::new(&self.room, f64::from(height), 0.0, GLIDE, target);
        let room = self.room.downgrade();
        glide.connect_done(move |_| {
            if let Some(room) = room.upgrade().filter(|room| !room.vexpands()) {
                room.set_visible(false);
            }
        });
        glide.play();
        self.glide.replace(Some(glide));
    }

    /// Shows a page above the composer. `centred`: whether the composer stands in the middle.
    pub(super) fn show_page(&self, page: Page, centred: bool) {
        self.centre(centred);
        // A page that goes is not where the keyboard is looked for any more: GTK would find nothing
        // behind it.
        if !has_keyboard(&self.stack) {
            self.stack.set_focus_child(gtk::Widget::NONE);
        }
        self.stack.set_visible_child_name(match page {
            Page::Blank => "blank",
            Page::Start => "start",
            Page::Conversation => "conversation",
        });
    }
}

/// Puts the parts into the root.
pub(super) fn build(
    root: &gtk::Box,
    children: &Children<'_>,
    handle: &Handle<FrameMsg>,
) -> (View, Layout) {
    // As tall as what is shown: the conversation must not push the composer out of the middle.
    let stack = gtk::Stack::builder().vexpand(true).vhomogeneous(false).build();
    stack.add_named(&gtk::Box::default(), Some("blank"));
    stack.add_named(children.start, Some("start"));
    stack.add_named(children.conversation.widget(), Some("conversation"));

    let column = gtk::Box::new(gtk::Orientation::Vertical, 6);
    column.append(children.plan_ready);
    column.append(children.changed);
    column.append(children.background);
    column.append(children.plan);
    column.append(children.definitions);
    column.append(children.servers);
    column.append(children.hint);
    column.append(children.composer);
    let foot = adw::Clamp::builder()
        .maximum_size(COLUMN)
        .tightening_threshold(COLUMN)
        .child(&column)
        .margin_start(14)
        .margin_end(14)
        .margin_top(6)
        .margin_bottom(14)
        .build();
    root.append(children.find);
    let bar = adw::Clamp::builder()
        .maximum_size(COLUMN)
        .tightening_threshold(COLUMN)
        .child(children.agent_bar)
        .margin_start(14)
        .margin_end(14)
        .build();
    root.append(&bar);
    root.append(&stack);
    root.append(&foot);
    let room = gtk::Box::builder().visible(false).build();
    root.append(&room);
    connect_root(root, handle);

    let (conversation, agents) = (children.conversation.clone(), children.agents.clone());
    let clamps = [foot.clone(), bar];
    (
        View { conversation, agents, foot },
        Layout {
            root: root.clone(),
            stack,
            clamps,
            room,
            glides: Cell::default(),
            glide: RefCell::default(),
        },
    )
}

/// Esc, and the height that the composer grows by.
fn connect_root(root: &gtk::Box, handle: &Handle<FrameMsg>) {
    let keys = gtk::EventControllerKey::new();
    let told = handle.clone();
    keys.connect_key_pressed(move |_, key, _, modifiers| {
        if key == gdk::Key::Escape && modifiers.is_empty() {
            told.send(FrameMsg::Escape);
        }
        glib::Propagation::Proceed
    });
    root.add_controller(keys);

    let handle = handle.clone();
    let connected = Cell::new(false);
    root.connect_realize(move |root| {
        let Some(surface) = root.native().and_then(|native| native.surface()) else { return };
        handle.send(FrameMsg::Height(surface.height()));
        if !connected.replace(true) {
            let handle = handle.clone();
            surface.connect_height_notify(move |surface| {
                handle.send(FrameMsg::Height(surface.height()));
            });
        }
    });
}
