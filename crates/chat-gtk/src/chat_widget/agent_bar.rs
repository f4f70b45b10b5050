//! Shows above the conversation which chat an agent works for, and which agents of a chat were
//! interrupted.

use chat_core::event::{Event, SessionPlaceholder};
use chat_core::manager::Manager;
use chat_core::message::Fid;
use chat_presentation::words::fill;
use gettextrs::{gettext, ngettext};
use relm4::gtk::pango;
use relm4::gtk::prelude::*;

use super::handle::Handle;
use super::shown_chat::ShownChat;
use crate::conversation::Conversation;

/// What the user does with the bar, and what its work brings.
#[derive(Debug)]
pub(super) enum Msg {
    /// Show the chat that the agent works for.
    ToParent,
    /// Have the interrupted agents continue.
    Continue,
    /// The agents of a chat's tree, and the chat that this one works for, with its title.
    Found { of: Fid, agents: Vec<SessionPlaceholder>, parent: Option<(Fid, String)> },
}

/// The bar.
pub(super) struct AgentBar {
    handle: Handle<Msg>,
    manager: Option<Manager>,
    conversation: Conversation,
    root: gtk::Box,
    parent_button: gtk::Button,
    parent_words: gtk::Label,
    interrupted: gtk::Box,
    interrupted_words: gtk::Label,
    /// The chat that is shown.
    shown: Option<Fid>,
    /// The chat that it works for, with its title once that is known.
    parent: Option<(Fid, Option<String>)>,
}

impl AgentBar {
    pub(super) fn new(conversation: &Conversation, handle: Handle<Msg>) -> Self {
        let words = || {
            gtk::Label::builder()
                .xalign(0.0)
                .use_markup(false)
                .ellipsize(pango::EllipsizeMode::End)
                .build()
        };
        let parent_words = words();
        let line = gtk::Box::builder().spacing(8).build();
        line.append(&gtk::Image::from_icon_name("go-up-symbolic"));
        line.append(&parent_words);
        let parent_button = gtk::Button::builder()
            .child(&line)
            .halign(gtk::Align::Start)
            .css_classes(["flat", "works-for"])
            .visible(false)
            .build();
        let told = handle.callback(|()| Msg::ToParent);
        parent_button.connect_clicked(move |_| told(()));
        let interrupted_words = words();
        interrupted_words.set_hexpand(true);
        let go_on = gtk::Button::builder()
            .label(gettext("Continue Agents"))
            .valign(gtk::Align::Center)
            .build();
        let told = handle.callback(|()| Msg::Continue);
        go_on.connect_clicked(move |_| told(()));
        let interrupted = gtk::Box::builder()
            .spacing(10)
            .css_classes(["agents-interrupted"])
            .visible(false)
            .build();
        interrupted.append(&gtk::Image::from_icon_name("dialog-warning-symbolic"));
        interrupted.append(&interrupted_words);
        interrupted.append(&go_on);
        let root = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .css_classes(["agent-bar"])
            .build();
        root.append(&parent_button);
        root.append(&interrupted);
        Self {
            handle,
            manager: None,
            conversation: conversation.clone(),
            root,
            parent_button,
            parent_words,
            interrupted,
            interrupted_words,
            shown: None,
            parent: None,
        }
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
    }

    /// Another chat was opened: reads which agents it has, and which chat it works for.
    pub(super) fn open(&mut self, session: &SessionPlaceholder) {
        let Some(manager) = self.manager.clone() else { return };
        let (of, parent) = (session.fid.clone(), session.parent.clone());
        self.handle.spawn(async move {
            let agents = manager.agents().list(Some(&of)).await.unwrap_or_default();
            let chats = match &parent {
                Some(_) => manager.sessions().list().await.unwrap_or_default(),
                None => Vec::new(),
            };
            let parent = chats.into_iter().find(|chat| Some(&chat.fid) == parent.as_ref());
            let parent = parent.map(|parent| (parent.meta.fid, parent.meta.title));
            Msg::Found { of, agents, parent }
        });
    }

    /// Takes what was found, if it still is about the chat that is shown.
    pub(super) fn found(
        &mut self,
        of: &Fid,
        agents: Vec<SessionPlaceholder>,
        parent: Option<(Fid, String)>,
    ) {
        if self.shown.as_ref() != Some(of) {
            return;
        }
        self.conversation.fill_agents(of, agents);
        if let Some((fid, title)) = parent {
            self.parent = Some((fid, Some(title)));
        }
        self.show_words();
    }

    /// Takes what happened to agents, and to the chat that this one works for.
    pub(super) fn take(&mut self, events: &[Event]) {
        self.conversation.apply_to_agents(events);
        let is_of_chats = |event: &Event| {
            let is_changed = matches!(event, Event::SessionAdded(_) | Event::SessionChanged(_));
            is_changed || matches!(event, Event::SessionRemoved { .. })
        };
        if !events.iter().any(is_of_chats) {
            return;
        }
        for event in events {
            if let Event::SessionChanged(chat) = event
                && let Some((parent, title)) = &mut self.parent
                && chat.fid == *parent
            {
                *title = Some(chat.title.clone());
            }
        }
        self.show_words();
    }

    /// Shows what there is to say of this chat.
    pub(super) fn show(&mut self, shown: &ShownChat) {
        let parent = match shown {
            ShownChat::Open(session) => session.parent.clone(),
            _ => None,
        };
        if let Some(manager) = &self.manager {
            let kinds = manager.agent_kinds().of_project(shown.project()).into_iter();
            let colors = kinds.filter_map(|kind| Some((kind.name, kind.color?))).collect();
            self.conversation.set_agent_colors(colors);
        }
        self.shown = shown.fid().cloned();
        if self.parent.as_ref().map(|(fid, _)| fid) != parent.as_ref() {
            self.parent = parent.map(|fid| (fid, None));
        }
        self.show_words();
    }

    /// The chat that the shown one works for.
    pub(super) fn parent(&self) -> Option<&Fid> {
        self.parent.as_ref().map(|(fid, _)| fid)
    }

    /// Whether agents of the shown chat were interrupted.
    pub(super) fn has_interrupted(&self) -> bool {
        self.interrupted.is_visible()
    }

    fn show_words(&self) {
        let title = self.parent.as_ref().and_then(|(_, title)| title.as_ref());
        if let Some(title) = title {
            let words = fill(&gettext("Works for “{title}”"), &[("title", title)]);
            self.parent_words.set_label(&words);
        }
        self.parent_button.set_visible(title.is_some());
        let count =
            self.shown.as_ref().map_or(0, |shown| self.conversation.interrupted_agents(shown));
        if count > 0 {
            let text = ngettext("{n} agent was interrupted", "{n} agents were interrupted", count);
            self.interrupted_words.set_label(&fill(&text, &[("n", &count.to_string())]));
        }
        self.interrupted.set_visible(count > 0);
    }
}
