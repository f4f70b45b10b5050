//! Defines what the tools' code does for the user directly, without a model and without a call.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;

use super::{Bounds, ServerContext};
use crate::error::Result;
use crate::settings::ToolSettings;

/// What there is of it in a program.
#[derive(Clone, Default)]
pub struct ToolServices {
    /// Reads pages that the person names.
    pub pages: Option<Arc<dyn PageReader>>,
    /// Tells what keeps commands in bounds.
    pub bounds: Option<Arc<dyn BoundsReport>>,
    /// Removes what commands left behind.
    pub left_overs: Option<Arc<dyn LeftOvers>>,
    /// Gives what MCP servers have for the user.
    pub server_context: Option<Arc<dyn ServerContext>>,
}

impl std::fmt::Debug for ToolServices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolServices")
            .field("pages", &self.pages.is_some())
            .field("bounds", &self.bounds.is_some())
            .field("left_overs", &self.left_overs.is_some())
            .field("server_context", &self.server_context.is_some())
            .finish()
    }
}

/// Reads web pages that the user named, which need no permission.
#[async_trait]
pub trait PageReader: Send + Sync {
    /// The text of a page. Dropping the future ends the fetching.
    ///
    /// # Errors
    /// `PageNotFetched`.
    async fn read(&self, url: &str, settings: &ToolSettings) -> Result<String>;
}

/// Tells what keeps the commands of tools in bounds on this machine.
#[async_trait]
pub trait BoundsReport: Send + Sync {
    /// What does, found out once.
    async fn bounds(&self) -> Bounds;
}

/// Removes what commands of tools leave in a project where the program is killed.
pub trait LeftOvers: Send + Sync {
    /// Removes it, and nothing that may be the user's or that a command still needs. Blocks.
    fn clear(&self, project: &Path);
}
