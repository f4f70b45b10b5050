//! Copies a session with all its branches.

use std::collections::HashMap;

use jiff::Timestamp;

use super::branches::DeletedLinks;
use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::record::{NewSession, SessionRecord};
use super::{Store, messages, missing, sessions};
use crate::error::Result;
use crate::message::{Ending, Fid, Message, MessageId, SessionMeta};

impl Store {
    /// Makes a new session of this title with all messages of another one, under ids of their own. A reply that
    /// is being written is in it as far as it has come. The copy is nobody's agent, waits for nothing
    /// and is claimed by nobody.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn duplicate(&self, fid: &Fid, title: String) -> Result<SessionRecord> {
        let fid = fid.clone();
        self.of(&fid).write(move |db| duplicate(db, &fid, &title)).await
    }
}

fn duplicate(db: &DbHandle, fid: &Fid, title: &str) -> Outcome<SessionRecord> {
    let record = sessions::one(db, fid)?;
    let (original, written) = sessions::key_and_writer(db, fid)?;
    let meta = SessionMeta {
        title: title.to_owned(),
        parent: None,
        name: None,
        folder: None,
        closed: false,
        unread: false,
        ..record.meta
    };
    let new = NewSession { meta, rules: record.rules, ..NewSession::default() };
    let (copy, fid) = sessions::insert(db, &new, Timestamp::now())?;
    let rows = missing::rows(db, original)?;
    let deleted = DeletedLinks::read(db, original)?;
    let ids: HashMap<MessageId, MessageId> =
        rows.iter().map(|row| (row.id, MessageId::new())).collect();
    let new_id = |id: MessageId| ids.get(&id).copied();
    for row in &rows {
        // What cannot be read is missing in the copy as it is in the original.
        let message = missing::read(db, row, written)?;
        let message = Message { parent: deleted.live(message.parent), ..message };
        let mut message = message.copy_as(ids[&row.id], new_id);
        message.ended.get_or_insert(Ending::Interrupted);
        messages::insert(db, copy, &message)?;
    }
    if let Some(head) = record.head.and_then(new_id) {
        sessions::advance(db, copy, head, Timestamp::now())?;
    }
    sessions::mark_titled(db, copy)?;
    sessions::release(db, &fid)?;
    sessions::one(db, &fid)
}
