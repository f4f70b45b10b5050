//! Controls the panel next to the conversation: whether it is shown, and how wide it is.

use adw::prelude::*;
use gettextrs::gettext;

use super::state::WindowState;
use crate::accessible;
use crate::panel::Panel;
use crate::panel::adaptive_layout::{AdaptiveLayout, VisiblePanes};

/// The panel, the button that shows it, and the layout of both panes.
#[derive(Debug)]
pub(super) struct Side {
    root: gtk::Box,
    layout: AdaptiveLayout,
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
        let (root, layout) = AdaptiveLayout::new(panel.widget());
        if let Some(width) = state.panel_width {
            layout.set_panel_width(width);
        }
        layout.set_shown(state.panel_shown);
        Self { root, layout, panel: panel.clone(), button }
    }

    /// Adds the conversation before the panel.
    pub(super) fn prepend_chat(&self, chat: &gtk::Box) {
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
        self.layout.connect(changed);
    }

    /// Updates the layout; `at_start` says whether the panes are at the left edge of the window.
    /// Returns whether the panel is to the right of the conversation.
    pub(super) fn show(&self, at_start: bool) -> bool {
        let visible = self.layout.visible_panes();
        self.panel.set_covers(visible == VisiblePanes::Panel, at_start);
        self.button.set_active(visible == VisiblePanes::Both);
        if (visible == VisiblePanes::Both) != self.panel.widget().has_css_class("beside") {
            if visible == VisiblePanes::Both {
                self.panel.widget().add_css_class("beside");
            } else {
                self.panel.widget().remove_css_class("beside");
            }
        }
        visible == VisiblePanes::Both
    }

    /// Whether the panel covers the conversation.
    pub(super) fn covers(&self) -> bool {
        self.layout.visible_panes() == VisiblePanes::Panel
    }

    /// Whether the panel is visible.
    pub(super) fn is_seen(&self) -> bool {
        self.layout.visible_panes() != VisiblePanes::Conversation
    }

    pub(super) fn show_panel(&self) {
        self.layout.show_panel(true);
    }

    /// Shows the panel if it fits next to the conversation; otherwise it stays behind it.
    pub(super) fn offer_panel(&self) {
        self.layout.set_shown(true);
    }

    /// Whether the panel is open at all, visible or behind the conversation.
    pub(super) fn has_panel(&self) -> bool {
        self.layout.is_shown()
    }

    /// Opens or closes the panel of another chat.
    pub(super) fn set_panel(&self, shown: bool) {
        if shown != self.layout.is_shown() {
            self.layout.set_shown(shown);
        }
    }

    pub(super) fn hide_panel(&self) {
        self.layout.show_panel(false);
    }

    pub(super) fn show_conversation(&self) {
        self.layout.show_conversation();
    }

    /// Stores what is remembered about it.
    pub(super) fn remember(&self, state: &mut WindowState) {
        state.panel_shown = self.layout.is_shown();
        state.panel_width = self.layout.panel_width();
    }
}
