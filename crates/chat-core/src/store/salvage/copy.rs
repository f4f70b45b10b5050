//! Copies what can be read, with its keys.

use rusqlite::types::{Type, Value};
use rusqlite::{Connection, params, params_from_iter};

use super::Lost;
use crate::message::{MessageId, Role};
use crate::store::columns::read_word;
use crate::store::fault::{Outcome, is_damage};
use crate::store::missing::placeholder;
use crate::store::survey::{Survey, or_damage, survey};
use crate::store::{columns, messages};

/// Copies all tables. Gives what could not be read of them.
pub(super) fn all(old: &Connection, new: &Connection) -> Outcome<Lost> {
    let sessions = table(old, new, "sessions", |_, _| Ok(()))?;
    let messages = table(old, new, "messages", |old, key| placeholder_of(old, new, key))?;
    let waiting = table(old, new, "waiting", |_, _| Ok(()))?;
    owed_reports(old, new)?;
    journal(old, new)?;
    Ok(Lost { sessions, messages, waiting })
}

/// Copies what agents owe, also from where versions before 6 kept it.
fn owed_reports(old: &Connection, new: &Connection) -> Outcome<()> {
    table(old, new, "owed_reports", |_, _| Ok(()))?;
    new.execute_batch(
        "DELETE FROM owed_reports WHERE session NOT IN (SELECT key FROM sessions); \
         INSERT INTO owed_reports (id, session, recipient, about, by_call) \
         SELECT randomblob(16), key, parent, NULL, 0 FROM sessions \
         WHERE reports = 1 AND parent IS NOT NULL; \
         UPDATE sessions SET reports = NULL WHERE reports = 1",
    )?;
    Ok(())
}

/// Copies a table whose rowid is called `key`. What is to become of a row of which no more than the
/// key can be read, `instead` says.
fn table(
    old: &Connection,
    new: &Connection,
    name: &str,
    instead: impl Fn(&Connection, i64) -> Outcome<()>,
) -> Outcome<Survey> {
    let Some(columns) = common_columns(old, new, name)? else {
        return Ok(Survey { keys: Vec::new(), lost: vec![0..=i64::MAX] });
    };
    let mut survey = survey(old, name)?;
    let row = Row::new(name, &columns);
    for key in std::mem::take(&mut survey.keys) {
        if row.copy(old, new, key)? {
            survey.keys.push(key);
        } else {
            survey.lost.push(key..=key);
            instead(old, key)?;
        }
    }
    Ok(survey)
}

/// The statements that copy rows of one table.
pub(super) struct Row {
    name: String,
    select: String,
    insert: String,
}

impl Row {
    pub(super) fn new(name: &str, columns: &[String]) -> Self {
        let marks = vec!["?"; columns.len()].join(", ");
        let columns = columns.join(", ");
        Self {
            name: name.to_owned(),
            select: format!("SELECT {columns} FROM {name} NOT INDEXED WHERE key = ?1"),
            insert: format!("INSERT OR REPLACE INTO {name} ({columns}) VALUES ({marks})"),
        }
    }

