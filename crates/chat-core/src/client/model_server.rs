//! Manages the models that a server itself has: fetches, removes, and unloads them.

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use jiff::Timestamp;

use crate::error::Result;

/// A server whose models can be managed over its protocol.
#[async_trait]
pub trait ModelServer: Send + Sync {
    /// Has the server fetch a model, or go on with it. Dropping the stream stops that; what had arrived
    /// stays there. The stream ends after [`PullStage::Done`], or with an error.
    async fn pull(&self, model: &str) -> Result<BoxStream<'static, Result<Pulled>>>;

    /// Deletes a model there.
    async fn remove(&self, model: &str) -> Result<()>;

    /// The models that are in the server's memory now.
    async fn loaded(&self) -> Result<Vec<LoadedModel>>;

    /// Has the server give up a model's memory. One that is not loaded stays so.
    async fn unload(&self, model: &str) -> Result<()>;
}

/// How far a server is with fetching a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pulled {
    /// What it does.
    pub stage: PullStage,
    /// Bytes that it has, of all parts that it has named so far.
    pub received: u64,
    /// All bytes of these.
    pub total: u64,
}

/// What a server does while it fetches a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullStage {
    /// It looks for the model.
    Preparing,
    /// It downloads.
    Fetching,
    /// It checks what arrived, and stores it.
    Verifying,
    /// The model is there.
    Done,
}

/// A model in a server's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedModel {
    /// Its name.
    pub name: String,
    /// The memory that it takes, in bytes.
    pub size: u64,
    /// How much of that is the graphics card's.
    pub graphics: u64,
    /// Its context window, in tokens, where the server says it.
    pub context_window: Option<u32>,
    /// When it is unloaded if nobody uses it; none where the server does not say, or never.
    pub until: Option<Timestamp>,
}
