//! Keeps the reports that agents owe: each until it waits in the session that is to hear of it, or the result of
//! the call that carries it is stored. Both happen in one transaction with the end of what is owed, so that a
//! program that is killed neither loses a report nor has it delivered twice.

use std::collections::HashSet;

use rusqlite::params;

use super::agent_tree::is_in_use;
use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::record::SessionRecord;
use super::{Store, sessions, waiting};
use crate::error::Result;
use crate::message::{Fid, Message, MessageId, Queued};

/// A report that an agent owes on its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwedReport {
    /// Its id. The message that it becomes has the same.
    pub id: MessageId,
    /// The session that is to hear of it.
    pub to: Fid,
    /// The message that it is about; none for the agent's last work.
    pub about: Option<MessageId>,
    /// Whether the result of a call is to carry it. After a kill it is only delivered if the work has ended.
    pub by_call: bool,
}

/// A report that is to wait in its recipient.
#[derive(Clone, Debug)]
pub struct ReportDelivery {
    /// What is owed no more then, unless it stays owed. Where none of it is owed, nothing is delivered.
    pub owed: Vec<MessageId>,
    /// Whether it is still owed after that: the message only says why it takes longer.
    pub stays_owed: bool,
    /// The message.
    pub message: Queued,
}

impl Store {
    /// Notes that an agent owes a report. Durable when it returns.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn owe_report(&self, agent: &Fid, owed: OwedReport) -> Result<()> {
        let agent = agent.clone();
        self.of(&agent).write(move |db| insert(db, &agent, &owed)).await
    }

    /// Notes that an agent owes a session a report on its last work, unless it does already. Gives the new
    /// report's id.
    ///
    /// # Errors
    /// As [`owe_report`](Self::owe_report).
    pub async fn owe_last_work(&self, agent: &Fid, to: &Fid) -> Result<Option<MessageId>> {
        let (agent, to, id) = (agent.clone(), to.clone(), MessageId::new());
        self.of(&agent).write(move |db| {
            let sql = "SELECT 1 FROM owed_reports WHERE session = ?1 AND recipient = ?2 AND about IS NULL";
            let session = sessions::key(db, &agent)?;
            if db.find(sql, params![session, to.as_str()], |_| Ok(()))?.is_some() {
                return Ok(None);
            }
            let owed = OwedReport { id, to: to.clone(), about: None, by_call: false };
            insert(db, &agent, &owed)?;
            Ok(Some(id))
        })
        .await
    }

    /// The reports that an agent owes, the oldest first; none where the agent was deleted.
    ///
    /// # Errors
    /// The store's.
    pub async fn owed_reports(&self, agent: &Fid) -> Result<Vec<OwedReport>> {
        let agent = agent.clone();
        self.of(&agent).read(move |db| of_agent(db, &agent)).await
    }

    /// Those of these reports that are still owed.
    ///
    /// # Errors
    /// The store's.
    pub async fn still_owed(&self, ids: Vec<MessageId>) -> Result<Vec<MessageId>> {
        let mut owed = HashSet::new();
        for store in self.all() {
            let ids = ids.clone();
            let found = store.read(move |db| {
                let of = |id: &MessageId| Ok(is_owed(db, *id)?.then_some(*id));
                ids.iter().filter_map(|id| of(id).transpose()).collect::<Outcome<Vec<_>>>()
            });
            owed.extend(found.await?);
        }
        Ok(ids.into_iter().filter(|id| owed.contains(id)).collect())
    }

    /// These reports are owed no more: nothing comes of what they are about.
    ///
    /// # Errors
    /// The store's.
    pub async fn forget_owed(&self, ids: Vec<MessageId>) -> Result<()> {
        for store in self.all() {
            let ids = ids.clone();
            let forget =
                move |db: &DbHandle| ids.iter().try_for_each(|id| remove(db, *id).map(drop));
            store.write(forget).await?;
        }
        Ok(())
    }

    /// These agents owe nothing any more, all of them or none.
    ///
    /// # Errors
    /// The store's.
    pub async fn clear_owed(&self, agents: Vec<Fid>) -> Result<()> {
        let sql =
            "DELETE FROM owed_reports WHERE session = (SELECT key FROM sessions WHERE fid = ?1)";
        for store in self.all() {
            let agents = agents.clone();
            let clear = move |db: &DbHandle| {
                agents.iter().try_for_each(|agent| db.run(sql, [agent.as_str()]).map(drop))
            };
            store.write(clear).await?;
        }
        Ok(())
    }

    /// A report is not carried by the result of a call any more: a message tells it.
    ///
    /// # Errors
    /// The store's.
    pub async fn owe_by_message(&self, id: MessageId) -> Result<()> {
        let sql = "UPDATE owed_reports SET by_call = 0 WHERE id = ?1";
        for store in self.all() {
            store.write(move |db| db.run(sql, [id.as_bytes()]).map(drop)).await?;
        }
        Ok(())
    }

    /// Another session hears of what an agent owes one that is gone. The results of calls go with their caller.
    ///
    /// # Errors
    /// The store's.
    pub async fn pass_on_owed(&self, agent: &Fid, from: &Fid, to: &Fid) -> Result<()> {
        let (agent, from, to) = (agent.clone(), from.clone(), to.clone());
        self.of(&agent).write(move |db| {
            let session = sessions::key(db, &agent)?;
            let sql =
                "DELETE FROM owed_reports WHERE session = ?1 AND recipient = ?2 AND by_call = 1";
            db.run(sql, params![session, from.as_str()])?;
            let sql =
                "UPDATE owed_reports SET recipient = ?3 WHERE session = ?1 AND recipient = ?2";
            db.run(sql, params![session, from.as_str(), to.as_str()])?;
            Ok(())
        })
        .await
    }

    /// Has reports wait in their recipient that are still owed, and gives those that do now. Durable when it
    /// returns; each at most once. `left_over` ones stay where they are while another process has the
    /// recipient: that may be reading them now.
    ///
    /// # Errors
    /// The store's: none is delivered.
    pub async fn deliver_reports(
        &self,
        to: &Fid,
        reports: Vec<ReportDelivery>,
        left_over: bool,
    ) -> Result<Vec<MessageId>> {
        let to = to.clone();
        self.of(&to)
            .write(move |db| {
                if left_over && is_in_use(db, &to)? {
                    return Ok(Vec::new());
                }
                let session = sessions::key(db, &to)?;
                let mut delivered = Vec::with_capacity(reports.len());
                for ReportDelivery { owed, stays_owed, message } in &reports {
                    let mut was_owed = false;
                    for id in owed {
                        was_owed |= if *stays_owed { is_owed(db, *id)? } else { remove(db, *id)? };
                    }
                    if was_owed {
                        waiting::put(db, session, message)?;
                        delivered.push(message.id);
                    }
                }
                Ok(delivered)
            })
            .await
    }

    /// Stores the result of a call of a session, which ends in the same transaction what it carries is owed. It is in
    /// no branch.
    #[cfg(test)]
    pub(crate) async fn keep_result(
        &self,
        fid: &Fid,
        result: std::sync::Arc<Message>,
    ) -> Result<()> {
        let fid = fid.clone();
        self.of(&fid)
            .write(move |db| super::messages::insert(db, sessions::key(db, &fid)?, &result))
            .await
    }

    /// The agents that owe reports, though no living process has them, each with a session that is to hear of
    /// some and that no living process has either. Those that cannot be read are left out.
    ///
    /// # Errors
    /// The store's.
    pub async fn unreported(&self) -> Result<Vec<(SessionRecord, Fid)>> {
        self.read(unreported).await
    }
}

