//! The protocol of OpenAI's chat completions, as spoken by many servers.

use async_trait::async_trait;

use super::{Client, ModelInfo, Reply, Request, Timeouts};
use crate::error::Result;
use crate::settings::{Connection, Key};

/// A client of an OpenAI-compatible server.
#[derive(Debug)]
pub(super) struct OpenAi {}

impl OpenAi {
    pub(super) fn new(
        connection: &Connection,
        key: Option<Key>,
        timeouts: Timeouts,
    ) -> Result<Self> {
        let _ = (connection, key, timeouts);
        todo!()
    }
}

#[async_trait]
impl Client for OpenAi {
    async fn models(&self) -> Result<Vec<ModelInfo>> {
        todo!()
    }

    async fn model(&self, name: &str) -> Result<ModelInfo> {
        let _ = name;
        todo!()
    }

    async fn chat(&self, request: Request) -> Result<Reply> {
        let _ = request;
        todo!()
    }
}
