//! Reads the agents, commands and skills in files for a front end, and takes the user's trust in a project's.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_definitions::{Definitions, ForgottenTrust, ProjectDefinitions};

use super::{Fid, Manager, Result};

/// The agents, commands and skills that users write as files: the user's own, and those of a project that the
/// user trusts. From [`Manager::definitions`]. [`Event::DefinitionsChanged`](crate::event::Event::DefinitionsChanged)
/// reports changes of those that were asked for once.
#[derive(Clone, Debug)]
pub struct DefinitionFiles(pub(super) Manager);

impl DefinitionFiles {
    /// Those that count in a project, or in chats without one. The first time they are read, which takes some
    /// milliseconds. Where the folder cannot be opened, they are the user's own.
    pub async fn of_project(&self, project: Option<&Path>) -> Arc<Definitions> {
        let (registry, project) = (self.0.inner.definitions.clone(), project.map(Path::to_owned));
        let reading = self.0.run(async move { Ok(registry.load(project).await) });
        reading.await.unwrap_or_default()
    }

    /// Those that count in a session.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn of_session(&self, fid: &Fid) -> Result<Arc<Definitions>> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let project = this.session(&fid).await?.project();
                Ok(this.inner.definitions.load(project).await)
            })
            .await
    }

    /// Those that count in a project as far as they are known, without waiting: the user's own alone where nobody
    /// has asked for the project's yet.
    pub fn current(&self, project: Option<&Path>) -> Arc<Definitions> {
        self.0.inner.definitions.current(project)
    }

    /// Trusts a project's definitions, and waits until they are in use. They are trusted as they are here, which
    /// is as the user has seen them: one that has changed since stays untrusted, and one that changes later is
    /// asked about again.
    ///
    /// # Errors
    /// `ReadOnly`, `DiskFull`, `Storage`: nothing is trusted then.
    pub async fn trust(&self, seen: &ProjectDefinitions) -> Result<()> {
        let (this, seen) = (self.0.clone(), seen.clone());
        self.0
            .run(async move {
                let root = seen.root.clone();
                this.inner.definitions.trust(seen).await?;
                this.list_skills_again(&root);
                Ok(())
            })
            .await
    }

    /// The projects that the user trusts, by their real paths, sorted. A file of trust that cannot be read trusts
    /// none.
    pub async fn trusted(&self) -> Vec<PathBuf> {
        let registry = self.0.inner.definitions.clone();
        self.0.run(async move { Ok(registry.trusted().await) }).await.unwrap_or_default()
    }

    /// Takes back the trust in a project, by its real path ([`ProjectDefinitions::root`]), and waits until its
    /// definitions are out of use. Gives what [`restore`](Self::restore) takes, if anything was trusted.
    ///
    /// # Errors
    /// `ReadOnly`, `DiskFull`, `Storage`: it stays trusted then.
    pub async fn forget(&self, root: &Path) -> Result<Option<ForgottenTrust>> {
        let (this, root) = (self.0.clone(), PathBuf::from(root));
        self.0
            .run(async move {
                let forgotten = this.inner.definitions.forget(root.clone()).await?;
                this.list_skills_again(&root);
                Ok(forgotten)
            })
            .await
    }

    /// Trusts a project again as it was trusted before, and waits until that counts. What has been trusted there since
    /// stays.
    ///
    /// # Errors
    /// `ReadOnly`, `DiskFull`, `Storage`: nothing is trusted then.
    pub async fn restore(&self, forgotten: &ForgottenTrust) -> Result<()> {
        let (this, forgotten) = (self.0.clone(), forgotten.clone());
        self.0
            .run(async move {
                this.inner.definitions.restore(forgotten.clone()).await?;
                if let Some(root) = forgotten.root() {
                    this.list_skills_again(&root);
                }
                Ok(())
            })
            .await
    }
}

impl Manager {
    /// Has the chats in a project list its skills as they are now: their list stays otherwise.
    fn list_skills_again(&self, root: &Path) {
        let sessions: Vec<_> = self.sessions_lock().values().cloned().collect();
        for session in sessions {
            let definitions = self.inner.definitions.current(session.project().as_deref());
            if definitions.project.as_ref().is_some_and(|project| project.root == root) {
                session.forget_skill_list();
            }
        }
    }
}
