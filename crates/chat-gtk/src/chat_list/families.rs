//! Knows which chats are agents of which, and which of them have their agents shown. Plain data.

use std::collections::{HashMap, HashSet};

use chat_core::message::Fid;

/// Which chats are agents of which.
#[derive(Debug, Default)]
pub(super) struct Families {
    known: HashSet<Fid>,
    /// The agents with those that they work for, known or not.
    parents: HashMap<Fid, Fid>,
    /// The agents of each, in the order in which they came.
    children: HashMap<Fid, Vec<Fid>>,
    /// Those whose agents are shown.
    open: HashSet<Fid>,
}

/// What the agents of a chat do, and those that work for these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AgentsBelow {
    /// How many there are.
    pub(super) count: u32,
    pub(super) working: u32,
    /// How many wait for the user.
    pub(super) asking: u32,
    pub(super) interrupted: u32,
}

/// How a chat stands in the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TreePlace {
    /// How many it works for, one above the other.
    pub(super) depth: u32,
    /// Whether its agents are shown.
    pub(super) is_open: bool,
    pub(super) below: AgentsBelow,
}

impl Families {
    /// Adds a chat, or an agent with the one that it works for. Those of one parent are to come in
    /// the order in which they are shown.
    pub(super) fn add(&mut self, fid: &Fid, parent: Option<&Fid>) {
        if !self.known.insert(fid.clone()) {
            return;
        }
        if let Some(parent) = parent {
            self.parents.insert(fid.clone(), parent.clone());
            self.children.entry(parent.clone()).or_default().push(fid.clone());
        }
    }

    /// Forgets a chat. Its agents stay until they are forgotten, too.
    pub(super) fn remove(&mut self, fid: &Fid) {
        self.known.remove(fid);
        self.open.remove(fid);
        let Some(parent) = self.parents.remove(fid) else { return };
        if let Some(children) = self.children.get_mut(&parent) {
            children.retain(|child| child != fid);
            if children.is_empty() {
                self.children.remove(&parent);
                self.open.remove(&parent);
            }
        }
    }

    /// The chat that an agent works for, if it is listed. A damaged store may have circles: none of
    /// those in it is above another.
    pub(super) fn parent(&self, fid: &Fid) -> Option<&Fid> {
        let parent = self.parents.get(fid).filter(|parent| self.known.contains(*parent))?;
        let mut above = std::iter::successors(Some(parent), |at| self.parents.get(*at));
        above.by_ref().take(self.known.len()).all(|at| at != fid).then_some(parent)
    }

    /// All that an agent works for, the nearest first.
    pub(super) fn above(&self, fid: &Fid) -> Vec<Fid> {
        let up = |at: &Fid| self.parent(at).cloned();
        std::iter::successors(up(fid), up).collect()
    }

    /// Whether a chat has agents.
    pub(super) fn has_agents(&self, fid: &Fid) -> bool {
        self.children.get(fid).is_some_and(|children| !children.is_empty())
    }

    /// All that work for a chat, each below the one that it works for.
    pub(super) fn below(&self, fid: &Fid) -> Vec<Fid> {
        self.walk(fid, &|_| true)
    }

    /// Those of them whose rows are shown, if the chat's own is.
    pub(super) fn shown_below(&self, fid: &Fid) -> Vec<Fid> {
        if !self.is_open(fid) {
            return Vec::new();
        }
        self.walk(fid, &|at| self.open.contains(at))
    }

    fn walk(&self, fid: &Fid, enters: &dyn Fn(&Fid) -> bool) -> Vec<Fid> {
        let mut found = Vec::new();
        let mut next = vec![fid];
        let mut seen = HashSet::new();
        while let Some(at) = next.pop() {
            if !seen.insert(at) {
                continue;
            }
            if at != fid {
                found.push(at.clone());
            }
            if enters(at)
                && let Some(children) = self.children.get(at)
            {
                next.extend(children.iter().rev());
            }
        }
        found
    }

    pub(super) fn is_open(&self, fid: &Fid) -> bool {
        self.open.contains(fid)
    }

    /// Shows or hides the agents of a chat. Returns whether they were not so before.
    pub(super) fn set_open(&mut self, fid: &Fid, is_open: bool) -> bool {
        if is_open {
            self.has_agents(fid) && self.open.insert(fid.clone())
        } else {
            self.open.remove(fid)
        }
    }

    /// Whether the row of a chat is shown: it is no agent, or all above it are open.
    pub(super) fn is_shown(&self, fid: &Fid) -> bool {
        self.above(fid).iter().all(|above| self.open.contains(above))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fid(name: &str) -> Fid {
        Fid::new(name)
    }

    fn names(fids: &[Fid]) -> Vec<&str> {
        fids.iter().map(Fid::as_str).collect()
    }

    /// A chat with two agents, of which the first has one of its own; and another chat.
    fn families() -> Families {
        let mut all = Families::default();
        for (name, parent) in [
            ("chat", None),
            ("a", Some("chat")),
            ("aa", Some("a")),
            ("b", Some("chat")),
            ("other", None),
        ] {
            all.add(&fid(name), parent.map(fid).as_ref());
        }
        all
    }

    #[test]
    fn agents_are_shown_below_what_is_open_alone() {
        let mut all = families();
        assert_eq!(names(&all.below(&fid("chat"))), ["a", "aa", "b"]);
        assert!(all.shown_below(&fid("chat")).is_empty() && !all.is_shown(&fid("a")));
        assert!(all.set_open(&fid("chat"), true) && !all.set_open(&fid("chat"), true));
        assert_eq!(names(&all.shown_below(&fid("chat"))), ["a", "b"]);
        assert!(!all.set_open(&fid("other"), true), "it has no agents");
        all.set_open(&fid("a"), true);
        assert_eq!(names(&all.shown_below(&fid("chat"))), ["a", "aa", "b"]);
        all.set_open(&fid("chat"), false);
        assert!(!all.is_shown(&fid("aa")) && all.is_open(&fid("a")), "it stays as it was");
    }

    #[test]
    fn an_agent_whose_chat_is_gone_stands_alone() {
        let mut all = families();
        assert_eq!(names(&all.above(&fid("aa"))), ["a", "chat"]);
        all.remove(&fid("chat"));
        assert_eq!(all.parent(&fid("a")), None);
        assert!(all.is_shown(&fid("a")) && !all.is_shown(&fid("aa")));
        // A deletion that is undone.
        all.add(&fid("chat"), None);
        assert_eq!(names(&all.below(&fid("chat"))), ["a", "aa", "b"]);
        for agent in ["a", "aa", "b"] {
            all.remove(&fid(agent));
        }
        assert!(!all.has_agents(&fid("chat")));
    }

    #[test]
    fn a_circle_is_no_tree() {
        let mut all = Families::default();
        all.add(&fid("x"), Some(&fid("y")));
        all.add(&fid("y"), Some(&fid("x")));
        assert!(all.above(&fid("x")).is_empty() && all.is_shown(&fid("x")));
        assert_eq!(names(&all.below(&fid("x"))), ["y"]);
    }
}
