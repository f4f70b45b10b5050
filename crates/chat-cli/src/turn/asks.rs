//! Collects what waits for the user: the questions of the session, and of the agents below it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chat_core::event::{SessionApproval, SessionPlaceholder};
use chat_core::message::{ApprovalId, ApprovalRequest, Fid};

/// A question that waits.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// The session that asks.
    pub(super) fid: Fid,
    /// The agent that asks, if it is not the session that is followed.
    pub(super) agent: Option<Arc<SessionPlaceholder>>,
    pub(super) ask: Arc<ApprovalRequest>,
}

/// The questions that wait, the session's own first.
#[derive(Debug)]
pub(super) struct Asks {
    fid: Fid,
    own: Vec<Arc<ApprovalRequest>>,
    /// Those of all sessions of this program, whose rows may come later.
    all: Vec<SessionApproval>,
    /// The agents below the session.
    agents: HashMap<Fid, Arc<SessionPlaceholder>>,
    /// Those that were answered here, which may come once more.
    answered: HashSet<ApprovalId>,
}

impl Asks {
    pub(super) fn new(fid: Fid) -> Self {
        Self {
            fid,
            own: Vec::new(),
            all: Vec::new(),
            agents: HashMap::new(),
            answered: HashSet::new(),
        }
    }

    /// Takes what waits in the session.
    pub(super) fn set_own(&mut self, asks: Vec<Arc<ApprovalRequest>>) {
        self.own = asks;
    }

    /// Takes what waits in all sessions.
    pub(super) fn set_all(&mut self, asks: Vec<SessionApproval>) {
        self.all = asks;
    }

    /// The session that is followed.
    pub(super) fn fid(&self) -> &Fid {
        &self.fid
    }

    /// Takes the row of a session. Says whether it is an agent below this one.
    pub(super) fn set_row(&mut self, row: &SessionPlaceholder) -> bool {
        let parent = row.parent.as_ref();
        let is_below = parent.is_some_and(|it| *it == self.fid || self.agents.contains_key(it));
        if is_below {
            self.agents.insert(row.fid.clone(), Arc::new(row.clone()));
        }
        is_below
    }

    /// What waits first.
    pub(super) fn first(&self) -> Option<Asked> {
        self.iter().next()
    }

    pub(super) fn contains(&self, id: ApprovalId) -> bool {
        self.iter().any(|asked| asked.ask.id == id)
    }

    /// Notes that a question was answered.
    pub(super) fn answered(&mut self, id: ApprovalId) {
        self.answered.insert(id);
    }

    fn iter(&self) -> impl Iterator<Item = Asked> {
        let own = self.own.iter().map(|ask| Asked {
            fid: self.fid.clone(),
            agent: None,
            ask: Arc::clone(ask),
        });
        let of_agents = self.all.iter().filter_map(|SessionApproval { fid, ask }| {
            let agent = Some(Arc::clone(self.agents.get(fid)?));
            Some(Asked { fid: fid.clone(), agent, ask: Arc::clone(ask) })
        });
        own.chain(of_agents).filter(|asked| !self.answered.contains(&asked.ask.id))
    }
}
