//! Reads from the database itself what agents said, and what a chat was told of that.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;

use crate::message::Fid;
use crate::settings::Folders;

/// A database.
pub(super) struct Stored(Connection);

/// A reply of an agent that has ended.
pub(super) struct AgentReply {
    /// What it answers.
    pub asked: String,
    pub text: String,
    pub is_complete: bool,
    /// Whether a kill ended it.
    pub is_interrupted: bool,
    /// Whether its agent is deleted.
    pub is_deleted: bool,
}

impl Stored {
    pub(super) fn open(folder: &Path) -> Self {
        let connection = Connection::open(Folders::below(folder).database()).unwrap();
        connection.busy_timeout(super::PATIENCE).unwrap();
        Self(connection)
    }

    /// What was said to a chat, what waits there, and the results of its calls, as they are stored.
    pub(super) fn told(&self, chat: &Fid) -> Vec<String> {
        let sql = "SELECT m.parts FROM messages m JOIN sessions s ON s.key = m.session \
                   WHERE s.fid = ?1 AND m.role IN ('user', 'tool') UNION ALL \
                   SELECT w.content FROM waiting w JOIN sessions s ON s.key = w.session WHERE s.fid = ?1";
        let mut statement = self.0.prepare(sql).unwrap();
        let rows = statement.query_map([chat.as_str()], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// What an agent answered.
    pub(super) fn replies(&self, agent: &Fid) -> Vec<AgentReply> {
        let sql = "SELECT m.id, m.parent, m.role, m.parts, m.ended, s.deleted IS NOT NULL FROM messages m \
                   JOIN sessions s ON s.key = m.session WHERE s.fid = ?1 ORDER BY m.key";
        let mut statement = self.0.prepare(sql).unwrap();
        let mut rows = statement.query([agent.as_str()]).unwrap();
        let mut said: HashMap<Vec<u8>, String> = HashMap::new();
        let mut replies = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            let (id, parent) = (row.get(0).unwrap(), row.get::<_, Option<Vec<u8>>>(1).unwrap());
            let text = text(&row.get::<_, String>(3).unwrap());
            let ended: Option<String> = row.get(4).unwrap();
            let is_reply = row.get::<_, String>(2).unwrap() == "assistant";
            if let (true, Some(ended), Some(asked)) =
                (is_reply, ended, parent.and_then(|parent| said.get(&parent)))
            {
                replies.push(AgentReply {
                    asked: asked.clone(),
                    text: text.clone(),
                    is_complete: ended == "complete",
                    is_interrupted: ended == "interrupted",
                    is_deleted: row.get(5).unwrap(),
                });
            }
            said.insert(id, text);
        }
        replies
    }
}

/// The texts of parts.
fn text(parts: &str) -> String {
    let parts: Vec<Value> = serde_json::from_str(parts).unwrap();
    let texts = parts.iter().filter(|part| part["type"] == "text");
    texts.filter_map(|part| part["value"].as_str()).collect()
}
