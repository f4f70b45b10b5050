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
        let (store, fid) = (self.of(fid), fid.clone());
        // On its own: a transaction that has met a damaged page writes nothing more.
        let original = store.read(move |db| Original::read(db, &fid)).await?;
        store.write(move |db| copy(db, &original, &title)).await
    }
}

/// What is copied of a session.
struct Original {
    record: SessionRecord,
    messages: Vec<Message>,
}

impl Original {
    /// What cannot be read is missing in the copy as it is in the original.
    fn read(db: &DbHandle, fid: &Fid) -> Outcome<Self> {
        // Before the messages: the head is among them, whatever comes in the meantime.
        let record = sessions::one(db, fid)?;
        let (session, written) = sessions::key_and_writer(db, fid)?;
        let rows = missing::rows(db, session)?;
        let deleted = DeletedLinks::read(db, session)?;
        let messages = rows.iter().map(|row| -> Outcome<Message> {
            let message = missing::read(db, row, written)?;
            Ok(Message { parent: deleted.live(message.parent), ..message })
        });
        Ok(Self { record, messages: messages.collect::<Outcome<_>>()? })
    }
}

fn copy(db: &DbHandle, original: &Original, title: &str) -> Outcome<SessionRecord> {
    let Original { record, messages } = original;
    let meta = SessionMeta {
        title: title.to_owned(),
        parent: None,
        name: None,
        folder: None,
        closed: false,
        unread: false,
        ..record.meta.clone()
    };
    let new = NewSession { meta, rules: record.rules.clone(), ..NewSession::default() };
    let (key, fid) = sessions::insert(db, &new, Timestamp::now())?;
    let ids: HashMap<MessageId, MessageId> =
        messages.iter().map(|message| (message.id, MessageId::new())).collect();
    let new_id = |id: MessageId| ids.get(&id).copied();
    for message in messages {
        let mut message = message.copy_as(ids[&message.id], new_id);
        message.ended.get_or_insert(Ending::Interrupted);
        messages::insert(db, key, &message)?;
    }
    if let Some(head) = record.head.and_then(new_id) {
        sessions::advance(db, key, head, Timestamp::now())?;
    }
    sessions::mark_titled(db, key)?;
    sessions::release(db, &fid)?;
    sessions::one(db, &fid)
}
