//! Ollama's own protocol.

use async_trait::async_trait;

use super::{Client, ModelInfo, Reply, Request, Timeouts};
use crate::error::Result;
use crate::settings::{Connection, Key};

/// A client of an Ollama server.
#[derive(Debug)]
pub(super) struct Ollama {}

impl Ollama {
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
impl Client for Ollama {
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
