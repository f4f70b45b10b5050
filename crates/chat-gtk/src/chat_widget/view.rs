//! The widgets of a chat.

use std::cell::Cell;

use gtk::gdk::prelude::*;
use gtk::{gdk, glib};
use relm4::ComponentSender;
use relm4::gtk::prelude::*;

use super::{ChatWidget, FrameMsg, Input, Part};
use crate::composer::Composer;
use crate::conversation::Conversation;
use crate::models::has_keyboard;

/// The column's width, in pixels at the usual font.
const COLUMN: i32 = 760;

/// What the component needs again of its widgets.
pub struct View {
    pub(super) conversation: Conversation,
    pub(super) composer: Composer,
    agents: gtk::DropDown,
    pub(super) stack: gtk::Stack,
    root: gtk::Box,
    foot: adw::Clamp,
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").finish_non_exhaustive()
    }
}

/// The widgets of the chat's own parts.
pub(super) struct Children<'a> {
    pub(super) conversation: Conversation,
    pub(super) find: &'a gtk::SearchBar,
    pub(super) model: &'a gtk::MenuButton,
    pub(super) thinking: &'a gtk::DropDown,
    pub(super) agents: &'a gtk::DropDown,
    pub(super) project: &'a gtk::MenuButton,
    pub(super) modes: &'a gtk::DropDown,
    pub(super) hint: &'a gtk::Revealer,
    pub(super) start: &'a gtk::ScrolledWindow,
    pub(super) background: &'a gtk::Box,
    pub(super) changed: &'a gtk::Button,
    pub(super) meter: &'a gtk::MenuButton,
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

impl View {
    pub(super) fn new(
        root: &gtk::Box,
        children: Children<'_>,
        sender: &ComponentSender<ChatWidget>,
    ) -> Self {
        let about: [gtk::Widget; 3] = [
            children.project.clone().upcast(),
            children.modes.clone().upcast(),
            children.meter.clone().upcast(),
        ];
        let to: [gtk::Widget; 2] =
            [children.thinking.clone().upcast(), children.model.clone().upcast()];
        let composer = Composer::new(&about, &to, tells(sender, FrameMsg::Composer));
        for button in about.iter().chain(&to).chain([children.agents.upcast_ref()]) {
            composer.focus_after_popover(button);
        }

        let stack = gtk::Stack::builder().vexpand(true).build();
        stack.add_named(&gtk::Box::default(), Some("blank"));
        stack.add_named(children.start, Some("start"));
        stack.add_named(children.conversation.widget(), Some("conversation"));

        let foot = gtk::Box::new(gtk::Orientation::Vertical, 6);
        foot.append(children.plan_ready);
        foot.append(children.changed);
        foot.append(children.background);
        foot.append(children.plan);
        foot.append(children.hint);
        foot.append(composer.widget());
        let clamp = adw::Clamp::builder()
            .maximum_size(COLUMN)
            .tightening_threshold(COLUMN)
            .child(&foot)
            .margin_start(14)
            .margin_end(14)
            .margin_top(6)
            .margin_bottom(14)
            .build();
        root.append(children.find);
        root.append(&stack);
        root.append(&clamp);
        connect_root(root, sender);

        Self {
            conversation: children.conversation,
            composer,
            agents: children.agents.clone(),
            stack,
            root: root.clone(),
            foot: clamp,
        }
    }

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

/// Esc, and the height that the composer grows by.
fn connect_root(root: &gtk::Box, sender: &ComponentSender<ChatWidget>) {
    let keys = gtk::EventControllerKey::new();
    let input = sender.input_sender().clone();
    keys.connect_key_pressed(move |_, key, _, modifiers| {
        if key == gdk::Key::Escape && modifiers.is_empty() {
            input.emit(Input::Escape);
        }
        glib::Propagation::Proceed
    });
    root.add_controller(keys);

    let told = std::rc::Rc::new(tells(sender, FrameMsg::Height));
    let connected = Cell::new(false);
    root.connect_realize(move |root| {
        let Some(surface) = root.native().and_then(|native| native.surface()) else { return };
        told(surface.height());
        if !connected.replace(true) {
            let told = std::rc::Rc::clone(&told);
            surface.connect_height_notify(move |surface| told(surface.height()));
        }
    });
}

/// Makes the widget's message of what a part tells.
pub(super) fn tells<T>(
    sender: &ComponentSender<ChatWidget>,
    wrap: impl Fn(T) -> FrameMsg + 'static,
) -> impl Fn(T) + 'static {
    let input = sender.input_sender().clone();
    move |told| input.emit(Input::Part(Part(wrap(told))))
}
