//! Finds out which rows of a table can still be read when pages of the file are damaged: by ranges
//! of keys, halved around what fails. Only SQL; nothing here knows how a page looks.

use std::ops::RangeInclusive;

use rusqlite::Connection;

use super::fault::is_damage;

/// The rows of one table.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Survey {
    /// The keys that can be reached, in order.
    pub(super) keys: Vec<i64>,
    /// The keys that nothing is known of: there may have been rows.
    pub(super) lost: Vec<RangeInclusive<i64>>,
}

impl Survey {
    /// Whether nothing is known of this key.
    pub(super) fn lost(&self, key: i64) -> bool {
        self.lost.iter().any(|range| range.contains(&key))
    }
}

/// Looks for the rows of a table whose rowid is called `key`.
///
/// # Errors
/// What is no damage of the file.
pub(super) fn survey(connection: &Connection, table: &str) -> rusqlite::Result<Survey> {
    let mut search = Search { connection, table, survey: Survey::default() };
    search.range(0, i64::MAX)?;
    let Survey { mut keys, mut lost } = search.survey;
    keys.sort_unstable();
    keys.dedup();
    lost.sort_unstable_by_key(|range| *range.start());
    let mut joined: Vec<RangeInclusive<i64>> = Vec::new();
    for range in lost {
        match joined.last_mut() {
            Some(last) if last.end().checked_add(1) == Some(*range.start()) => {
                *last = *last.start()..=*range.end();
            }
            _ => joined.push(range),
        }
    }
    Ok(Survey { keys, lost: joined })
}

struct Search<'a> {
    connection: &'a Connection,
    table: &'a str,
    survey: Survey,
}

impl Search<'_> {
    /// Reads from both ends of a range to where it fails, and then what lies between.
    fn range(&mut self, low: i64, high: i64) -> rusqlite::Result<()> {
        let mut low = low;
        if self.walk(low, high, "ASC", |key, keys| {
            low = key.saturating_add(1);
            keys.push(key);
        })? {
            return Ok(());
        }
        let mut end = high;
        let reached_start = self.walk(low, high, "DESC", |key, keys| {
            end = key - 1;
            keys.push(key);
        })?;
        if reached_start || low > end { Ok(()) } else { self.gap(low, end, end == i64::MAX) }
    }

    /// Gives each key of a range until the end, or until reading fails. Says which it was.
    fn walk(
        &mut self,
        low: i64,
        high: i64,
        order: &str,
        mut each: impl FnMut(i64, &mut Vec<i64>),
    ) -> rusqlite::Result<bool> {
        let sql = format!(
            "SELECT key FROM {} NOT INDEXED WHERE key BETWEEN ?1 AND ?2 ORDER BY key {order}",
            self.table
        );
        let keys = &mut self.survey.keys;
        let mut read = || {
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query([low, high])?;
            while let Some(row) = rows.next()? {
                each(row.get(0)?, keys);
            }
            Ok(())
        };
        or_damage(read()).map(|read| read.is_some())
    }

    /// A range that fails at both of its ends.
    fn gap(&mut self, low: i64, high: i64, open: bool) -> rusqlite::Result<()> {
        if open {
            return self.tail(low);
        }
        if low == high {
            self.survey.lost.push(low..=high);
            return Ok(());
        }
        let middle = low + (high - low) / 2;
        self.range(low, middle)?;
        self.range(middle + 1, high)
    }

    /// What lies above a key and fails at once, with no end known: ever larger steps find the next
    /// row that can be reached, if there is one.
    fn tail(&mut self, low: i64) -> rusqlite::Result<()> {
        let sql = format!(
            "SELECT key FROM {} NOT INDEXED WHERE key >= ?1 ORDER BY key LIMIT 1",
            self.table
        );
        for step in (0..i64::BITS - 2).map(|bits| 1_i64 << bits) {
            let Some(above) = low.checked_add(step) else { break };
            let next: rusqlite::Result<Option<i64>> = (|| {
                let mut statement = self.connection.prepare_cached(&sql)?;
                let mut rows = statement.query([above])?;
                rows.next()?.map(|row| row.get(0)).transpose()
            })();
            match or_damage(next)? {
                Some(Some(key)) => {
                    self.gap(low, key - 1, false)?;
                    return self.range(key, i64::MAX);
                }
                Some(None) => return self.gap(low, above - 1, false),
                None => {}
            }
        }
        self.survey.lost.push(low..=i64::MAX);
        Ok(())
    }
}

/// None where the file is damaged.
pub(super) fn or_damage<T>(read: rusqlite::Result<T>) -> rusqlite::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if is_damage(&error) => Ok(None),
        Err(error) => Err(error),
    }
}
