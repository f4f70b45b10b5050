//! Migrates the database's tables: one file a version, applied in order, counted by SQLite's
//! `user_version`. A version that was released is never changed; a new one is added.

use rusqlite::Connection;

/// The steps from an empty file to today's tables. The first makes version 1.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/001.sql"),
    include_str!("migrations/002.sql"),
    include_str!("migrations/003.sql"),
    include_str!("migrations/004.sql"),
    include_str!("migrations/005.sql"),
    include_str!("migrations/006.sql"),
    include_str!("migrations/007.sql"),
    include_str!("migrations/008.sql"),
    include_str!("migrations/009.sql"),
    include_str!("migrations/010.sql"),
];

/// Today's version.
pub(super) const VERSION: u32 = MIGRATIONS.len() as u32;

/// The version that a database says; 0 for an empty one.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Brings a database from its version to the last of `steps`, all or nothing.
pub(super) fn migrate(connection: &mut Connection, steps: &[&str]) -> rusqlite::Result<()> {
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive)?;
    let from = version(&transaction)?;
    for step in steps.iter().skip(from as usize) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", steps.len() as i64)?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(connection: &Connection) -> Vec<String> {
        let mut statement = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
            .unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn steps_are_applied_once_each_in_order() {
        let steps = ["CREATE TABLE a (x)", "ALTER TABLE a RENAME TO b"];
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &steps[..1]).unwrap();
        assert_eq!((version(&connection).unwrap(), tables(&connection)), (1, vec!["a".into()]));
        migrate(&mut connection, &steps).unwrap();
        assert_eq!((version(&connection).unwrap(), tables(&connection)), (2, vec!["b".into()]));
        migrate(&mut connection, &steps).unwrap();
        assert_eq!(version(&connection).unwrap(), 2);
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_as_it_was() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &["CREATE TABLE a (x)"]).unwrap();
        let steps = ["CREATE TABLE a (x)", "CREATE TABLE b (x); CREATE TABLE a (x)"];
        assert!(migrate(&mut connection, &steps).is_err());
        assert_eq!((version(&connection).unwrap(), tables(&connection)), (1, vec!["a".into()]));
    }

    #[test]
    fn what_agents_owed_before_version_6_they_still_owe() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &MIGRATIONS[..5]).unwrap();
        let sql = "INSERT INTO sessions (key, fid, title, titled_by_person, agent, thinking, unread, created, \
                   updated, parent, reports) VALUES (?1, ?2, '', 0, 'just-ask', 'habit', 0, 1, 1, ?3, ?4)";
        for (key, fid, parent, reports) in
            [(1, "chat", None, None), (2, "a", Some("chat"), Some(1)), (3, "b", Some("chat"), None)]
        {
            connection.execute(sql, (key, fid, parent, reports)).unwrap();
        }
        migrate(&mut connection, MIGRATIONS).unwrap();
        let sql = "SELECT length(id), session, recipient, about IS NULL, by_call FROM owed_reports";
        let mut statement = connection.prepare(sql).unwrap();
        let owed = statement.query_map([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?, row.get(3)?, row.get(4)?))
        });
        let owed: Vec<(i64, i64, String, bool, bool)> = owed.unwrap().map(Result::unwrap).collect();
        assert_eq!(owed, [(16, 2, "chat".to_owned(), true, false)]);
        let sql = "SELECT count(*) FROM sessions WHERE reports IS NOT NULL";
        assert_eq!(connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    }
}
