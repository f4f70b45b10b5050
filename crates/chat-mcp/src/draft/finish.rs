//! Makes a server of a draft.

use super::judge::filled;
use super::{DraftKind, ServerDraft};
use crate::config::{
    HttpServer, McpConfig, SecretText, Server, ServerConfig, ServerOptions, StdioServer, Template,
    Transport,
};
use crate::import::{PlainSecret, SecretPlace, move_secret, numbered};

/// A server that was filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedServer {
    /// The server, with references to its secrets.
    pub server: Server,
    /// Secrets that go into the keyring before the server goes into the file, with their names there.
    pub secrets: Vec<(String, SecretText)>,
}

impl ServerDraft {
    /// The server that this makes of `old`, or a new one. None if something is [wrong](Self::problems). `known` are the
    /// servers of the file: no secret of theirs is overwritten, also not one that this replaces, so that nothing is lost
    /// if the file cannot be written.
    pub fn finish(&self, known: &McpConfig, old: Option<&Server>) -> Option<FinishedServer> {
        if !self.problems(known, old.map(|old| &*old.name)).is_empty() {
            return None;
        }
        let (transport, place): (_, fn(String) -> SecretPlace) = match self.kind {
            DraftKind::Program => {
                let program = self.program().ok()?;
                let env = self.pairs().ok()?;
                let program = StdioServer { env, cwd: self.cwd(), ..program };
                (Transport::Stdio(program), SecretPlace::Variable)
            }
            DraftKind::Address => {
                let url = Template::parse(self.url.trim()).ok()?;
                let headers = self.pairs().ok()?;
                (Transport::Http(HttpServer { url, headers }), SecretPlace::Header)
            }
        };
        let old = old.map(|old| &old.config);
        let options = old.map(|old| old.options.clone()).unwrap_or_default();
        let config = ServerConfig {
            transport,
            disabled: old.is_some_and(|old| old.disabled),
            options: self.options(options),
        };
        let mut server = Server { name: self.name.trim().to_owned(), config };
        let mut secrets: Vec<(String, SecretText)> = Vec::new();
        for pair in self.filled_pairs().filter(|pair| pair.is_moved()) {
            let place = place(pair.name.trim().to_owned());
            let Some(secret) = PlainSecret::of(Some(&server.name), place) else { continue };
            let is_taken = |name: &String| {
                known.refers_to(name) || secrets.iter().any(|(taken, _)| taken == name)
            };
            // The numbers never end.
            let Some(free) = numbered(&secret.name).find(|name| !is_taken(name)) else { continue };
            if let Some(text) = move_secret(&mut server.config, &secret.place, &free) {
                secrets.push((free, text));
            }
        }
        server.check().ok()?;
        Some(FinishedServer { server, secrets })
    }

    /// The options, of which those stay that the form does not show.
    fn options(&self, old: ServerOptions) -> ServerOptions {
        match (self.kind, self.sandbox) {
            (DraftKind::Address, _) => old,
            (DraftKind::Program, false) => ServerOptions { sandbox: false, ..old },
            (DraftKind::Program, true) => ServerOptions {
                sandbox: true,
                network: self.network,
                folders: filled(&self.folders),
                read_folders: filled(&self.read_folders),
                ..old
            },
        }
    }
}
