//! Gives what servers have for the user: resources to attach, and prompts to send.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use chat_core::error::ServerFault;
use chat_core::tool::{PromptMessage, ServerContext, ServerOffer, ServerPart, TypedArgument};

use super::entry::Entry;
use super::{START, Servers};
use crate::client::{Client, Fault};
use crate::connection::StartFault;

impl Servers {
    fn entry_of(&self, project: Option<&Path>, server: &str) -> Result<Arc<Entry>, ServerFault> {
        let entries = self.lock().of_session(project);
        let found = entries.into_iter().find(|entry| entry.key().name == server);
        found.ok_or(ServerFault::Unknown)
    }

    /// A server that runs, and who speaks with it.
    async fn running(
        &self,
        project: Option<&Path>,
        server: &str,
    ) -> Result<(Arc<Entry>, Client), ServerFault> {
        self.refresh(project).await;
        let entry = self.entry_of(project, server)?;
        let client = entry.connection().ready(START).await.map_err(fault)?;
        Ok((entry, client))
    }
}

fn fault(why: StartFault) -> ServerFault {
    match why {
        StartFault::Client(fault) => fault.into(),
        _ => ServerFault::NotConnected,
    }
}

#[async_trait]
impl ServerContext for Servers {
    fn known(&self, project: Option<&Path>) -> Vec<Arc<ServerOffer>> {
        self.look(project);
        self.lock().of_session(project).iter().map(|entry| entry.for_user()).collect()
    }

    async fn ask(
        &self,
        project: Option<&Path>,
        server: &str,
    ) -> Result<Arc<ServerOffer>, ServerFault> {
        let (entry, client) = self.running(project, server).await?;
        let resources = async {
            let mut all = client.resources().await?.items;
            all.extend(client.resource_templates().await?.items);
            Ok::<_, Fault>(all)
        };
        let (resources, prompts) = tokio::join!(resources, client.prompts());
        let offer = Arc::new(ServerOffer {
            server: server.to_owned(),
            resources: Some(resources?),
            prompts: Some(prompts?.items),
        });
        entry.set_for_user(Arc::clone(&offer));
        Ok(offer)
    }

    async fn read(
        &self,
        project: Option<&Path>,
        server: &str,
        uri: &str,
    ) -> Result<Vec<ServerPart>, ServerFault> {
        let (_, client) = self.running(project, server).await?;
        Ok(client.read_resource(uri).await?)
    }

    async fn prompt(
        &self,
        project: Option<&Path>,
        server: &str,
        prompt: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<Vec<PromptMessage>, ServerFault> {
        let (_, client) = self.running(project, server).await?;
        Ok(client.prompt(prompt, arguments).await?)
    }

    async fn complete(&self, project: Option<&Path>, typed: TypedArgument) -> Vec<String> {
        let Ok(entry) = self.entry_of(project, &typed.server) else { return Vec::new() };
        let Some(client) = entry.connection().snapshot().client else { return Vec::new() };
        let TypedArgument { prompt, argument, value, others, .. } = typed;
        client.complete(&prompt, &argument, &value, others).await.unwrap_or_default()
    }
}
