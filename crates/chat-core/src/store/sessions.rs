//! Creates, lists, claims and gives up the rows of sessions.

use std::path::PathBuf;
use std::sync::LazyLock;

use jiff::{Timestamp, Zoned};
use rusqlite::{Row, ToSql, params};

use super::agent_tree;
use super::columns::{self, instant, nanoseconds, word};
use super::db_handle::{DatabaseKind, DbHandle};
use super::fault::Outcome;
use super::journal;
use super::missing;
use super::owner::Living;
use super::record::{NewSession, SessionRecord};
use crate::error::Kind;
use crate::message::{AgentState, Ending, Fid, MessageId, ModelRef, SessionMeta};

/// Names the columns that are read of a session: each by its name, at no cost for each row.
macro_rules! columns {
    ($($name:ident),* $(,)?) => {
        #[expect(non_camel_case_types, reason = "as the database calls them")]
        #[derive(Clone, Copy)]
        enum Column {
            $($name),*
        }

        /// The columns that [`record`] reads, but for what became of the reply at the head.
        const OF_ROW: &str = concat!($(stringify!($name), ", "),*);
    };
}

columns!(
    fid,
    title,
    titled_by_person,
    agent,
    connection,
    model,
    thinking,
    options,
    instructions,
    project,
    mode,
    rules,
    head,
    unread,
    created,
    updated,
    parent,
    name,
    folder,
    closed,
    asks,
    pinned,
    archived,
    owner
);

/// After those columns: what became of the reply at the head, where it wants the person's attention.
const TROUBLE: usize = Column::owner as usize + 1;
/// How the last work of an agent ended.
const ENDED: usize = TROUBLE + 1;
/// The error of that.
const ERROR: usize = ENDED + 1;

/// The columns that [`record`] reads.
static COLUMNS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{OF_ROW}(SELECT m.ended FROM messages m INDEXED BY messages_failed \
         WHERE m.id = sessions.head AND m.ended IN ('failed', 'interrupted')), \
         CASE WHEN parent IS NOT NULL THEN ({LAST} SELECT CASE \
         WHEN role = 'assistant' THEN ended WHEN role IN ('user', 'tool') THEN 'stopped' END \
         FROM last WHERE role <> 'ui' AND NOT is_deleted) END, \
         CASE WHEN parent IS NOT NULL THEN ({LAST} SELECT m.error FROM last, messages m \
         INDEXED BY messages_failed WHERE last.role = 'assistant' AND NOT last.is_deleted AND m.id = last.id \
         AND m.ended IN ('failed', 'interrupted')) END"
    )
});

/// The messages from the head of a session up to the last one that is neither the program's own nor deleted.
const LAST: &str = "WITH RECURSIVE last(id, role, ended, above, is_deleted) AS (\
    SELECT m.id, m.role, m.ended, m.parent, m.deleted IS NOT NULL \
    FROM messages m WHERE m.id = sessions.head UNION ALL \
    SELECT m.id, m.role, m.ended, m.parent, m.deleted IS NOT NULL \
    FROM last JOIN messages m ON m.id = last.above WHERE last.role = 'ui' OR last.is_deleted)";

/// The same without a look at the messages.
static ROW_ALONE: LazyLock<String> = LazyLock::new(|| format!("{OF_ROW}NULL, NULL, NULL"));

