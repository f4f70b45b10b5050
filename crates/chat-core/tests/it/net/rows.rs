//! What each conversation leaves in the database: every row of every table, and the files beside it.

use std::fmt::Write;
use std::path::Path;

use chat_core::settings::{ConnectionKind, Folders};
use chat_testkit::recording::{Placeholders, indented};
use rusqlite::Connection;
use rusqlite::types::Value as Column;
use serde_json::value::RawValue;

use super::talk::Talk;
use super::talks;

/// Nanoseconds since 1970 are larger than this, and nothing else that is stored.
const TIMES: i64 = 1_000_000_000_000_000_000;

macro_rules! recorded {
    ($($name:ident),*) => {$(
        #[tokio::test]
        async fn $name() {
            let mut talk = Talk::new(ConnectionKind::Ollama).await;
            talks::$name(&mut talk).await;
            talk.end().await;
            let rows = rows(talk.world.folder.path(), &mut talk.placeholders());
            insta::assert_snapshot!(stringify!($name), rows);
        }
    )*};
}

talks::each!(recorded);

#[tokio::test]
async fn schema() {
    let talk = Talk::new(ConnectionKind::Ollama).await;
    talk.end().await;
    let database = open(talk.world.folder.path());
    let version: u32 = database.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    let tables =
        texts(&database, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name");
    insta::assert_snapshot!("schema", format!("version {version}\n\n{}", tables.join(";\n\n")));
}

fn open(folder: &Path) -> Connection {
    Connection::open(Folders::below(folder).database()).unwrap()
}

fn texts(database: &Connection, query: &str) -> Vec<String> {
    let mut statement = database.prepare(query).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// All rows of the database below an engine's folder, but for the index of words, which follows from
/// them; and the names of the files of attachments.
pub fn rows(folder: &Path, placeholders: &mut Placeholders) -> String {
    let database = open(folder);
    let tables = texts(
        &database,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' \
         AND name NOT LIKE '%\\_index%' ESCAPE '\\' ORDER BY name",
    );
    let mut out = String::new();
    for table in tables {
        let query = match table.as_str() {
            // When what arrived was written is a matter of time: its pieces are put together.
            "journal" => {
                "SELECT message, part, kind, group_concat(text, '') AS text \
                 FROM (SELECT * FROM journal ORDER BY message, seq) \
                 GROUP BY message, part, kind ORDER BY 1, 2"
            }
            // Their names differ from run to run only where their contents do.
            "attachments" => "SELECT * FROM attachments ORDER BY message, hash",
            _ => &format!("SELECT * FROM {table} ORDER BY 1"),
        };
        let mut statement = database.prepare(query).unwrap();
        let names: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
        let mut rows = statement.query([]).unwrap();
        let _ = writeln!(out, "=== {table}");
        while let Some(row) = rows.next().unwrap() {
            out.push_str("---\n");
            for (at, name) in names.iter().enumerate() {
                let value = told(row.get(at).unwrap(), placeholders);
                let _ = writeln!(out, "{name}: {value}");
            }
        }
    }
    let attachments = Folders::below(folder).data.join("attachments");
    let files = std::fs::read_dir(attachments).into_iter().flatten();
    let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    names.sort();
    out.push_str("=== files of attachments\n");
    for name in names {
        let _ = writeln!(out, "{}", name.display());
    }
    out
}

fn told(column: Column, placeholders: &mut Placeholders) -> String {
    match column {
        Column::Null => "NULL".to_owned(),
        Column::Integer(number) if number > TIMES => "<time>".to_owned(),
        Column::Integer(number) => number.to_string(),
        Column::Real(number) => number.to_string(),
        Column::Blob(bytes) => {
            let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            });
            placeholders.apply(&hex)
        }
        Column::Text(text) => {
            let is_json =
                text.starts_with(['[', '{']) && serde_json::from_str::<&RawValue>(&text).is_ok();
            let text = placeholders.apply(&text);
            if is_json { indented(&text) } else { text }
        }
    }
}
