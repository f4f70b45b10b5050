//! Knows which servers there are, and keeps those that did not change when the files are read again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_definitions::Digest;

use super::ServerKey;
use super::entry::Entry;
use crate::config::{FileVersion, McpConfig, Server, is_name};
use crate::tools::prefixes;

/// What the files say, and the servers that are used.
#[derive(Debug, Default)]
pub(super) struct Known {
    user: McpConfig,
    version: Option<FileVersion>,
    projects: BTreeMap<PathBuf, (McpConfig, BTreeSet<Digest>)>,
    entries: BTreeMap<ServerKey, Arc<Entry>>,
}

impl Known {
    pub(super) fn config(&self) -> &McpConfig {
        &self.user
    }

    pub(super) fn version(&self) -> Option<FileVersion> {
        self.version
    }

    /// What a project's file says, and what of it is trusted.
    pub(super) fn project(&self, root: &Path) -> (McpConfig, BTreeSet<Digest>) {
        self.projects.get(root).cloned().unwrap_or_default()
    }

    /// Whether a project's server of this name can be used: what rules say of the user's server must not count for
    /// another of the same name. While the user's file cannot be read, nobody knows the names in it.
    pub(super) fn is_free(&self, name: &str) -> bool {
        self.user.is_readable() && !self.user.has_name(name)
    }

    /// All servers that are used: the user's in the order of the file, then those of projects.
    pub(super) fn entries(&self) -> Vec<Arc<Entry>> {
        let own = self.user.servers.iter().map(|server| ServerKey::of_user(&server.name));
        let own = own.filter_map(|key| self.entries.get(&key));
        let others = self.entries.iter().filter(|(key, _)| key.project.is_some());
        own.chain(others.map(|(_, entry)| entry)).cloned().collect()
    }

    /// The servers that a session of this project, or of none, has, by name.
    pub(super) fn of_session(&self, project: Option<&Path>) -> Vec<Arc<Entry>> {
        let is_its = |key: &ServerKey| match &key.project {
            None => true,
            Some(of) => Some(&**of) == project,
        };
        let its = self.entries.iter().filter(|(key, _)| is_its(key));
        its.map(|(_, entry)| Arc::clone(entry)).collect()
    }

    pub(super) fn entry(&self, key: &ServerKey) -> Option<Arc<Entry>> {
        self.entries.get(key).cloned()
    }

    /// Takes over what the files say now. A server stays the same one, and runs on, unless something changed that decides how
    /// it is started. While the user's cannot be read, its servers are those that it had. `begin` is given the server that
    /// another one replaces. Returns the servers that are no longer used, if anything changed.
    pub(super) fn take(
        &mut self,
        mut user: McpConfig,
        version: FileVersion,
        of_project: Option<(PathBuf, McpConfig, BTreeSet<Digest>)>,
        begin: impl Fn(ServerKey, Server, &str, Option<&Arc<Entry>>) -> Arc<Entry>,
    ) -> Option<Vec<Arc<Entry>>> {
        let is_new = self.version != Some(version);
        if user.is_unreadable() {
            // Servers keep running until the user has fixed the file.
            user.keep_servers(std::mem::take(&mut self.user));
        }
        (self.user, self.version) = (user, Some(version));
        let mut changed = is_new;
        if let Some((root, config, trusted)) = of_project {
            changed |= self.projects.get(&root) != Some(&(config.clone(), trusted.clone()));
            self.projects.insert(root, (config, trusted));
        }
        if !changed {
            return None;
        }
        let mut before = std::mem::take(&mut self.entries);
        // A server with an error keeps its name, and what rules say of it.
        let own_prefixes = prefixes([], self.user.names().filter(|name| is_name(name)));
        let mut wanted: Vec<(ServerKey, &Server, String)> = self
            .user
            .servers
            .iter()
            .filter(|server| !server.config.disabled)
            .map(|server| {
                let prefix = own_prefixes[&*server.name].clone();
                (ServerKey::of_user(&server.name), server, prefix)
            })
            .collect();
        for (root, (config, trusted)) in &self.projects {
            let servers = || config.servers.iter().filter(|server| self.is_free(&server.name));
            let taken = own_prefixes.values().map(String::as_str);
            let prefixes = prefixes(taken, servers().map(|server| &*server.name));
            for server in servers() {
                if !server.config.disabled && trusted.contains(&server.digest()) {
                    let key = ServerKey { project: Some(root.clone()), name: server.name.clone() };
                    wanted.push((key, server, prefixes[&*server.name].clone()));
                }
            }
        }
        for (key, server, prefix) in wanted {
            let kept = before.remove(&key);
            let entry = match kept {
                Some(entry) if entry.become_server(server, &prefix) => entry,
                replaced => {
                    let entry = begin(key.clone(), server.clone(), &prefix, replaced.as_ref());
                    before.extend(replaced.map(|replaced| (key.clone(), replaced)));
                    entry
                }
            };
            self.entries.insert(key, entry);
        }
        Some(before.into_values().collect())
    }
}