fn record(row: &Row<'_>, living: &mut Living<'_>) -> rusqlite::Result<SessionRecord> {
    let text = |column: Column| -> rusqlite::Result<Option<&str>> {
        Ok(row.get_ref(column as usize)?.as_str_or_null()?)
    };
    let connection: Option<String> = row.get(Column::connection as usize)?;
    let model: Option<String> = row.get(Column::model as usize)?;
    let word = |column: usize| -> rusqlite::Result<Option<Ending>> {
        Ok(row.get_ref(column)?.as_str_or_null()?.and_then(columns::read_word))
    };
    let error = row.get_ref(ERROR)?.as_str_or_null()?;
    let error = error.and_then(|json| serde_json::from_str(json).ok());
    let in_use = text(Column::owner)?.is_some_and(|owner| living.elsewhere(owner));
    let meta = SessionMeta {
        fid: Fid::new(row.get::<_, String>(Column::fid as usize)?),
        title: row.get(Column::title as usize)?,
        parent: text(Column::parent)?.map(Fid::new),
        name: row.get(Column::name as usize)?,
        folder: text(Column::folder)?.map(PathBuf::from),
        closed: row.get::<_, Option<bool>>(Column::closed as usize)?.unwrap_or_default(),
        agent: row.get(Column::agent as usize)?,
        model: connection.zip(model).map(|(c, m)| ModelRef::new(c, m)),
        thinking: text(Column::thinking)?.and_then(columns::read_word).unwrap_or_default(),
        options: columns::read_json(text(Column::options)?),
        instructions: row.get(Column::instructions as usize)?,
        project: text(Column::project)?.map(PathBuf::from),
        mode: text(Column::mode)?.and_then(columns::read_word).unwrap_or_default(),
        unread: row.get(Column::unread as usize)?,
        trouble: word(TROUBLE)?.and_then(Ending::trouble),
        ended: word(ENDED)?.map(|ended| AgentState::of_reply(Some(ended), error.as_ref())),
        pinned: row.get::<_, Option<i64>>(Column::pinned as usize)?.map(instant),
        archived: row.get::<_, Option<i64>>(Column::archived as usize)?.map(instant),
        created: instant(row.get(Column::created as usize)?),
        updated: instant(row.get(Column::updated as usize)?),
        in_use,
        // What a killed process waited for, it waits for no more.
        asks: in_use && row.get::<_, Option<bool>>(Column::asks as usize)?.unwrap_or_default(),
    };
    Ok(SessionRecord {
        meta,
        titled_by_person: row.get(Column::titled_by_person as usize)?,
        rules: columns::read_json(text(Column::rules)?),
        head: row.get::<_, Option<[u8; 16]>>(Column::head as usize)?.map(MessageId::from_bytes),
    })
}

/// The newest sessions that are not deleted, newest first. Those that cannot be read are left out.
pub(super) fn newest(db: &DbHandle, limit: usize) -> Outcome<Vec<SessionRecord>> {
    missing::or_else(db, || newest_by_index(db, limit), || missing::newest(db, limit))
}

