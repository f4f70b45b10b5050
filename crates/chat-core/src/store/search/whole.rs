//! Finds sessions as a whole, without an index.

use super::query::{Fit, Query};
use crate::store::db_handle::DbHandle;
use crate::store::fault::Outcome;
use crate::store::record::{Hit, SearchGap, SearchResults};
use crate::store::search_filter::SearchFilter;
use crate::store::sessions;

/// All sessions that pass, newest first.
pub(super) fn all(db: &DbHandle, filter: &SearchFilter, limit: usize) -> Outcome<SearchResults> {
    let sessions = sessions::newest(db, usize::MAX)?.into_iter();
    let passing = sessions.filter(|session| filter.allows(session));
    Ok(SearchResults { hits: passing.take(limit).map(Hit::whole).collect(), gaps: Vec::new() })
}

/// Looks through the titles that can be read: the index is damaged.
pub(super) fn in_readable_titles(
    db: &DbHandle,
    query: &Query,
    filter: &SearchFilter,
    limit: usize,
) -> Outcome<SearchResults> {
    let sessions = sessions::newest(db, usize::MAX)?.into_iter();
    let titled = sessions.filter(|session| {
        filter.allows(session) && query.find(&session.title, Fit::Parts).is_some()
    });
    let gaps = vec![SearchGap::Damaged];
    Ok(SearchResults { hits: titled.take(limit).map(Hit::whole).collect(), gaps })
}
