//! The skills of a session: those that its instructions list, and those that its model may load.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chat_definitions::{Skill, skill_list};

use super::Session;
use crate::agent::skill_list_bytes;
use crate::message::ModelRef;

/// The list of skills as it was when a session first worked in its folder.
#[derive(Debug, Default)]
pub(super) struct SkillListCache(Mutex<Option<(Option<PathBuf>, Arc<str>)>>);

impl SkillListCache {
    fn at(&self, project: Option<&Path>) -> Option<Arc<str>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (folder, list) = known.as_ref()?;
        (folder.as_deref() == project).then(|| Arc::clone(list))
    }

    fn set(&self, project: Option<PathBuf>, list: Arc<str>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((project, list));
    }

    fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Session {
    /// The skills that the instructions list in a folder: those that there were when the session first worked in
    /// it, in at most one percent of the model's window.
    pub(super) async fn listed_skills(
        &self,
        model: &ModelRef,
        project: Option<PathBuf>,
    ) -> Arc<str> {
        if let Some(known) = self.skill_list.at(project.as_deref()) {
            return known;
        }
        let definitions = self.services.definitions.load(project.as_deref()).await;
        let list = if definitions.skills.iter().any(|skill| skill.is_listed) {
            let options = self.lock().record.options.clone();
            let window = self.services.clients.context_window(model, &options, 0).await;
            let budget = skill_list_bytes(window.largest.or(window.now));
            skill_list(&definitions.skills, budget)
        } else {
            String::new()
        };
        let list: Arc<str> = list.into();
        self.skill_list.set(project, Arc::clone(&list));
        list
    }

    /// Whether the instructions of the session list skills.
    pub(super) fn lists_skills(&self) -> bool {
        let project = self.project();
        self.skill_list.at(project.as_deref()).is_some_and(|list| !list.is_empty())
    }

    /// Has the next request list the skills that there are then: the user decided about them.
    pub(crate) fn forget_skill_list(&self) {
        self.skill_list.forget();
    }

    /// The skills that the model may load now.
    pub(super) fn current_skills(&self) -> Vec<Arc<Skill>> {
        let definitions = self.services.definitions.current(self.project().as_deref());
        definitions.skills.iter().filter(|skill| skill.is_listed).cloned().collect()
    }
}
