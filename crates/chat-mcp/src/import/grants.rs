//! Takes out of a foreign server what would grant it more than others get, so that the user decides.

use crate::config::ServerOptions;

/// What a foreign text wants a server to be allowed. The server is allowed none of it until the user chooses it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedGrants {
    /// Whether it wants to run outside of the sandbox.
    pub no_sandbox: bool,
    /// Whether it wants the network.
    pub network: bool,
    /// Folders that it wants to change.
    pub folders: Vec<String>,
    /// Folders that it wants to read.
    pub read_folders: Vec<String>,
}

impl RequestedGrants {
    /// Takes what is wanted out of the options.
    pub(super) fn take(options: &mut ServerOptions) -> Self {
        let default = ServerOptions::default();
        Self {
            no_sandbox: !std::mem::replace(&mut options.sandbox, default.sandbox),
            network: std::mem::replace(&mut options.network, default.network),
            folders: std::mem::take(&mut options.folders),
            read_folders: std::mem::take(&mut options.read_folders),
        }
    }
}
