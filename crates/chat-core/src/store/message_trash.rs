//! Lists deleted messages that can still be restored, and removes them for good.

use rusqlite::params;

use super::branches::DeletedLinks;
use super::columns::{self, instant};
use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::message_deletion::close_gaps;
use super::record::TrashedMessages;
use super::{Store, attachments, messages, missing, sessions};
use crate::error::Result;
use crate::message::{DeletedMessages, Fid, MessageId, Role};

/// How much of the first message is given, in characters.
const EXCERPT: usize = 200;

const DELETED: &str = "SELECT m.session, m.deleted, m.key, m.id, m.role, above.role \
    FROM messages m INDEXED BY messages_deleted JOIN sessions s ON s.key = m.session \
    LEFT JOIN messages above ON above.id = m.parent \
    WHERE m.deleted IS NOT NULL AND s.deleted IS NULL ORDER BY m.deleted DESC, m.session, m.key";

/// Messages that were deleted at once.
struct Group {
    session: i64,
    deleted: i64,
    ids: Vec<MessageId>,
    /// The keys of those that people see.
    shown: Vec<i64>,
}

impl Store {
    /// The deleted messages of sessions that are not deleted, those that were deleted at once together, the last
    /// deleted first.
    ///
    /// # Errors
    /// The store's.
    pub async fn message_trash(&self) -> Result<Vec<TrashedMessages>> {
        self.read(|db| missing::or_else(db, || trash(db), || Ok(Vec::new()))).await
    }

    /// Removes messages for good, where they still are deleted. What follows them keeps its place.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn remove_messages(&self, fid: &Fid, ids: Vec<MessageId>) -> Result<()> {
        let fid = fid.clone();
        self.write(move |db| remove(db, &fid, &ids)).await?;
        // On its own, so that a picture goes only once no committed message needs it.
        self.write(attachments::sweep).await
    }
}

fn trash(db: &DbHandle) -> Outcome<Vec<TrashedMessages>> {
    let mut found = Vec::new();
    for group in groups(db)? {
        // A summary alone is nothing that people know of.
        let Some(first) = group.shown.first() else { continue };
        let title = "SELECT fid, title FROM sessions WHERE key = ?1";
        let session = db.find(title, [group.session], |row| {
            Ok((Fid::new(row.get::<_, String>(0)?), row.get::<_, String>(1)?))
        })?;
        let Some((fid, title)) = session else { continue };
        let text = messages::plain_text(db, *first)?.map(|(_, text)| text).unwrap_or_default();
        found.push(TrashedMessages {
            fid,
            title,
            deleted: instant(group.deleted),
            excerpt: text.trim_start().chars().take(EXCERPT).collect(),
            messages: DeletedMessages {
                messages: group.ids,
                shown: group.shown.len(),
                head: None,
                new_head: None,
            },
        });
    }
    Ok(found)
}

fn groups(db: &DbHandle) -> Outcome<Vec<Group>> {
    let is_reply = |role: Option<Role>| matches!(role, Some(Role::Assistant | Role::Tool));
    let mut statement = db.connection.prepare_cached(DELETED)?;
    let mut rows = statement.query([])?;
    let mut groups: Vec<Group> = Vec::new();
    while let Some(row) = rows.next()? {
        let (session, deleted, key) = (row.get(0)?, row.get(1)?, row.get(2)?);
        if groups.last().is_none_or(|last| (last.session, last.deleted) != (session, deleted)) {
            groups.push(Group { session, deleted, ids: Vec::new(), shown: Vec::new() });
        }
        let Some(group) = groups.last_mut() else { continue };
        group.ids.push(MessageId::from_bytes(row.get(3)?));
        let role = |at| -> Outcome<Option<Role>> {
            Ok(row.get_ref(at)?.as_str().ok().and_then(columns::read_word))
        };
        // Of a reply with tools only its first message counts.
        let (own, above) = (role(4)?, role(5)?);
        if own == Some(Role::User) || (is_reply(own) && !is_reply(above)) {
            group.shown.push(key);
        }
    }
    Ok(groups)
}

fn remove(db: &DbHandle, fid: &Fid, ids: &[MessageId]) -> Outcome<()> {
    let session = sessions::key(db, fid)?;
    let gone = DeletedLinks::read(db, session)?.only(ids);
    close_gaps(db, session, &gone)?;
    for id in gone.ids() {
        let sql = "DELETE FROM messages WHERE id = ?1 AND session = ?2 AND deleted IS NOT NULL";
        db.run(sql, params![id.as_bytes(), session])?;
    }
    Ok(())
}
