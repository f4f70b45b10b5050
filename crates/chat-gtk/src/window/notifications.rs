//! Shows desktop notifications for chats that are not in view: a reply has arrived, or something
//! waits for an answer. A notification is withdrawn as soon as the chat is viewed or the question
//! answered.

mod body;

use std::collections::{HashMap, HashSet};

use adw::prelude::*;
use chat_core::error::Error;
use chat_core::event::{Event, SessionApproval, SessionPlaceholder, StopReason};
use chat_core::message::{Answer, ApprovalId, ApprovalRequest, Fid, Role};
use gettextrs::gettext;
use gtk::{gio, glib};
use relm4::{ComponentController, ComponentSender};

use super::quit::Quitting;
use super::view::View;
use super::{Arrival, Command, Input, LaunchTarget, Window};
use crate::app;

/// An answer that was given in a notification.
#[derive(Clone, Debug, PartialEq, Eq, glib::Variant)]
pub(crate) struct Reply {
    fid: String,
    /// The ask, as JSON.
    ask: String,
    allow: bool,
}

/// A reply that ended while nobody was looking.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    fid: Fid,
    reason: StopReason,
    error: Option<Error>,
    /// Its last message, if available.
    last: Option<String>,
}

/// The current notifications.
#[derive(Debug)]
pub(super) struct Notifications {
    app: adw::Application,
    /// The chats with a notification about a finished reply.
    replies: HashSet<Fid>,
    /// The latest ask of each waiting chat, and whether its notification is still shown.
    asks: HashMap<Fid, (ApprovalId, bool)>,
}

impl Notifications {
    pub(super) fn new(app: &adw::Application) -> Self {
        Self { app: app.clone(), replies: HashSet::new(), asks: HashMap::new() }
    }

    fn tell_reply(&mut self, fid: Fid, title: &str, body: &str) {
        let notification = notification(&fid, title, body);
        self.app.send_notification(Some(&reply_id(&fid)), &notification);
        self.replies.insert(fid);
    }

    /// Notifies about the first ask that waits in a chat, once for each ask.
    fn tell_ask(&mut self, session: &SessionPlaceholder, title: &str, ask: &ApprovalRequest) {
        let fid = &session.fid;
        let Ok(id) = serde_json::to_string(&ask.id) else { return };
        let body::Asking { words, whole, permission } =
            body::asking(ask, session.project.as_deref());
        let notification = notification(fid, title, &words);
        notification.set_priority(gio::NotificationPriority::High);
        let button = |label: &str, allow| {
            let reply = Reply { fid: fid.to_string(), ask: id.clone(), allow };
            let action = format!("app.{}", app::ANSWER);
            let target = reply.to_variant();
            notification.add_button_with_target_value(label, &action, Some(&target));
        };
        // The user may allow only what they see in full.
        if permission && whole {
            button(&gettext("Allow Once"), true);
        }
        if permission {
            button(&gettext("Deny"), false);
        }
        self.app.send_notification(Some(&ask_id(fid)), &notification);
        self.asks.insert(fid.clone(), (ask.id, true));
    }

    /// Nothing waits in a chat any more.
    fn answered(&mut self, fid: &Fid) {
        if let Some((_, true)) = self.asks.remove(fid) {
            self.app.withdraw_notification(&ask_id(fid));
        }
    }

    /// The program ends, so the notifications would lead nowhere.
    pub(super) fn withdraw_all(&mut self) {
        for fid in self.replies.drain() {
            self.app.withdraw_notification(&reply_id(&fid));
        }
        for (fid, _) in self.asks.drain().filter(|(_, (_, told))| *told) {
            self.app.withdraw_notification(&ask_id(&fid));
        }
    }

    /// A chat is in view: its notifications are no longer needed.
    fn seen(&mut self, fid: &Fid) {
        if self.replies.remove(fid) {
            self.app.withdraw_notification(&reply_id(fid));
        }
        self.ask_seen(fid);
    }

    /// The ask of a chat is in view.
    fn ask_seen(&mut self, fid: &Fid) {
        if let Some((_, told)) = self.asks.get_mut(fid)
            && std::mem::take(told)
        {
            self.app.withdraw_notification(&ask_id(fid));
        }
    }
}

impl Window {
    /// Handles events of the chats.
    pub(super) fn hear_news(
        &mut self,
        news: &[Event],
        view: &View,
        sender: &ComponentSender<Self>,
        root: &adw::ApplicationWindow,
    ) {
        for event in news {
            match event {
                Event::RequestFinished { fid, reason, error, .. } => {
                    // Of an agent the chat that it works for hears.
                    let session = self.list.model().session(fid);
                    let is_agent = session.is_some_and(|session| session.parent.is_some());
                    let worth = *reason != StopReason::Stopped && !is_agent;
                    let worth = worth && self.may_tell(fid, view, root);
                    if worth {
                        self.ask_for_last(fid.clone(), *reason, error.clone(), sender);
                    }
                }
                Event::ApprovalsChanged { asks } => {
                    self.waiting.set_asks(asks);
                    if !asks.is_empty() {
                        view.toasts.nothing_waits(false);
                    }
                    self.hear_asks(asks, view, root);
                }
                Event::SessionAdded(session) => view.deletions.forget_chat(&session.fid),
                Event::SessionRemoved { fid } => {
                    self.notifications.seen(fid);
                    self.notifications.answered(fid);
                }
                Event::SettingsChanged => self.show_color_scheme(),
                _ => {}
            }
        }
        // Titles and folders may have changed, too.
        self.show_waiting();
    }

