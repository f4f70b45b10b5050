//! Shows above the conversation which chat an agent works for, and which agents of a chat were
//! interrupted.

use chat_core::event::{Event, SessionPlaceholder};
use chat_core::manager::Manager;
use chat_core::message::Fid;
use chat_presentation::words::fill;
use gettextrs::{gettext, ngettext};
use relm4::gtk::pango;
use relm4::gtk::prelude::*;

use super::chat_switching::Workplace;
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
    Found { of: Fid, agents: Vec<SessionPlaceholder>, above: Above },
    /// Where a new chat works that was asked for in this one.
    Next { from: Fid, place: Option<Workplace> },
}

/// Where a new chat works.
pub(super) enum Next {
    /// Here, if it works in a folder.
    At(Option<Workplace>),
    /// [`Msg::Next`] says it.
    Unknown,
}

/// The chats that one works for.
#[derive(Debug, Default)]
pub(super) struct Above {
    /// The next one, with its title.
    parent: Option<(Fid, String)>,
    /// Where the one at the top works.
    top: Option<Workplace>,
}

impl Above {
    /// The chats above one that works for this parent.
    fn of(parent: &Fid, chats: &[SessionPlaceholder]) -> Self {
        let next = chats.iter().find(|chat| chat.fid == *parent);
        Self {
            parent: next.map(|parent| (parent.fid.clone(), parent.title.clone())),
            top: top_of(parent, chats),
        }
    }
}

