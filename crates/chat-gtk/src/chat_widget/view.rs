//! Lays out the widgets of a chat.

use std::cell::Cell;

use gtk::gdk::prelude::*;
use gtk::{gdk, glib};
use relm4::gtk::prelude::*;

use super::handle::Handle;
use super::messages::FrameMsg;
use crate::conversation::Conversation;
use crate::models::has_keyboard;

/// The column's usual width, in pixels at the usual font.
const COLUMN: i32 = 760;

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
}

impl Layout {
    pub(super) fn root(&self) -> &gtk::Box {
        &self.root
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

    pub(super) fn show_page(&self, page: Page) {
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
    let stack = gtk::Stack::builder().vexpand(true).build();
    stack.add_named(&gtk::Box::default(), Some("blank"));
    stack.add_named(children.start, Some("start"));
    stack.add_named(children.conversation.widget(), Some("conversation"));

    let column = gtk::Box::new(gtk::Orientation::Vertical, 6);
    column.append(children.plan_ready);
    column.append(children.changed);
    column.append(children.background);
    column.append(children.plan);
    column.append(children.definitions);
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
    connect_root(root, handle);

    let (conversation, agents) = (children.conversation.clone(), children.agents.clone());
    let clamps = [foot.clone(), bar];
    (View { conversation, agents, foot }, Layout { root: root.clone(), stack, clamps })
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
