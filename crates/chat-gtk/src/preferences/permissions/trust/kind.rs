//! Reads and changes the two kinds of trust.

use std::path::{Path, PathBuf};

use chat_core::definitions::ForgottenTrust;
use chat_presentation::words;
use gettextrs::gettext;

use super::super::super::rows::PreferencesContext;

/// What of projects is trusted.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Kind {
    /// Agents, commands and skills.
    Definitions,
    /// Servers of tools.
    Servers,
}

impl Kind {
    pub(super) fn title(self) -> String {
        match self {
            Self::Definitions => gettext("Trusted Projects"),
            Self::Servers => gettext("Projects With Trusted Servers"),
        }
    }

    pub(super) fn description(self) -> String {
        match self {
            Self::Definitions => gettext("Their own agents, commands, and skills can be used"),
            Self::Servers => gettext("Natter starts their own MCP servers"),
        }
    }

    /// What is there where there is no such project.
    pub(super) fn none(self) -> String {
        match self {
            Self::Definitions => gettext("No trusted projects yet"),
            Self::Servers => gettext("No projects with trusted servers yet"),
        }
    }

    /// How a project comes into the list.
    pub(super) fn how_to(self) -> String {
        match self {
            Self::Definitions => gettext(
                "To trust a project, choose “Project’s Agents and Skills…” in the menu of one of its chats",
            ),
            Self::Servers => gettext("Natter asks when a chat’s project brings servers"),
        }
    }

    pub(super) async fn trusted(self, context: &PreferencesContext) -> Vec<PathBuf> {
        match self {
            Self::Definitions => context.manager.definitions().trusted().await,
            Self::Servers => {
                let trusted = context.servers.run(|it| async move { it.trusted().await });
                trusted.await.unwrap_or_default()
            }
        }
    }

    /// Takes the trust back, and gives what restores it.
    pub(super) async fn forget(
        self,
        context: &PreferencesContext,
        root: &Path,
    ) -> Option<ForgottenTrust> {
        match self {
            Self::Definitions => {
                let definitions = context.manager.definitions();
                context.keep(async { definitions.forget(root).await }).await.flatten()
            }
            Self::Servers => {
                let root = root.to_owned();
                let forgetting = context.servers.run(|it| async move { it.forget(&root).await });
                told(context, forgetting.await).flatten()
            }
        }
    }

    pub(super) async fn restore(self, context: &PreferencesContext, forgotten: &ForgottenTrust) {
        match self {
            Self::Definitions => {
                let definitions = context.manager.definitions();
                context.keep(async { definitions.restore(forgotten).await }).await;
            }
            Self::Servers => {
                let forgotten = forgotten.clone();
                let restoring =
                    context.servers.run(|it| async move { it.restore(&forgotten).await });
                told(context, restoring.await);
            }
        }
    }
}

/// What came of it, if all went well. Says so otherwise.
fn told<T>(context: &PreferencesContext, result: Option<std::io::Result<T>>) -> Option<T> {
    let done = result.and_then(Result::ok);
    if done.is_none() {
        context.tell(&words::mcp_trust_not_saved());
    }
    done
}