    /// Whether a chat may get a notification.
    fn may_tell(&self, fid: &Fid, view: &View, root: &adw::ApplicationWindow) -> bool {
        let wanted =
            self.manager.as_ref().is_some_and(|it| it.settings().current().ui.notifications);
        wanted && self.looked_at(view, root) != Some(fid)
    }

    /// The chat that is in view.
    fn looked_at(&self, view: &View, root: &adw::ApplicationWindow) -> Option<&Fid> {
        let looks = root.is_active() && !view.shows_list_alone() && !view.side.covers();
        self.shown.as_ref().filter(|_| looks)
    }

    /// Withdraws the notifications of the chat in view, and of the list of what waits.
    pub(super) fn withdraw_seen(&mut self, view: &View, root: &adw::ApplicationWindow) {
        if self.sees_waiting(root) {
            for approval in self.waiting.asks() {
                self.notifications.ask_seen(&approval.fid);
            }
        }
        if let Some(fid) = self.looked_at(view, root).cloned() {
            self.notifications.seen(&fid);
        }
    }

    /// Fetches the last message of a reply, to show its first line.
    fn ask_for_last(
        &self,
        fid: Fid,
        reason: StopReason,
        error: Option<Error>,
        sender: &ComponentSender<Self>,
    ) {
        let Some(manager) = self.manager.clone() else { return };
        sender.oneshot_command(async move {
            let transcript = manager.sessions().transcript(&fid).await.unwrap_or_default();
            let last = transcript.iter().rfind(|message| message.role == Role::Assistant);
            let last = last.map(|message| message.plain_text());
            Command::Finished(Finished { fid, reason, error, last })
        });
    }

    pub(super) fn tell_finished(
        &mut self,
        finished: &Finished,
        view: &View,
        root: &adw::ApplicationWindow,
    ) {
        let Finished { fid, reason, error, last } = finished;
        if self.may_tell(fid, view, root)
            && let Some(title) = self.list.model().full_title(fid)
        {
            let body = body::finished(*reason, error.as_ref(), last.as_deref());
            self.notifications.tell_reply(fid.clone(), &title, &body);
        }
    }

    /// Handles what waits for the user in all chats: the first ask of each gets a notification.
    fn hear_asks(&mut self, asks: &[SessionApproval], view: &View, root: &adw::ApplicationWindow) {
        let mut first: HashMap<&Fid, &ApprovalRequest> = HashMap::new();
        for SessionApproval { fid, ask } in asks {
            first.entry(fid).or_insert(ask);
        }
        let is_over = |(fid, (id, _)): &(&Fid, &(ApprovalId, bool))| {
            first.get(fid).is_none_or(|ask| ask.id != *id)
        };
        let over: Vec<_> = self.notifications.asks.iter().filter(is_over).collect();
        let over: Vec<Fid> = over.into_iter().map(|(fid, _)| fid.clone()).collect();
        for fid in over {
            self.notifications.answered(&fid);
        }
        for (fid, ask) in first {
            if self.notifications.asks.contains_key(fid) {
                continue;
            }
            let tells = self.may_tell(fid, view, root) && !self.sees_waiting(root);
            let session = self.list.model().session(fid).filter(|_| tells);
            match session {
                Some(session) => {
                    let title = self.list.model().full_title(fid);
                    let title = title.unwrap_or_else(|| session.title.clone());
                    self.notifications.tell_ask(&session, &title, ask);
                }
                // It was seen, so it needs no notification later.
                None => drop(self.notifications.asks.insert(fid.clone(), (ask.id, false))),
            }
        }
    }

    /// Passes an answer from a notification to the ask that waits for it.
    pub(super) fn reply(
        &self,
        reply: Reply,
        sender: &ComponentSender<Self>,
        root: &adw::ApplicationWindow,
    ) {
        let fid = Fid::new(reply.fid);
        // The notification is from an earlier run: the program was started by it, and the ask no
        // longer exists.
        if !root.is_visible() && matches!(self.quitting, Quitting::No) {
            let shown = Arrival::of(LaunchTarget::Session(fid));
            return sender.input(Input::Arrive(shown));
        }
        let (Some(manager), Ok(ask)) = (self.manager.clone(), serde_json::from_str(&reply.ask))
        else {
            return;
        };
        let answer = if reply.allow {
            Answer::Allow(None)
        } else {
            Answer::Deny { scope: None, message: None }
        };
        sender.oneshot_command(async move {
            Command::Replied(manager.permissions().answer(&fid, ask, answer).await)
        });
    }
}

/// A notification that opens its chat.
fn notification(fid: &Fid, title: &str, body: &str) -> gio::Notification {
    let notification = gio::Notification::new(title);
    notification.set_body(Some(&body::plain(body)));
    let action = format!("app.{}", app::SHOW_CHAT);
    let target = fid.as_str().to_variant();
    notification.set_default_action_and_target_value(&action, Some(&target));
    notification
}

fn reply_id(fid: &Fid) -> String {
    format!("reply-{fid}")
}

fn ask_id(fid: &Fid) -> String {
    format!("ask-{fid}")
}
