//! Hears what a server tells by itself, and says who asks it. Never waits: the client makes a task of each message.

use std::sync::Arc;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
    ProgressNotificationParam,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};

use super::asking::AskBook;
use super::progress::ProgressBook;

/// Told what a server says by itself. Must return at once.
pub trait ServerNews: Send + Sync + 'static {
    /// Its tools, prompts or resources are others now.
    fn lists_changed(&self);
}

/// Hears one server.
#[derive(Clone)]
pub(super) struct Handler {
    news: Arc<dyn ServerNews>,
    progress: ProgressBook,
    asking: AskBook,
}

impl Handler {
    pub(super) fn new(news: Arc<dyn ServerNews>, progress: ProgressBook, asking: AskBook) -> Self {
        Self { news, progress, asking }
    }
}

impl std::fmt::Debug for Handler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handler").finish_non_exhaustive()
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let natter = Implementation::new("natter", env!("CARGO_PKG_VERSION"));
        let mut can = ClientCapabilities::default();
        let form = FormElicitationCapability::default();
        can.elicitation = Some(ElicitationCapability::new().with_form(form));
        ClientConfig::new(can, natter)
    }

    async fn create_elicitation(
        &self,
        question: ElicitRequestParams,
        request: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let cancelled = ElicitResult::new(ElicitationAction::Cancel);
        tokio::select! {
            answer = self.asking.ask(&question) => Ok(answer),
            () = request.ct.cancelled() => Ok(cancelled),
        }
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.progress.came(progress);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.news.lists_changed();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.news.lists_changed();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.news.lists_changed();
    }
}
