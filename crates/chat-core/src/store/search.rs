//! Searches sessions by their text. Two indexes propose messages: that of trigrams finds parts of
//! words and identifiers; that of words finds short ones, and all without regard to accents.

mod query;
mod whole;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use rusqlite::params;

use super::db_handle::DbHandle;
use super::fault::Outcome;
use super::indexing;
use super::messages;
use super::missing;
use super::owner::Living;
use super::record::{Hit, SearchGap, SearchResults};
use super::search_filter::SearchFilter;
use super::sessions;
use crate::message::MessageId;
use query::{Fit, Query, excerpt};
use whole::{all, in_readable_titles};

/// How many messages are ranked. More takes longer than a person who types should wait: 250,000 took
/// more than a second.
const RANKED: i64 = 2_000;

/// How many texts are read in vain, where only the texts themselves can tell: 10,000 take about as
/// long as a person who types should wait.
const READ_IN_VAIN: usize = 10_000;

/// How many of the newest messages are looked through for what no index has.
const NEWEST: i64 = READ_IN_VAIN as i64;

/// The index of trigrams.
const PARTS: &str = "text_index";

/// The index of whole words.
const WORDS: &str = "word_index";

/// Finds sessions: those whose title has it, newest first, then the others by how well their
/// messages do. Where very many messages have it, how well says little and takes long to know: then
/// the newest come first, and no more is read than the answer takes.
///
/// Short words are looked for as words of their own first, then at the beginnings of words; titles and
/// messages that have them within longer words come last.
pub(super) fn search(
    db: &DbHandle,
    text: &str,
    filter: &SearchFilter,
    limit: usize,
) -> Outcome<SearchResults> {
    let query = Query::new(text);
    if query.is_empty() {
        return if filter.is_empty() {
            Ok(SearchResults::default())
        } else {
            all(db, filter, limit)
        };
    }
    let mut results = missing::or_else(
        db,
        || run(db, &query, filter, limit),
        || in_readable_titles(db, &query, filter, limit),
    )?;
    if query.is_one_letter() {
        results.gaps.push(SearchGap::OneLetter);
    }
    if query.is_cut {
        results.gaps.push(SearchGap::Cut);
    }
    Ok(results)
}

fn run(
    db: &DbHandle,
    query: &Query,
    filter: &SearchFilter,
    limit: usize,
) -> Outcome<SearchResults> {
    let titled = in_titles(db, query)?;
    let mut hits = Hits::new(db, query, filter.keys(db)?, limit);
    hits.add_titled(&titled.words)?;
    if query.has_short_words() {
        hits.add_by_words()?;
        hits.add_titled(&titled.beginnings)?;
        hits.add_by_beginnings()?;
        hits.add_by_parts()?;
    } else {
        hits.add_by_parts()?;
        hits.add_by_words()?;
    }
    let gap = if query.is_short_signs() {
        let all = hits.add_by_reading()?;
        (!all).then_some(SearchGap::NewestOnly)
    } else {
        indexing::is_unfinished(db)?.then_some(SearchGap::Indexing)
    };
    hits.add_titled(&titled.parts)?;
    Ok(SearchResults { hits: hits.found, gaps: gap.into_iter().collect() })
}

/// The sessions whose titles hold all words, newest first.
#[derive(Default)]
struct Titled {
    /// Short ones as words of their own.
    words: Vec<i64>,
    /// Short ones at the beginnings of others.
    beginnings: Vec<i64>,
    /// Short ones within others.
    parts: Vec<i64>,
}

fn in_titles(db: &DbHandle, query: &Query) -> Outcome<Titled> {
    let mut statement = db.connection.prepare_cached(
        "SELECT key, title FROM sessions WHERE deleted IS NULL ORDER BY updated DESC",
    )?;
    let mut rows = statement.query([])?;
    let mut titled = Titled::default();
    while let Some(row) = rows.next()? {
        let title = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        if query.find(title, Fit::Words).is_some() {
            titled.words.push(row.get(0)?);
        } else if query.has_short_words() && query.find(title, Fit::Beginnings).is_some() {
            titled.beginnings.push(row.get(0)?);
        } else if query.has_short_words() && query.find(title, Fit::Parts).is_some() {
            titled.parts.push(row.get(0)?);
        }
    }
    Ok(titled)
}

/// Where a message has it.
struct TextMatch {
    message: MessageId,
    excerpt: String,
    highlights: Vec<Range<usize>>,
}

