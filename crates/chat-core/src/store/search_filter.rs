//! Narrows a search to sessions of one kind.

use std::collections::HashSet;
use std::path::Path;

use jiff::Timestamp;

use super::columns::instant;
use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::pattern::Pattern;
use crate::message::SessionMeta;

/// Which sessions a search is about. The default lets all pass; each field that is set leaves some out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchFilter {
    /// The name of the folder that they work in, or a part of its path.
    pub project: Option<String>,
    /// Only those that are pinned.
    pub pinned: bool,
    /// Only those that are archived.
    pub archived: bool,
    /// Last active at this moment or later.
    pub after: Option<Timestamp>,
    /// Last active before this moment.
    pub before: Option<Timestamp>,
    /// A part of `connection/model`.
    pub model: Option<String>,
}

impl SearchFilter {
    /// Whether all sessions pass.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a session passes.
    pub fn allows(&self, session: &SessionMeta) -> bool {
        let model = session.model.as_ref().map(ToString::to_string);
        self.allows_facts(&Facts {
            project: session.project.as_deref().map(Path::to_string_lossy).as_deref(),
            model: model.as_deref(),
            pinned: session.pinned.is_some(),
            archived: session.archived.is_some(),
            updated: session.updated,
        })
    }

    fn allows_facts(&self, facts: &Facts<'_>) -> bool {
        (!self.pinned || facts.pinned && !facts.archived)
            && (!self.archived || facts.archived)
            && self.after.is_none_or(|after| facts.updated >= after)
            && self.before.is_none_or(|before| facts.updated < before)
            && has(self.project.as_deref(), facts.project)
            && has(self.model.as_deref(), facts.model)
    }

    /// The keys of the sessions that pass; none where all do.
    pub(super) fn keys(&self, db: &DbHandle) -> Outcome<Option<HashSet<i64>>> {
        if self.is_empty() {
            return Ok(None);
        }
        let mut statement = db.connection.prepare_cached(
            "SELECT key, project, connection || '/' || model, pinned IS NOT NULL, \
             archived IS NOT NULL, updated FROM sessions WHERE deleted IS NULL",
        )?;
        let mut rows = statement.query([])?;
        let mut keys = HashSet::new();
        while let Some(row) = rows.next()? {
            let text = |column| -> rusqlite::Result<Option<&str>> {
                Ok(row.get_ref(column)?.as_str_or_null()?)
            };
            let facts = Facts {
                project: text(1)?,
                model: text(2)?,
                pinned: row.get(3)?,
                archived: row.get(4)?,
                updated: instant(row.get(5)?),
            };
            if self.allows_facts(&facts) {
                keys.insert(row.get(0)?);
            }
        }
        Ok(Some(keys))
    }
}

/// What a filter looks at.
struct Facts<'a> {
    project: Option<&'a str>,
    model: Option<&'a str>,
    pinned: bool,
    archived: bool,
    updated: Timestamp,
}

/// Whether a text has what is wanted, where anything is.
fn has(wanted: Option<&str>, text: Option<&str>) -> bool {
    let Some(pattern) = wanted.and_then(Pattern::new) else { return true };
    text.is_some_and(|text| !pattern.find(text).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ModelRef;

    #[test]
    fn each_part_of_a_filter_leaves_others_out() {
        let time = |text: &str| text.parse::<Timestamp>().unwrap();
        let session = SessionMeta {
            project: Some("/home/me/Ferry".into()),
            model: Some(ModelRef::new("local", "qwen3:8b")),
            pinned: Some(time("2026-01-01T00:00:00Z")),
            updated: time("2026-02-01T12:00:00Z"),
            ..SessionMeta::default()
        };
        let archived =
            SessionMeta { archived: Some(time("2026-03-01T00:00:00Z")), ..session.clone() };
        let none = SearchFilter::default();
        let filters = [
            (SearchFilter { project: Some("ferry".into()), ..none.clone() }, true, true),
            (SearchFilter { project: Some("road".into()), ..none.clone() }, false, false),
            (SearchFilter { model: Some("QWEN".into()), ..none.clone() }, true, true),
            (SearchFilter { model: Some("llama".into()), ..none.clone() }, false, false),
            (SearchFilter { pinned: true, ..none.clone() }, true, false),
            (SearchFilter { archived: true, ..none.clone() }, false, true),
            (SearchFilter { after: Some(session.updated), ..none.clone() }, true, true),
            (SearchFilter { before: Some(session.updated), ..none.clone() }, false, false),
            (none, true, true),
        ];
        for (filter, plain, stored_away) in filters {
            let allowed = (filter.allows(&session), filter.allows(&archived));
            assert_eq!(allowed, (plain, stored_away), "{filter:?}");
        }
        let no_folder = SessionMeta::default();
        let ferry = SearchFilter { project: Some("ferry".into()), ..SearchFilter::default() };
        assert!(!ferry.allows(&no_folder));
    }
}
