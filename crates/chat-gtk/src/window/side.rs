//! Controls the panel next to the conversation: whether it is shown, and how wide it is.

use adw::prelude::*;
use gettextrs::gettext;

use super::state::WindowState;
use crate::accessible;
use crate::panel::Panel;
use crate::panel::sides::{Sides, Sight};

/// The panel, the button that shows it, and the layout of both panes.
#[derive(Debug)]
pub(super) struct Side {
    root: gtk::Box,
    sides: Sides,
    panel: Panel,
    button: gtk::ToggleButton,
}

impl Side {
    pub(super) fn new(panel: &Panel, state: &WindowState) -> Self {
        let button = gtk::ToggleButton::builder()
            .icon_name("sidebar-show-right-symbolic")
            .tooltip_text(gettext("Files and Editor (F8)"))
            .action_name("win.toggle-panel")
            .build();
        accessible::set_label(&button, &gettext("Editor"));
        let (root, sides) = Sides::new(panel.widget());
        if let Some(width) = state.panel_width {
            sides.set_panel_width(width);
        }
        sides.set_shown(state.panel_shown);
        Self { root, sides, panel: panel.clone(), button }
    }

    /// Adds the conversation before the panel.
    pub(super) fn stand_beside(&self, chat: &gtk::Box) {
        self.root.prepend(chat);
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// The header bar of the panel.
    pub(super) fn header(&self) -> &adw::HeaderBar {
        self.panel.header()
    }

    pub(super) fn button(&self) -> &gtk::ToggleButton {
        &self.button
    }

    /// Calls this when the visible panes change.
    pub(super) fn connect(&self, changed: impl Fn() + 'static) {
        self.sides.connect(changed);
    }

    /// Updates the layout; `at_start` says whether the panes are at the left edge of the window.
    /// Returns whether the panel is to the right of the conversation.
    pub(super) fn show(&self, at_start: bool) -> bool {
        let sight = self.sides.sight();
        self.panel.set_covers(sight == Sight::Panel, at_start);
        self.button.set_active(sight == Sight::Both);
        if (sight == Sight::Both) != self.panel.widget().has_css_class("beside") {
            if sight == Sight::Both {
                self.panel.widget().add_css_class("beside");
            } else {
                self.panel.widget().remove_css_class("beside");
            }
        }
        sight == Sight::Both
    }

    /// Whether the conversation is narrow.
    pub(super) fn is_tight(&self) -> bool {
        self.sides.is_tight()
    }

    /// Whether the panel covers the conversation.
    pub(super) fn covers(&self) -> bool {
        self.sides.sight() == Sight::Panel
    }

    /// Whether the panel is visible.
    pub(super) fn is_seen(&self) -> bool {
        self.sides.sight() != Sight::Conversation
    }

    pub(super) fn show_panel(&self) {
        self.sides.show_panel(true);
    }

    /// Shows the panel if it fits next to the conversation; otherwise it stays behind it.
    pub(super) fn offer_panel(&self) {
        self.sides.set_shown(true);
    }

    pub(super) fn hide_panel(&self) {
        self.sides.show_panel(false);
    }

    pub(super) fn show_conversation(&self) {
        self.sides.show_conversation();
    }

    /// Stores what is remembered about it.
    pub(super) fn remember(&self, state: &mut WindowState) {
        state.panel_shown = self.sides.is_shown();
        state.panel_width = self.sides.panel_width();
    }
}