/// What was found so far.
struct Hits<'a> {
    db: &'a DbHandle,
    query: &'a Query,
    living: Living<'a>,
    limit: usize,
    found: Vec<Hit>,
    /// The sessions among them.
    seen: HashSet<i64>,
    /// The sessions that are looked for; none where all are.
    allowed: Option<HashSet<i64>>,
    /// How many more texts may be read in vain.
    in_vain: usize,
}

impl<'a> Hits<'a> {
    fn new(
        db: &'a DbHandle,
        query: &'a Query,
        allowed: Option<HashSet<i64>>,
        limit: usize,
    ) -> Self {
        let living = Living::new(&db.paths.owners);
        let (found, seen) = (Vec::new(), HashSet::new());
        Self { db, query, living, limit, found, seen, allowed, in_vain: READ_IN_VAIN }
    }

    /// Whether a session is looked for and not found yet.
    fn is_wanted(&self, session: i64) -> bool {
        !self.seen.contains(&session)
            && self.allowed.as_ref().is_none_or(|allowed| allowed.contains(&session))
    }

    fn is_full(&self) -> bool {
        self.found.len() >= self.limit
    }

    fn add(&mut self, session: i64, text_match: Option<TextMatch>) -> Outcome<()> {
        self.seen.insert(session);
        let session = sessions::by_key(self.db, session, &mut self.living)?;
        self.found.push(match text_match {
            Some(TextMatch { message, excerpt, highlights }) => {
                Hit { session, excerpt: Some(excerpt), highlights, message: Some(message) }
            }
            None => Hit::whole(session),
        });
        Ok(())
    }

    /// Adds sessions that are hits by their titles, with the newest of their messages that is one.
    fn add_titled(&mut self, titled: &[i64]) -> Outcome<()> {
        for session in titled {
            if self.is_full() {
                break;
            }
            if self.is_wanted(*session) {
                let text_match = self.newest_in(*session)?;
                self.add(*session, text_match)?;
            }
        }
        Ok(())
    }

