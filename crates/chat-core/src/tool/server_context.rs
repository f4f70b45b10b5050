//! Defines what MCP servers give the user directly: resources to attach, and prompts to send.
//!
//! All of it comes from servers, and is data: front ends show it as text that cannot hide anything.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::ServerFault;

/// Gives what servers have for the user.
#[async_trait]
pub trait ServerContext: Send + Sync {
    /// The servers that are in use in a project, or in chats without one, each with what is known of it. Starts
    /// nothing, waits for nothing, and is cheap: it is called while the user types.
    fn known(&self, project: Option<&Path>) -> Vec<Arc<ServerOffer>>;

    /// Asks a server for its resources and prompts; it is started where it is not running. Its offer is among the
    /// [`known`](Self::known) ones from then on.
    ///
    /// # Errors
    /// Why that is not known.
    async fn ask(
        &self,
        project: Option<&Path>,
        server: &str,
    ) -> Result<Arc<ServerOffer>, ServerFault>;

    /// Reads a resource, also one that no list has.
    ///
    /// # Errors
    /// Why it cannot be read.
    async fn read(
        &self,
        project: Option<&Path>,
        server: &str,
        uri: &str,
    ) -> Result<Vec<ServerPart>, ServerFault>;

    /// Gets a prompt with these arguments.
    ///
    /// # Errors
    /// Why there is none.
    async fn prompt(
        &self,
        project: Option<&Path>,
        server: &str,
        prompt: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<Vec<PromptMessage>, ServerFault>;

    /// The values that an argument of a prompt may have that begin like what is typed; none where the server does not
    /// say. Starts no server.
    async fn complete(&self, project: Option<&Path>, typed: TypedArgument) -> Vec<String>;
}

/// A value that is being typed for a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypedArgument {
    /// The server's name in the configuration.
    pub server: String,
    /// The prompt.
    pub prompt: String,
    /// The argument that the value is for.
    pub argument: String,
    /// The value, as far as it is typed.
    pub value: String,
    /// The values of the other arguments.
    pub others: BTreeMap<String, String>,
}

/// What a server has for the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerOffer {
    /// Its name in the configuration, which no other server of the project has.
    pub server: String,
    /// Its resources; none while it was not asked.
    pub resources: Option<Vec<ResourceEntry>>,
    /// Its prompts; none while it was not asked.
    pub prompts: Option<Vec<PromptEntry>>,
}

/// A resource in a server's list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceEntry {
    /// Its URI, or the template of many.
    pub uri: String,
    /// What it is called; never empty.
    pub title: String,
    /// What it is; may be empty.
    pub description: String,
    /// Whether the URI is a template with variables in braces.
    pub is_template: bool,
}

/// A prompt in a server's list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptEntry {
    /// Its name for the server.
    pub name: String,
    /// What it is called; may be empty.
    pub title: String,
    /// What it is for; may be empty.
    pub description: String,
    /// Its arguments, in the server's order.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptArgument {
    /// Its name for the server.
    pub name: String,
    /// What it is called; may be empty.
    pub title: String,
    /// What it is for; may be empty.
    pub description: String,
    /// Whether the prompt cannot be had without it.
    pub is_required: bool,
}

/// A message of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptMessage {
    /// Whether it is written as the model's, and not as the user's.
    pub is_model: bool,
    /// What it says.
    pub parts: Vec<ServerPart>,
}

/// A piece of what a server gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerPart {
    /// A text.
    Text(String),
    /// Bytes, such as those of a picture.
    Data {
        /// What they are called: the last part of a URI, or empty.
        name: String,
        /// Their MIME type, as the server names it; may be empty.
        mime: String,
        /// The bytes.
        data: Arc<[u8]>,
    },
    /// A resource that is named and not included.
    Link {
        /// What it is called; may be empty.
        title: String,
        /// Its URI.
        uri: String,
    },
    /// Something that cannot be read; what the server calls it, which may be empty.
    Unreadable(String),
}
