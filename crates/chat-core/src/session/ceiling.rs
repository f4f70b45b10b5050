//! Decides how far a session may go: by its own rules and mode, and by those of the sessions that it
//! works for. These count as they are now, so that what is denied there later is denied here too.

use std::path::Path;
use std::sync::Arc;

use chat_permission::path::Project;
use chat_permission::{Effect, Entry, Mode};

use super::{Session, Tree};
use crate::message::Fid;
use crate::tool::Audience;

impl Session {
    /// The sessions that it works for, the nearest first.
    pub(super) fn ancestors(&self) -> impl Iterator<Item = &Arc<Self>> {
        std::iter::successors(self.parent.as_ref(), |session| session.parent.as_ref())
    }

    /// Those of them that work in the same project.
    pub(super) fn ancestors_in_project(&self) -> impl Iterator<Item = &Arc<Self>> {
        let project = self.project();
        self.ancestors().filter(move |one| project.is_some() && one.project() == project)
    }

    /// The session that it works for.
    pub(crate) fn parent(&self) -> Option<&Arc<Self>> {
        self.parent.as_ref()
    }

    /// Whether it works for this one, or for one that does.
    pub(crate) fn works_for(&self, fid: &Fid) -> bool {
        self.ancestors().any(|ancestor| ancestor.fid == *fid)
    }

    /// How many sessions it works for, one above the other.
    pub(crate) fn depth(&self) -> u32 {
        u32::try_from(self.ancestors().count()).unwrap_or(u32::MAX)
    }

    /// The session at the top of its tree.
    pub(crate) fn root(&self) -> &Fid {
        self.ancestors().last().map_or(&self.fid, |session| &session.fid)
    }

    /// What it shares with the other sessions of its tree.
    pub(crate) fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// Which tools are for its place in its tree.
    pub(super) fn audience(&self) -> impl Fn(Audience) -> bool + use<> {
        let depth = self.depth();
        let leads = depth < self.services.clients.settings().agents.depth;
        move |audience| match audience {
            Audience::Everyone => true,
            Audience::Leaders => leads,
            Audience::Members => leads || depth > 0,
        }
    }

    /// Whether one that it works for, directly or not, is gone: nobody knows what was denied there.
    fn lacks_ceiling(&self) -> bool {
        self.lost_parent || self.ancestors().any(|ancestor| ancestor.lost_parent)
    }

    /// The rules that hold for this session in a request's folder, and its mode. The session may have
    /// another folder by now, for its next request.
    pub(super) fn rules(&self, project: Option<&Arc<Project>>) -> (Vec<Entry>, Mode) {
        let settings = self.services.clients.settings();
        let root = project.map(|project| project.root());
        let worktree = root.map(|root| self.services.worktrees.containing(root)).transpose();
        // Where nobody knows what is denied, nothing that was allowed passes. A damaged record does not
        // say which project's rules hold in its worktree.
        let is_lost = worktree.is_err();
        let orphaned = is_lost || self.lacks_ceiling();
        let unread = settings.permissions.are_unread || orphaned;
        let (own, mode) = {
            let state = self.lock();
            (state.record.rules.clone(), state.record.mode)
        };
        let own = own.into_iter().filter(|it| !unread || it.effect == Effect::Deny);
        let holds = |entry: &Entry| !orphaned || entry.effect == Effect::Deny;
        let remembered = settings.permissions.entries(root).filter(holds);
        let mut rules: Vec<_> = own.chain(remembered).collect();
        // In a worktree, the rules of the project that it was made from hold too.
        if let Ok(Some(Some(worktree))) = &worktree {
            let of_parent = settings.permissions.entries(Some(worktree.parent_project()));
            for entry in of_parent.filter(holds) {
                if !rules.contains(&entry) {
                    rules.push(entry);
                }
            }
        }
        let parent_project = match &worktree {
            Ok(Some(Some(worktree))) => Some(worktree.parent_project()),
            _ => None,
        };
        for ancestor in self.ancestors() {
            let (theirs, folder) = {
                let state = ancestor.lock();
                (state.record.rules.clone(), state.record.project.clone())
            };
            // What the user gave for this run holds for the agents, too; what they answered in a chat does not. Names
            // of files are those of another project elsewhere.
            let is_here = folder.is_some() && [root, parent_project].contains(&folder.as_deref());
            for entry in theirs.iter().filter(|entry| entry.effect == Effect::Allow && !unread) {
                let counts = is_here || !entry.rule.is_of_project();
                if counts
                    && self.tree.is_given(&ancestor.fid, &entry.rule)
                    && !rules.contains(entry)
                {
                    rules.push(entry.clone());
                }
            }
            // Those of the same folder are known.
            let elsewhere = folder.as_deref().filter(|folder| Some(*folder) != root);
            let of_folder = elsewhere.map(|folder| settings.permissions.entries(Some(folder)));
            let denied = theirs.into_iter().chain(of_folder.into_iter().flatten());
            for entry in denied.filter(|entry| entry.effect == Effect::Deny) {
                if !rules.contains(&entry) {
                    rules.push(entry);
                }
            }
        }
        let mode = if is_lost { Mode::Plan } else { self.within(mode) };
        (rules, settings.permissions.most(mode))
    }

    /// What its tools may do unasked at most.
    pub(super) fn effective_mode(&self) -> Mode {
        let (mode, project) = {
            let state = self.lock();
            (state.record.mode, state.record.project.clone())
        };
        let is_lost = project.is_some_and(|it| self.services.worktrees.containing(&it).is_err());
        if is_lost { Mode::Plan } else { self.within(mode) }
    }

    /// A mode, as far as those that it works for have it. Where one of them is gone it only reads.
    pub(super) fn within(&self, mode: Mode) -> Mode {
        if self.lacks_ceiling() {
            return Mode::Plan;
        }
        self.ancestors().fold(self.agent_within(mode), |mode, ancestor| {
            let above = ancestor.lock().record.mode;
            mode.within(ancestor.agent_within(above))
        })
    }

    /// A mode of the user's, as far as the agent has it.
    fn agent_within(&self, mode: Mode) -> Mode {
        self.agent_ceiling().map_or(mode, |ceiling| ceiling.within(mode))
    }

    /// What the agent lets its tools do unasked at most: that of the request at work, which may be gone or changed by
    /// now, or that of the next one. Of an agent that is not there nobody knows it: then nothing but reading.
    fn agent_ceiling(&self) -> Option<Mode> {
        let (agent, project) = {
            let state = self.lock();
            if state.answering.is_some() {
                return state.agent_ceiling;
            }
            (state.record.agent.clone(), state.record.project.clone())
        };
        match self.services.agent(&agent, project.as_deref()) {
            Ok(agent) => agent.ceiling(),
            Err(_) => Some(Mode::Plan),
        }
    }

    /// The folder of its project that its work is about.
    pub(super) fn folder(&self) -> Option<std::path::PathBuf> {
        let folder = self.lock().record.folder.clone();
        folder.filter(|folder| folder != Path::new(""))
    }
}
