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
    let keys = |db: &DbHandle| -> Outcome<Vec<(i64, MessageId)>> {
        let sql =
            "SELECT key, id FROM messages WHERE session = ?1 AND deleted IS NULL ORDER BY key";
        let mut statement = db.connection.prepare_cached(sql)?;
        let rows = statement
            .query_map([original], |row| Ok((row.get(0)?, MessageId::from_bytes(row.get(1)?))))?;
        Ok(rows.collect::<std::result::Result<_, _>>()?)
    };
    let keys = keys(db)?;
    let deleted = DeletedLinks::read(db, original)?;
    let ids: HashMap<MessageId, MessageId> =
        keys.iter().map(|(_, id)| (*id, MessageId::new())).collect();
    let new_id = |id: MessageId| ids.get(&id).copied();
    for (key, id) in &keys {
        // What cannot be read is missing in the copy as it is in the original.
        let read = || messages::one(db, *key, written);
        let Some(message) = missing::or_else(db, read, || Ok(None))? else { continue };
        let message = Message { parent: deleted.live(message.parent), ..message };
        let mut message = message.copy_as(ids[id], new_id);
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
