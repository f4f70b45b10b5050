//! Arranges chats from the window: the shown one, and what stands in the trash.

use adw::prelude::*;
use chat_core::message::Fid;
use chat_core::settings::Settings;
use chat_presentation::words::fill;
use gettextrs::{gettext, ngettext};
use gtk::{gio, glib};
use relm4::{ComponentController, ComponentSender};

use super::keys::Action;
use super::{Input, Window, import, trash};
use crate::chat_list::{self, Act};

/// The search for archived chats.
pub(super) const ARCHIVED: &str = "is:archived ";

impl Window {
    /// Does something with the shown chat, and with no other: the list may be out of sight.
    pub(super) fn arrange(&self, act: Act) {
        if let Some(fid) = self.shown.clone() {
            self.list.emit(chat_list::Input::ActAlone(act, fid));
        }
    }

    pub(super) fn open_trash(&self, sender: &ComponentSender<Self>, root: &adw::ApplicationWindow) {
        let Some(manager) = &self.manager else { return };
        trash::open(root, manager, sender.input_sender().clone());
    }

    pub(super) fn open_import(&self, root: &adw::ApplicationWindow) {
        if let Some(manager) = &self.manager {
            import::open(root, manager);
        }
    }

    /// Changes settings in the background.
    pub(super) fn change_settings(
        &self,
        sender: &ComponentSender<Self>,
        change: impl FnOnce(&mut Settings) + Send + 'static,
    ) {
        let Some(manager) = self.manager.clone() else { return };
        let input = sender.input_sender().clone();
        glib::spawn_future_local(async move {
            if let Err(error) = manager.settings().change(change).await {
                input.emit(Input::Failed(error));
            }
        });
    }

    /// Shows in the menu whether chats are grouped by project.
    pub(super) fn show_grouping(&self, root: &adw::ApplicationWindow) {
        let Some(manager) = &self.manager else { return };
        let is_on = manager.settings().current().ui.group_by_project.to_variant();
        let action = root.lookup_action(Action::GroupByProject.name());
        if let Some(action) = action.and_downcast::<gio::SimpleAction>()
            && action.state().as_ref() != Some(&is_on)
        {
            action.set_state(&is_on);
        }
    }
}

/// What became of these chats, of which the first has this title.
pub(super) fn archived(chats: &[Fid], title: &str, archived: bool) -> String {
    let count = u32::try_from(chats.len()).unwrap_or(u32::MAX);
    let text = match (count, archived) {
        (1, true) => gettext("“{title}” archived"),
        (1, false) => gettext("“{title}” is back in the list"),
        (n, true) => ngettext("{n} chat archived", "{n} chats archived", n),
        (n, false) => ngettext("{n} chat is back in the list", "{n} chats are back in the list", n),
    };
    fill(&text, &[("title", title), ("n", &count.to_string())])
}