/// Where the chat works that is above all others of this one, or is this one itself.
fn top_of(fid: &Fid, chats: &[SessionPlaceholder]) -> Option<Workplace> {
    let find = |fid: &Fid| chats.iter().find(|chat| chat.fid == *fid);
    let up = |chat: &&SessionPlaceholder| chat.parent.as_ref().and_then(find);
    // What is stored could lead round and round.
    let top = std::iter::successors(find(fid), up).take(chats.len()).last();
    top.filter(|top| top.parent.is_none()).and_then(Workplace::of_chat)
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
    /// Where the chat works that is above all, once that is known.
    top: Option<Workplace>,
    /// The chat in which a new one was asked for, until it is known where that works.
    next: Option<Fid>,
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
            top: None,
            next: None,
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
            let above = match &parent {
                Some(parent) => {
                    Above::of(parent, &manager.sessions().list().await.unwrap_or_default())
                }
                None => Above::default(),
            };
            Msg::Found { of, agents, above }
        });
    }

    /// Takes what was found, if it still is about the chat that is shown.
    pub(super) fn found(&mut self, of: &Fid, agents: Vec<SessionPlaceholder>, above: Above) {
        if self.shown.as_ref() != Some(of) {
            return;
        }
        self.conversation.agents().fill(of, agents);
        if let Some((fid, title)) = above.parent {
            self.parent = Some((fid, Some(title)));
        }
        self.top = above.top;
        self.show_words();
    }

    /// Takes what happened to agents, and to the chat that this one works for.
    pub(super) fn take(&mut self, events: &[Event]) {
        self.conversation.agents().apply(events);
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
            self.conversation.agents().set_colors(colors);
        }
        self.shown = shown.fid().cloned();
        if self.parent.as_ref().map(|(fid, _)| fid) != parent.as_ref() {
            self.parent = parent.map(|fid| (fid, None));
            self.top = None;
        }
        self.show_words();
    }

    /// The chat that the shown one works for.
    pub(super) fn parent(&self) -> Option<&Fid> {
        self.parent.as_ref().map(|(fid, _)| fid)
    }

    /// Where a new chat works that is begun from the shown one. An agent may have a worktree, in which
    /// nobody else is to work: from there it is where the chat at the top works.
    pub(super) fn next_workplace(&mut self, shown: &ShownChat) -> Next {
        let is_unknown = shown.is_opening() || (self.parent.is_some() && self.top.is_none());
        if let (true, Some(manager), Some(from)) = (is_unknown, self.manager.clone(), shown.fid()) {
            let from = from.clone();
            self.next = Some(from.clone());
            self.handle.spawn(async move {
                let place = top_of(&from, &manager.sessions().list().await.unwrap_or_default());
                Msg::Next { from, place }
            });
            return Next::Unknown;
        }
        Next::At(if self.parent.is_some() { self.top.clone() } else { Workplace::of(shown) })
    }

    /// Something else is shown than the new chat that was asked for.
    pub(super) fn forget_next(&mut self) {
        self.next = None;
    }

    /// Whether the new chat that was asked for in this one is still wanted.
    pub(super) fn wants_next(&self, from: &Fid) -> bool {
        self.next.as_ref() == Some(from)
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
            self.shown.as_ref().map_or(0, |shown| self.conversation.agents().interrupted(shown));
        if count > 0 {
            let text = ngettext("{n} agent was interrupted", "{n} agents were interrupted", count);
            self.interrupted_words.set_label(&fill(&text, &[("n", &count.to_string())]));
        }
        self.interrupted.set_visible(count > 0);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use chat_core::event::Status;
    use chat_core::manager::StartOptions;
    use chat_core::message::SessionMeta;
    use chat_core::settings::Folders;
    use chat_core::store::{NewSession, Store};
    use relm4::ComponentController;
    use tokio::runtime::Runtime;

    use super::super::{Init, Input, launch};
    use super::*;
    use crate::main_loop::until;

    fn chat(fid: &str, parent: Option<&str>, project: &str) -> SessionPlaceholder {
        let meta = SessionMeta {
            fid: Fid::new(fid),
            parent: parent.map(Fid::new),
            title: fid.to_owned(),
            project: Some(project.into()),
            ..SessionMeta::default()
        };
        SessionPlaceholder { meta, status: Status::Idle, activity: None }
    }

    #[test]
    fn a_new_chat_works_where_the_chat_at_the_top_does() {
        let chats = [
            chat("fixer", Some("chat"), "/worktrees/fixer"),
            chat("helper", Some("fixer"), "/worktrees/fixer"),
            chat("chat", None, "/project"),
            chat("round", Some("about"), "/a"),
            chat("about", Some("round"), "/a"),
        ];
        let above = |parent: &str| {
            let above = Above::of(&Fid::new(parent), &chats);
            let top = above.top.map(|top| top.project);
            (above.parent.map(|(_, title)| title), top)
        };
        let project = Some(Path::new("/project").to_owned());
        assert_eq!(above("chat"), (Some("chat".to_owned()), project.clone()));
        assert_eq!(above("fixer"), (Some("fixer".to_owned()), project));
        assert_eq!(above("round").1, None);
        assert_eq!(above("gone"), (None, None));
        // The same of one that was not read yet.
        let top = |fid: &str| top_of(&Fid::new(fid), &chats).map(|top| top.project);
        assert_eq!(top("helper"), Some("/project".into()));
        assert_eq!(top("chat"), Some("/project".into()));
    }

    #[gtk::test]
    fn a_new_chat_that_is_asked_for_at_once_keeps_the_project() {
        crate::init();
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders::below(folder.path().to_owned());
        let runtime = Runtime::new().unwrap();
        let stored = |parent: Option<&Fid>, project: &str| {
            let meta = SessionMeta { parent: parent.cloned(), ..chat("", None, project).meta };
            let new = NewSession { meta, ..NewSession::default() };
            let store = Store::open(&folders).unwrap().store;
            runtime.block_on(store.create(new, Vec::new())).unwrap().fid.clone()
        };
        let top = stored(None, "/project");
        let agent = stored(Some(&top), "/worktrees/fixer");
        let manager = runtime.block_on(Manager::start(StartOptions::new(folders.clone()))).unwrap();
        let init = Init { manager: Some(manager), ..Init::default() };
        let widget = launch(init).detach();
        widget.emit(Input::Show(Some(agent.clone())));
        until("the agent's chat", || widget.model().shown.fid() == Some(&agent));
        widget.emit(Input::ShowBeside);
        until("a new chat", || widget.model().shown.fid().is_none());
        assert_eq!(widget.model().shown.project(), Some(Path::new("/project")));
    }
}