fn newest_by_index(db: &DbHandle, limit: usize) -> Outcome<Vec<SessionRecord>> {
    let mut living = Living::new(&db.paths.owners);
    let mut statement = db.connection.prepare_cached(&format!(
        "SELECT {} FROM sessions WHERE deleted IS NULL ORDER BY updated DESC, key DESC \
         LIMIT ?1",
        *COLUMNS
    ))?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map([limit], |row| record(row, &mut living))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// One session that is not deleted.
pub(super) fn one(db: &DbHandle, fid: &Fid) -> Outcome<SessionRecord> {
    let by_index = || {
        let mut living = Living::new(&db.paths.owners);
        db.find(
            &format!("SELECT {} FROM sessions WHERE fid = ?1 AND deleted IS NULL", *COLUMNS),
            [fid.as_str()],
            |row| record(row, &mut living),
        )
    };
    let by_key = || {
        let mut living = Living::new(&db.paths.owners);
        readable(db, missing::session_key(db, fid)?, &mut living)
    };
    missing::or_else(db, by_index, by_key)?.ok_or_else(|| not_found(fid).into())
}

/// One session that is not deleted, by its key and without an index: what became of the reply at its
/// head is not known then.
pub(super) fn readable(
    db: &DbHandle,
    key: i64,
    living: &mut Living<'_>,
) -> Outcome<Option<SessionRecord>> {
    let mut read = |columns: &str| {
        let sql = format!(
            "SELECT {columns} FROM sessions NOT INDEXED WHERE key = ?1 AND deleted IS NULL"
        );
        db.find(&sql, [key], |row| record(row, living))
    };
    match read(&COLUMNS) {
        Err(fault) if fault.is_damage() => read(&ROW_ALONE),
        found => found,
    }
}

/// One session by its key.
pub(super) fn by_key(db: &DbHandle, key: i64, living: &mut Living<'_>) -> Outcome<SessionRecord> {
    db.find(&format!("SELECT {} FROM sessions WHERE key = ?1", *COLUMNS), [key], |row| {
        record(row, living)
    })?
    .ok_or_else(|| Kind::Internal.into())
}

/// That there is no such session.
pub(super) fn not_found(fid: &Fid) -> Kind {
    Kind::SessionNotFound { fid: fid.to_string() }
}

/// The key of a session, deleted or not.
pub(super) fn key(db: &DbHandle, fid: &Fid) -> Outcome<i64> {
    let by_index = || {
        db.find("SELECT key FROM sessions WHERE fid = ?1", [fid.as_str()], |row| row.get(0))?
            .ok_or_else(|| not_found(fid).into())
    };
    missing::or_else(db, by_index, || missing::session_key(db, fid))
}

/// The key of a session, deleted or not, and whether a living process writes it: this or another.
pub(super) fn key_and_writer(db: &DbHandle, fid: &Fid) -> Outcome<(i64, bool)> {
    let owners = &db.paths.owners;
    let key = key(db, fid)?;
    let by_key = "SELECT owner FROM sessions NOT INDEXED WHERE key = ?1";
    let owner: Option<String> = db.find(by_key, [key], |row| row.get(0))?.flatten();
    let lives = |owner: String| owner == owners.id() || owners.lives_elsewhere(&owner);
    Ok((key, owner.is_some_and(lives)))
}

/// Makes a session that this process owns, and gives its key and id.
pub(super) fn insert(db: &DbHandle, new: &NewSession, time: Timestamp) -> Outcome<(i64, Fid)> {
    let fid = free_fid(db, &Zoned::now())?;
    let meta = &new.meta;
    let time = nanoseconds(time);
    let name = match (&meta.parent, &meta.name) {
        (Some(parent), Some(name)) => {
            // Nobody works for what is deleted.
            one(db, parent)?;
            Some(agent_tree::free_name(db, parent, name)?)
        }
        (_, name) => name.clone(),
    };
    // An agent is called in the list what it is called in its tree.
    let title = name.as_ref().filter(|_| meta.title.is_empty()).unwrap_or(&meta.title);
    let values: &[(&str, &dyn ToSql)] = &[
        ("fid", &fid.as_str()),
        ("title", title),
        ("titled_by_person", &false),
        ("agent", &meta.agent),
        ("connection", &meta.model.as_ref().map(|m| &m.connection)),
        ("model", &meta.model.as_ref().map(|m| &m.model)),
        ("thinking", &word(&meta.thinking)?),
        ("options", &columns::options(&meta.options)?),
        ("instructions", &meta.instructions),
        ("unread", &meta.unread),
        ("created", &time),
        ("updated", &time),
        ("owner", &db.paths.owners.id()),
        ("project", &columns::path(meta.project.as_deref())),
        ("mode", &word(&meta.mode)?),
        ("rules", &columns::rules(&new.rules)?),
        ("parent", &meta.parent.as_ref().map(Fid::as_str)),
        ("name", &name),
        ("folder", &columns::path(meta.folder.as_deref())),
    ];
    let names: Vec<_> = values.iter().map(|(name, _)| *name).collect();
    let placeholders: Vec<_> = (1..=values.len()).map(|at| format!("?{at}")).collect();
    let sql =
        format!("INSERT INTO sessions ({}) VALUES ({})", names.join(", "), placeholders.join(", "));
    db.run(&sql, rusqlite::params_from_iter(values.iter().map(|(_, value)| value)))?;
    Ok((db.connection.last_insert_rowid(), fid))
}

/// The first free id of this second. Looks at few even where thousands begin in one second.
fn free_fid(db: &DbHandle, now: &Zoned) -> Outcome<Fid> {
    let mut base = now.strftime("%Y-%m-%d-%H-%M-%S").to_string();
    if db.paths.kind == DatabaseKind::Memory {
        base.insert_str(0, Fid::TEMPORARY);
    }
    let name = |n: u32| if n == 1 { base.clone() } else { format!("{base}-{n}") };
    let taken = |n: u32| -> Outcome<bool> {
        Ok(db.find("SELECT 1 FROM sessions WHERE fid = ?1", [name(n)], |_| Ok(()))?.is_some())
    };
    let mut free = 1;
    while taken(free)? {
        free *= 2;
    }
    let mut last_taken = free / 2;
    while free - last_taken > 1 {
        let middle = last_taken + (free - last_taken) / 2;
        if taken(middle)? {
            last_taken = middle;
        } else {
            free = middle;
        }
    }
    Ok(Fid::new(name(free)))
}

/// Makes this process the owner of a session, and gives its key. What a dead owner left
/// unfinished is ended as interrupted.
pub(super) fn own(db: &DbHandle, fid: &Fid, even_deleted: bool) -> Outcome<i64> {
    let owners = &db.paths.owners;
    let (key, owner, deleted) = db
        .find(
            "SELECT key, owner, deleted IS NOT NULL FROM sessions WHERE fid = ?1",
            [fid.as_str()],
            |row| Ok((row.get(0)?, row.get::<_, Option<String>>(1)?, row.get::<_, bool>(2)?)),
        )?
        .ok_or_else(|| not_found(fid))?;
    if deleted && !even_deleted {
        return Err(not_found(fid).into());
    }
    match owner {
        Some(owner) if owner == owners.id() => return Ok(key),
        Some(owner) if owners.lives_elsewhere(&owner) => return Err(Kind::SessionInUse.into()),
        Some(_) => {
            journal::interrupt_round(db, key)?;
        }
        None => {}
    }
    journal::interrupt(db, key)?;
    db.run(
        "UPDATE sessions SET owner = ?2, asks = NULL WHERE key = ?1",
        params![key, owners.id()],
    )?;
    Ok(key)
}

/// Sets the head, and when the session was last active.
pub(super) fn advance(db: &DbHandle, key: i64, head: MessageId, time: Timestamp) -> Outcome<()> {
    db.run("UPDATE sessions SET head = ?2 WHERE key = ?1", params![key, head.as_bytes()])?;
    touch(db, key, time)
}

/// Notes when a session was last active; never an earlier time, whatever the clock does.
pub(super) fn touch(db: &DbHandle, key: i64, time: Timestamp) -> Outcome<()> {
    db.run(
        "UPDATE sessions SET updated = ?2 WHERE key = ?1 AND updated < ?2",
        params![key, nanoseconds(time)],
    )?;
    Ok(())
}

/// Notes whether a session of this process waits for the user.
pub(super) fn set_asks(db: &DbHandle, fid: &Fid, asks: bool) -> Outcome<()> {
    db.run(
        "UPDATE sessions SET asks = ?3 WHERE fid = ?1 AND owner = ?2 AND asks IS NOT ?3",
        params![fid.as_str(), db.paths.owners.id(), asks.then_some(1)],
    )?;
    Ok(())
}

/// Gives a session up.
pub(super) fn release(db: &DbHandle, fid: &Fid) -> Outcome<()> {
    db.run(
        "UPDATE sessions SET owner = NULL, asks = NULL WHERE fid = ?1 AND owner = ?2",
        [fid.as_str(), db.paths.owners.id()],
    )?;
    Ok(())
}

/// Gives all sessions up, at the end.
pub(super) fn release_all(db: &DbHandle) -> Outcome<()> {
    let sql = "UPDATE sessions SET owner = NULL, asks = NULL WHERE owner = ?1";
    db.run(sql, [db.paths.owners.id()])?;
    Ok(())
}

/// Notes that the person chose the title, so that no better one replaces it.
pub(super) fn mark_titled(db: &DbHandle, key: i64) -> Outcome<()> {
    db.run("UPDATE sessions SET titled_by_person = TRUE WHERE key = ?1", [key])?;
    Ok(())
}