/// What a message that is stored now tells is owed no more, and does not wait either.
pub(super) fn settle(db: &DbHandle, message: &Message) -> Outcome<()> {
    for id in message.carried_reports() {
        remove(db, id)?;
        waiting::remove(db, id)?;
    }
    Ok(())
}

fn insert(db: &DbHandle, agent: &Fid, owed: &OwedReport) -> Outcome<()> {
    db.run(
        "INSERT INTO owed_reports (id, session, recipient, about, by_call) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            owed.id.as_bytes(),
            sessions::key(db, agent)?,
            owed.to.as_str(),
            owed.about.as_ref().map(MessageId::as_bytes),
            owed.by_call,
        ],
    )?;
    Ok(())
}

fn is_owed(db: &DbHandle, id: MessageId) -> Outcome<bool> {
    let sql = "SELECT 1 FROM owed_reports WHERE id = ?1";
    Ok(db.find(sql, [id.as_bytes()], |_| Ok(()))?.is_some())
}

fn remove(db: &DbHandle, id: MessageId) -> Outcome<bool> {
    Ok(db.run("DELETE FROM owed_reports WHERE id = ?1", [id.as_bytes()])? > 0)
}

fn of_agent(db: &DbHandle, agent: &Fid) -> Outcome<Vec<OwedReport>> {
    let sql = "SELECT o.id, o.recipient, o.about, o.by_call FROM owed_reports o \
               JOIN sessions s ON s.key = o.session WHERE s.fid = ?1 AND s.deleted IS NULL ORDER BY o.key";
    let mut statement = db.connection.prepare_cached(sql)?;
    let rows = statement.query_map([agent.as_str()], |row| {
        Ok(OwedReport {
            id: MessageId::from_bytes(row.get(0)?),
            to: Fid::new(row.get::<_, String>(1)?),
            about: row.get::<_, Option<[u8; 16]>>(2)?.map(MessageId::from_bytes),
            by_call: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<std::result::Result<_, _>>()?)
}

fn unreported(db: &DbHandle) -> Outcome<Vec<(SessionRecord, Fid)>> {
    let sql = "SELECT s.fid, o.recipient FROM owed_reports o JOIN sessions s ON s.key = o.session \
               WHERE s.deleted IS NULL GROUP BY s.fid, o.recipient ORDER BY min(o.key)";
    let mut statement = db.connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        Ok((Fid::new(row.get::<_, String>(0)?), Fid::new(row.get::<_, String>(1)?)))
    })?;
    let mut all = Vec::new();
    for row in rows {
        let (agent, to) = row?;
        let record = match sessions::one(db, &agent) {
            Ok(record) => record,
            // The others are still worth hearing of.
            Err(fault) => {
                let error = fault.into_error(&db.paths.database);
                tracing::warn!(%error, "an agent that was interrupted could not be read");
                continue;
            }
        };
        if !record.in_use && !is_in_use(db, &to)? {
            all.push((record, to));
        }
    }
    Ok(all)
}