    fn newest_in(&mut self, session: i64) -> Outcome<Option<TextMatch>> {
        let by_parts = (PARTS, self.query.parts.as_deref(), Fit::Parts);
        let by_words = (WORDS, self.query.exact.as_deref(), Fit::Words);
        let ways =
            if self.query.has_short_words() { [by_words, by_parts] } else { [by_parts, by_words] };
        for (index, asked, fit) in ways {
            let Some(asked) = asked else { continue };
            let sql = format!(
                "SELECT m.key FROM {index} CROSS JOIN messages m ON m.key = {index}.rowid \
                 WHERE {index} MATCH ?1 AND m.session = ?2 AND {index}.rowid BETWEEN \
                 (SELECT min(key) FROM messages WHERE session = ?2) AND \
                 (SELECT max(key) FROM messages WHERE session = ?2) ORDER BY {index}.rowid DESC"
            );
            let mut statement = self.db.connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params![asked, session])?;
            while self.in_vain > 0
                && let Some(row) = rows.next()?
            {
                let text_match = self.text_match(row.get(0)?, fit)?;
                if text_match.is_some() {
                    return Ok(text_match);
                }
            }
        }
        Ok(None)
    }

    /// Adds sessions whose messages have the words as words, the newest first.
    fn add_by_words(&mut self) -> Outcome<()> {
        self.in_vain = READ_IN_VAIN;
        match self.query.whole.as_deref() {
            Some(asked) => self.add_newest(WORDS, asked, i64::MAX, Fit::Words).map(drop),
            None => Ok(()),
        }
    }

    /// Adds sessions whose messages have words that begin with the short ones, the newest first.
    fn add_by_beginnings(&mut self) -> Outcome<()> {
        self.in_vain = READ_IN_VAIN;
        match self.query.beginnings.as_deref() {
            Some(asked) => self.add_newest(WORDS, asked, i64::MAX, Fit::Beginnings).map(drop),
            None => Ok(()),
        }
    }

    /// Adds sessions whose messages have the words, the best first, or the newest where there are
    /// very many. Of texts that only reading can tell from hits no more than [`READ_IN_VAIN`] are
    /// read; behind them a hit is what has the words as they were typed, which the index proves.
    fn add_by_parts(&mut self) -> Outcome<()> {
        self.in_vain = READ_IN_VAIN;
        let query = self.query;
        let Some(asked) = query.parts.as_deref() else { return Ok(()) };
        if !is_common(self.db, asked)? {
            return self.add_best(asked);
        }
        let below = self.add_newest(PARTS, asked, i64::MAX, Fit::Parts)?;
        if self.in_vain == 0
            && let Some(phrase) = query.phrase.as_deref()
        {
            self.in_vain = READ_IN_VAIN;
            self.add_newest(PARTS, phrase, below, Fit::Parts)?;
        }
        Ok(())
    }

    fn add_best(&mut self, asked: &str) -> Outcome<()> {
        let mut texts = in_texts(self.db, asked)?;
        let mut sessions: Vec<i64> =
            texts.keys().copied().filter(|session| self.is_wanted(*session)).collect();
        sessions.sort_unstable_by_key(|session| texts[session].first().map(|(place, _)| *place));
        for session in sessions {
            for (_, message) in texts.remove(&session).unwrap_or_default() {
                if self.is_full() || self.in_vain == 0 {
                    return Ok(());
                }
                if let Some(text_match) = self.text_match(message, Fit::Parts)? {
                    self.add(session, Some(text_match))?;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Adds what an index has up to this key, the newest first. Gives the key that it came to.
    fn add_newest(&mut self, index: &str, asked: &str, upto: i64, fit: Fit) -> Outcome<i64> {
        // A message is younger than those with lower keys.
        let sql = format!(
            "SELECT m.session, m.key FROM {index} CROSS JOIN messages m ON m.key = {index}.rowid \
             CROSS JOIN sessions s ON s.key = m.session \
             WHERE {index} MATCH ?1 AND s.deleted IS NULL AND {index}.rowid <= ?2 \
             ORDER BY {index}.rowid DESC"
        );
        let mut statement = self.db.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params![asked, upto])?;
        let mut key = upto;
        while !self.is_full()
            && self.in_vain > 0
            && let Some(row) = rows.next()?
        {
            let session = row.get(0)?;
            if !self.is_wanted(session) {
                continue;
            }
            key = row.get(1)?;
            if let Some(text_match) = self.text_match(key, fit)? {
                self.add(session, Some(text_match))?;
            }
        }
        Ok(key)
    }

    /// Adds sessions of which a text has the words, the newest first. Says whether there were no
    /// more messages than are looked through.
    fn add_by_reading(&mut self) -> Outcome<bool> {
        let mut statement = self.db.connection.prepare_cached(
            "SELECT m.session, m.key FROM messages m CROSS JOIN sessions s ON s.key = m.session \
             WHERE m.role IN ('user', 'assistant') AND s.deleted IS NULL AND m.deleted IS NULL \
             ORDER BY m.key DESC LIMIT ?1",
        )?;
        let mut rows = statement.query([NEWEST + 1])?;
        let mut count = 0;
        while !self.is_full()
            && let Some(row) = rows.next()?
        {
            count += 1;
            if count > NEWEST {
                return Ok(false);
            }
            let session = row.get(0)?;
            if self.is_wanted(session)
                && let Some(text_match) = self.text_match(row.get(1)?, Fit::Parts)?
            {
                self.add(session, Some(text_match))?;
            }
        }
        Ok(true)
    }

    /// Where a message has all words. Where it has not, one text fewer may be read in vain.
    fn text_match(&mut self, key: i64, fit: Fit) -> Outcome<Option<TextMatch>> {
        let text = messages::plain_text(self.db, key)?;
        let text_match = text.and_then(|(message, text)| {
            let excerpt = excerpt(&text, self.query.find(&text, fit)?);
            let highlights = self.query.matches(&excerpt, fit);
            Some(TextMatch { message, excerpt, highlights })
        });
        if text_match.is_none() {
            self.in_vain = self.in_vain.saturating_sub(1);
        }
        Ok(text_match)
    }
}

/// Whether more messages may have it than are worth ranking.
fn is_common(db: &DbHandle, asked: &str) -> Outcome<bool> {
    let beyond = db.find(
        "SELECT 1 FROM text_index WHERE text_index MATCH ?1 LIMIT 1 OFFSET ?2",
        params![asked, RANKED],
        |_| Ok(()),
    )?;
    Ok(beyond.is_some())
}

/// The messages that may hold all words, by their sessions, each with its place among all: the best
/// first. All of them are looked at, since a chat that is talked in much must not hide the others.
fn in_texts(db: &DbHandle, asked: &str) -> Outcome<HashMap<i64, Vec<(usize, i64)>>> {
    let mut texts: HashMap<i64, Vec<(usize, i64)>> = HashMap::new();
    let mut statement = db.connection.prepare_cached(
        "SELECT m.session, m.key FROM text_index JOIN messages m ON m.key = text_index.rowid \
         JOIN sessions s ON s.key = m.session \
         WHERE text_index MATCH ?1 AND s.deleted IS NULL ORDER BY text_index.rank",
    )?;
    let rows = statement.query_map([asked], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (place, row) in rows.enumerate() {
        let (session, message) = row?;
        texts.entry(session).or_default().push((place, message));
    }
    Ok(texts)
}