    /// Copies a row. Says whether it could be read and makes sense.
    pub(super) fn copy(&self, old: &Connection, new: &Connection, key: i64) -> Outcome<bool> {
        let mut statement = old.prepare_cached(&self.select)?;
        let names: Vec<String> =
            statement.column_names().into_iter().map(ToOwned::to_owned).collect();
        let read = statement.query_row([key], |row| {
            (0..names.len()).map(|at| row.get::<_, Value>(at)).collect::<Result<Vec<_>, _>>()
        });
        let values = match read {
            Ok(values) => values,
            Err(error) if is_damage(&error) => return Ok(false),
            Err(rusqlite::Error::QueryReturnedNoRows) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let parts = names.iter().position(|name| name == "parts").map(|at| &values[at]);
        let parts_are_whole = match parts.filter(|_| self.name == "messages") {
            Some(Value::Text(parts)) => messages::is_whole(parts),
            Some(_) => false,
            None => true,
        };
        if !parts_are_whole {
            return Ok(false);
        }
        match new.prepare_cached(&self.insert)?.execute(params_from_iter(values)) {
            Ok(_) => Ok(true),
            // A value that the table would never have taken: something else stood in its place.
            Err(error)
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) =>
            {
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The columns that a table has in both databases; none where the older one lacks it.
pub(super) fn common_columns(
    old: &Connection,
    new: &Connection,
    table: &str,
) -> Outcome<Option<Vec<String>>> {
    let columns = |connection: &Connection| -> rusqlite::Result<Vec<String>> {
        let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
        statement.query_map([table], |row| row.get(0))?.collect()
    };
    let Some(there) = or_damage(columns(old))? else { return Ok(None) };
    let here = columns(new)?;
    let common: Vec<String> = here.into_iter().filter(|name| there.contains(name)).collect();
    Ok((!common.is_empty()).then_some(common))
}

/// Puts a placeholder where the content of a message cannot be read, but its place in the chat can.
fn placeholder_of(old: &Connection, new: &Connection, key: i64) -> Outcome<()> {
    let sql = "SELECT id, session, parent, role FROM messages NOT INDEXED WHERE key = ?1";
    let place = old.query_row(sql, [key], |row| {
        let role: Option<Role> = read_word(row.get_ref(3)?.as_str().unwrap_or_default());
        let parent = row.get::<_, Option<[u8; 16]>>(2)?.map(MessageId::from_bytes);
        Ok((MessageId::from_bytes(row.get(0)?), row.get::<_, i64>(1)?, parent, role))
    });
    let Some(Some((id, session, parent, role))) = or_damage(optional(place))? else {
        return Ok(());
    };
    insert_placeholder(new, Some(key), session, id, parent, role)
}

fn optional<T>(found: rusqlite::Result<T>) -> rusqlite::Result<Option<T>> {
    rusqlite::OptionalExtension::optional(found)
}

/// Stores a message that says it is missing.
pub(super) fn insert_placeholder(
    new: &Connection,
    key: Option<i64>,
    session: i64,
    id: MessageId,
    parent: Option<MessageId>,
    role: Option<Role>,
) -> Outcome<()> {
    let message = placeholder(id, parent, role);
    new.execute(
        "INSERT OR IGNORE INTO messages (key, id, session, parent, role, parts, time, ended, error) \
         VALUES (?1, ?2, ?3, ?4, ?5, '[]', ?6, ?7, ?8)",
        params![
            key,
            id.as_bytes(),
            session,
            parent.as_ref().map(MessageId::as_bytes),
            columns::word(&message.role)?,
            columns::nanoseconds(message.time),
            message.ended.as_ref().map(columns::word).transpose()?,
            columns::json(message.error.as_ref())?,
        ],
    )?;
    Ok(())
}

/// What had arrived of replies that were being written: from both ends to where it fails.
fn journal(old: &Connection, new: &Connection) -> Outcome<()> {
    let open: Vec<i64> = {
        let mut statement = new.prepare("SELECT key FROM messages WHERE ended IS NULL")?;
        statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?
    };
    let mut insert = new.prepare(
        "INSERT OR IGNORE INTO journal (message, seq, part, kind, text) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for message in open {
        for order in ["ASC", "DESC"] {
            let sql = format!(
                "SELECT seq, part, kind, text FROM journal WHERE message = ?1 ORDER BY seq {order}"
            );
            let whole = or_damage((|| {
                let mut statement = old.prepare_cached(&sql)?;
                let mut rows = statement.query([message])?;
                while let Some(row) = rows.next()? {
                    let (seq, part): (i64, i64) = (row.get(0)?, row.get(1)?);
                    if matches!(row.get_ref(3)?.data_type(), Type::Text) {
                        let (kind, text): (String, String) = (row.get(2)?, row.get(3)?);
                        insert.execute(params![message, seq, part, kind, text])?;
                    }
                }
                Ok(())
            })())?;
            if whole.is_some() {
                break;
            }
        }
    }
    Ok(())
}
