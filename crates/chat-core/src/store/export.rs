//! Gives all that is stored of a session, to be kept elsewhere and imported again.

use std::path::PathBuf;
use std::sync::Arc;

use chat_permission::Mode;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::branches::DeletedLinks;
use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::{Store, missing, sessions};
use crate::error::Result;
use crate::message::{Fid, Message, MessageId, ModelRef, Options, SessionMeta, Thinking};

/// A session with all its branches, as it is written to a file. Pictures are in it, as base64. What was allowed to
/// it is not: that counts only where it was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionExport {
    /// The version of the format. The first one had the shown branch alone, and no head.
    pub natter_export: u32,
    /// Its id.
    pub fid: Fid,
    /// Its title.
    #[serde(default)]
    pub title: String,
    /// Its agent's name.
    #[serde(default)]
    pub agent: String,
    /// Its model, where one was chosen.
    #[serde(default)]
    pub model: Option<ModelRef>,
    /// How much to think.
    #[serde(default)]
    pub thinking: Thinking,
    /// Its options.
    #[serde(default)]
    pub options: Options,
    /// What the user tells the model for this chat alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The folder that it works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<PathBuf>,
    /// What its tools may do without asking.
    #[serde(default)]
    pub mode: Mode,
    /// When the user pinned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Timestamp>,
    /// When the user archived it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<Timestamp>,
    /// When it began.
    pub created: Timestamp,
    /// When it last had a message.
    pub updated: Timestamp,
    /// The last message of the shown branch.
    #[serde(default)]
    pub head: Option<MessageId>,
    /// All messages that are not deleted, in the order in which they were stored.
    pub messages: Vec<Arc<Message>>,
}

impl Store {
    /// All that is stored of a session. A reply that is being written is in it as far as it has come.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn export(&self, fid: &Fid) -> Result<SessionExport> {
        let fid = fid.clone();
        self.of(&fid).read(move |db| export(db, &fid)).await
    }
}

fn export(db: &DbHandle, fid: &Fid) -> Outcome<SessionExport> {
    // Before the messages: the head is among them, whatever comes in the meantime.
    let record = sessions::one(db, fid)?;
    let (session, written) = sessions::key_and_writer(db, fid)?;
    // What cannot be read is missing there as it is here.
    let rows = missing::rows(db, session)?;
    let deleted = DeletedLinks::read(db, session)?;
    let read = |row| -> Outcome<Arc<Message>> {
        let message = missing::read(db, row, written)?;
        Ok(Arc::new(Message { parent: deleted.live(message.parent), ..message }))
    };
    let messages = rows.iter().map(read).collect::<Outcome<_>>()?;
    let SessionMeta {
        fid,
        title,
        agent,
        model,
        thinking,
        options,
        instructions,
        project,
        mode,
        pinned,
        archived,
        created,
        updated,
        ..
    } = record.meta;
    Ok(SessionExport {
        natter_export: chat_import::EXPORT_VERSION,
        fid,
        title,
        agent,
        model,
        thinking,
        options,
        instructions,
        project,
        mode,
        pinned,
        archived,
        created,
        updated,
        head: record.head,
        messages,
    })
}
