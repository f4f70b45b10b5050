//! Brings the choices of stored chats to the engine: one change of a chat at a time, so that
//! the last one wins, and what the engine tells of earlier ones does not take them back.

use std::collections::HashMap;

use chat_core::error::Result;
use chat_core::event::SessionPlaceholder;
use chat_core::manager::{Manager, SessionChange};
use chat_core::message::Fid;

use super::handle::Handle;
use super::requests::is_gone;

/// The choices of a chat are stored, or could not be.
#[derive(Debug)]
pub(super) struct Msg {
    fid: Fid,
    result: Result<()>,
}

/// The choices on their way.
pub(super) struct SessionChanges {
    handle: Handle<Msg>,
    manager: Option<Manager>,
    changes: Changes,
}

impl SessionChanges {
    pub(super) fn new(handle: Handle<Msg>) -> Self {
        Self { handle, manager: None, changes: Changes::default() }
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
    }

    /// Brings a choice for this chat to the engine, after those before it.
    pub(super) fn change(&mut self, fid: Fid, change: SessionChange) {
        if let Some(change) = self.changes.begin(&fid, change) {
            self.store(fid, change);
        }
    }

    /// Puts what is under way over what the engine tells of a chat.
    pub(super) fn keep(&self, session: &mut SessionPlaceholder) {
        self.changes.keep(session);
    }

    /// What was chosen meanwhile comes next.
    pub(super) fn update(&mut self, Msg { fid, result }: Msg) {
        if let Err(error) = result
            && !is_gone(&error)
        {
            self.handle.fail(Some(&fid), error);
        }
        if let Some(next) = self.changes.done(&fid) {
            self.store(fid, next);
        }
    }

    fn store(&self, fid: Fid, change: SessionChange) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let result = manager.sessions().change(&fid, change).await;
            Msg { fid, result }
        });
    }
}

/// The changes under way.
#[derive(Debug, Default)]
struct Changes {
    of: HashMap<Fid, UnderWay>,
}

#[derive(Debug)]
struct UnderWay {
    /// All that was chosen since nothing was under way.
    chosen: SessionChange,
    /// What was chosen after the change that is with the engine.
    next: Option<SessionChange>,
}

impl Changes {
    /// Takes a choice. Gives what the engine is to be told now; otherwise it comes later.
    fn begin(&mut self, fid: &Fid, change: SessionChange) -> Option<SessionChange> {
        let Some(under_way) = self.of.get_mut(fid) else {
            self.of.insert(fid.clone(), UnderWay { chosen: change.clone(), next: None });
            return Some(change);
        };
        under_way.chosen.add(change.clone());
        under_way.next.get_or_insert_default().add(change);
        None
    }

    /// The engine has what it was told. Gives what it is to be told next.
    fn done(&mut self, fid: &Fid) -> Option<SessionChange> {
        let next = self.of.get_mut(fid)?.next.take();
        if next.is_none() {
            self.of.remove(fid);
        }
        next
    }

    /// Puts what is under way over what the engine tells of a chat.
    fn keep(&self, session: &mut SessionPlaceholder) {
        let Some(UnderWay { chosen, .. }) = self.of.get(&session.fid) else { return };
        chosen.clone().apply(&mut session.meta);
    }
}

#[cfg(test)]
mod tests {
    use chat_core::event::Status;
    use chat_core::message::{ModelRef, Options, SessionMeta};

    use super::*;

    fn warmth(temperature: f64) -> SessionChange {
        let options = Options { temperature: Some(temperature), ..Options::default() };
        SessionChange { options: Some(options), ..SessionChange::default() }
    }

    /// A chat as the engine tells of it.
    fn told(fid: &Fid, temperature: f64, model: &str) -> SessionPlaceholder {
        SessionPlaceholder {
            meta: SessionMeta {
                fid: fid.clone(),
                title: "Chat".to_owned(),
                agent: "just-ask".to_owned(),
                model: Some(ModelRef::new("Home", model)),
                options: warmth(temperature).options.unwrap_or_default(),
                ..SessionMeta::default()
            },
            status: Status::Idle,
            activity: None,
        }
    }

    #[test]
    fn of_quick_changes_the_last_one_comes_last_and_none_between() {
        let (fid, mut changes) = (Fid::new("chat"), Changes::default());
        assert_eq!(changes.begin(&fid, warmth(0.1)), Some(warmth(0.1)));
        assert_eq!(changes.begin(&fid, warmth(0.2)), None);
        assert_eq!(changes.begin(&fid, warmth(0.3)), None);
        assert_eq!(changes.done(&fid), Some(warmth(0.3)));
        assert_eq!(changes.done(&fid), None);
        assert_eq!(changes.begin(&fid, warmth(0.4)), Some(warmth(0.4)));
    }

    #[test]
    fn what_is_told_of_an_earlier_change_takes_no_later_one_back() {
        let (fid, mut changes) = (Fid::new("chat"), Changes::default());
        changes.begin(&fid, warmth(0.1));
        changes.begin(&fid, warmth(0.2));
        let mut session = told(&fid, 0.1, "other");
        changes.keep(&mut session);
        assert_eq!(session.options.temperature, Some(0.2));
        // What nobody changed here is taken.
        assert_eq!(session.model, Some(ModelRef::new("Home", "other")));

        changes.done(&fid);
        changes.done(&fid);
        let mut session = told(&fid, 0.9, "other");
        changes.keep(&mut session);
        assert_eq!(session.options.temperature, Some(0.9));
    }
}
