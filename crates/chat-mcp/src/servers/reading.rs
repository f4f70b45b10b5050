//! Reads the files that say which servers there are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chat_definitions::{Digest, TrustStore};
use chat_permission::path::{PathEnvironment, Project};
use tokio::task::spawn_blocking;

use crate::config::{ConfigFile, FileVersion, McpConfig, read_project};

/// Reads them.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    pub(super) file: ConfigFile,
    pub(super) trust: TrustStore,
}

/// What the files say at some time.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) config: McpConfig,
    pub(super) version: FileVersion,
    /// A project, what its file says, and what of it is trusted.
    pub(super) of_project: Option<(PathBuf, McpConfig, BTreeSet<Digest>)>,
}

impl Reader {
    /// What the user's file and that of a project say now. None if they could not be read to the end.
    pub(super) async fn read(self, project: Option<PathBuf>) -> Option<Read> {
        let reading = spawn_blocking(move || {
            let of_project = project.map(|root| {
                let config = open(&root).and_then(|project| read_project(&project));
                let trusted = self.trust.trusted(&root);
                (root, config.unwrap_or_default(), trusted)
            });
            let (config, version) = self.file.read();
            Read { config, version, of_project }
        });
        reading.await.ok()
    }
}

fn open(root: &Path) -> Option<Project> {
    Project::open(root, &PathEnvironment::default()).ok()
}
