//! Says how a server is, for people.

use std::sync::Arc;

use crate::client::Client;
use crate::config::Server;
use crate::connection::{Snapshot, StartFault, State};

use super::ServerKey;
use super::entry::{Entry, MadeTools};
use crate::tools::{Offer, Offered};

/// How a server is.
#[derive(Clone, Debug)]
pub struct ServerStatus {
    /// Which it is.
    pub key: ServerKey,
    /// How it is configured.
    pub server: Server,
    /// Whether it runs.
    pub state: State,
    /// Why it last failed, also while it is started again.
    pub trouble: Option<StartFault>,
    /// Whether the user signed in to it.
    pub is_signed_in: bool,
    /// Whether it wants the user to sign in, or to allow more. It may run nevertheless.
    pub wants_sign_in: bool,
    /// What it calls itself, and its version, while it runs.
    pub program: Option<(String, String)>,
    /// The revision of the protocol that is spoken, while it runs.
    pub protocol: Option<String>,
    /// Its tools by name; none if they are not known yet.
    pub tools: Option<Arc<[ToolStatus]>>,
    /// How many more it has that cannot be used.
    pub unusable: usize,
    /// How many bytes of a model's window those take that are offered.
    pub bytes: u64,
}

/// One tool of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolStatus {
    /// Its name, as the server has it.
    pub name: String,
    /// Its name for models.
    pub model_name: String,
    /// What people call it.
    pub title: String,
    /// What it does.
    pub description: String,
    /// Whether the server says that it only reads.
    pub read_only: bool,
    /// Whether the user has it switched on.
    pub is_on: bool,
}

/// How a server is; `made` is what is known of its tools.
pub(super) fn of(entry: &Entry, snapshot: &Snapshot, made: Option<&MadeTools>) -> ServerStatus {
    let client = snapshot.client.as_ref();
    ServerStatus {
        key: entry.key().clone(),
        server: entry.server(),
        state: snapshot.state.clone(),
        wants_sign_in: snapshot.challenge.is_some(),
        trouble: snapshot.trouble.clone(),
        is_signed_in: entry.launcher().is_signed_in(),
        program: client.and_then(Client::server).map(|it| (it.name, it.version)),
        protocol: client.and_then(Client::version).map(|it| it.to_string()),
        tools: made.map(|made| Arc::clone(&made.shown)),
        unusable: made.map_or(0, |made| made.offer.unusable),
        bytes: made.map_or(0, |made| made.offer.bytes),
    }
}

/// The tools of a server for people.
pub(super) fn tools(offer: &Offer) -> Arc<[ToolStatus]> {
    let tool = |offered: &Offered| ToolStatus {
        name: offered.definition.tool.clone(),
        model_name: offered.tool.info().name().to_owned(),
        title: offered.definition.title.clone(),
        description: offered.definition.description.clone(),
        read_only: offered.definition.read_only,
        is_on: offered.is_on,
    };
    offer.tools.iter().map(tool).collect()
}
