//! Finding sessions by what stands in them. Trigrams find parts of words and identifiers, and
//! languages that put no spaces between words.

use std::collections::{HashMap, HashSet};

use rusqlite::params;

use super::desk::Desk;
use super::fault::Outcome;
use super::messages;
use super::missing;
use super::owner::Living;
use super::record::Hit;
use super::sessions;
use crate::message::MessageId;

/// Below this length the index knows nothing, in characters.
const TRIGRAM: usize = 3;

/// How much stands on either side of a hit, in characters: two lines of a narrow list.
const AROUND: usize = 50;

/// How many messages are ranked. More takes longer than a person who types should wait: 250,000 took
/// more than a second.
const RANKED: i64 = 2_000;

/// How many texts are read in vain. Words too short for the index can only be looked for in the
/// texts themselves: 10,000 take about as long as a person who types should wait.
const READ_IN_VAIN: usize = 10_000;

/// What a person looks for: all its words must stand in one title or one message.
struct Query {
    words: Vec<Vec<char>>,
    /// What the index is asked for; none where all is too short for it.
    indexed: Option<String>,
    /// All of it as it was typed, where the words one by one are too short to be proved by the
    /// index.
    phrase: Option<String>,
}

impl Query {
    fn new(text: &str) -> Self {
        // SQLite takes a NUL for the end of a text.
        let text = text.replace('\0', " ");
        let words: Vec<&str> = text.split_whitespace().collect();
        let long = |word: &&str| word.chars().count() >= TRIGRAM;
        let quoted = |word: &str| format!("\"{}\"", word.replace('"', "\"\""));
        let mut indexed: Vec<String> = words.iter().copied().filter(long).map(quoted).collect();
        let whole = words.join(" ");
        let has_short = indexed.len() < words.len();
        let phrase = (has_short && long(&whole.as_str())).then(|| quoted(&whole));
        if indexed.is_empty() && long(&whole.as_str()) {
            indexed.push(quoted(&whole));
        }
        Self {
            words: words.iter().map(|word| folded(word).map(|(_, c)| c).collect()).collect(),
            indexed: (!indexed.is_empty()).then(|| indexed.join(" AND ")),
            phrase,
        }
    }

    /// Where the words stand in a text: the bytes of the first one's first place. None where one
    /// of them is missing.
    fn find(&self, text: &str) -> Option<usize> {
        let text: Vec<(usize, char)> = folded(text).collect();
        let place = |word: &Vec<char>| {
            text.windows(word.len().max(1))
                .find(|window| window.iter().map(|(_, c)| c).eq(word))
                .map(|window| window[0].0)
        };
        let places: Option<Vec<usize>> = self.words.iter().map(place).collect();
        places?.first().copied()
    }
}

/// The characters of a text without regard to case, each with the place of its original.
fn folded(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    text.char_indices().flat_map(|(at, c)| c.to_lowercase().map(move |c| (at, c)))
}

/// A piece of the text round this byte, on one line.
fn excerpt(text: &str, at: usize) -> String {
    let start = text[..at].char_indices().rev().nth(AROUND - 1).map_or(0, |(i, _)| i);
    let end = text[at..].char_indices().nth(2 * AROUND).map_or(text.len(), |(i, _)| at + i);
    let words: Vec<&str> = text[start..end].split_whitespace().collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if end < text.len() { "…" } else { "" };
    format!("{before}{}{after}", words.join(" "))
}

/// Finds sessions: those whose title has it, newest first, then the others by how well their
/// messages do. Where very many messages have it, how well says little and takes long to know: then
/// the newest come first, and no more is read than the answer takes.
pub(super) fn search(desk: &Desk, text: &str, limit: usize) -> Outcome<Vec<Hit>> {
    let query = Query::new(text);
    if query.words.is_empty() {
        return Ok(Vec::new());
    }
    missing::or_else(
        desk,
        || found(desk, &query, limit),
        || in_readable_titles(desk, &query, limit),
    )
}

/// Looks through the titles that can be read: the index is damaged.
fn in_readable_titles(desk: &Desk, query: &Query, limit: usize) -> Outcome<Vec<Hit>> {
    let sessions = sessions::newest(desk, usize::MAX)?.into_iter();
    let titled = sessions.filter(|session| query.find(&session.title).is_some());
    let hit = |session| Hit { session, excerpt: None, message: None };
    Ok(titled.take(limit).map(hit).collect())
}

fn found(desk: &Desk, query: &Query, limit: usize) -> Outcome<Vec<Hit>> {
    let titled = in_titles(desk, query)?;
    match &query.indexed {
        Some(indexed) if is_common(desk, indexed)? => newest(desk, query, indexed, titled, limit),
        _ => best(desk, query, titled, limit),
    }
}

/// Whether more messages may have it than are worth ranking.
fn is_common(desk: &Desk, indexed: &str) -> Outcome<bool> {
    let beyond = desk.find(
        "SELECT 1 FROM text_index WHERE text_index MATCH ?1 LIMIT 1 OFFSET ?2",
        params![indexed, RANKED],
        |_| Ok(()),
    )?;
    Ok(beyond.is_some())
}

fn best(desk: &Desk, query: &Query, titled: Vec<i64>, limit: usize) -> Outcome<Vec<Hit>> {
    let mut texts = in_texts(desk, query)?;
    let mut others: Vec<i64> = texts.keys().copied().filter(|key| !titled.contains(key)).collect();
    others.sort_unstable_by_key(|session| texts[session].first().map(|(place, _)| *place));
    let titles = titled.len();
    let mut in_vain = READ_IN_VAIN;
    let mut hits = Hits::new(desk, limit);
    for (place, session) in titled.into_iter().chain(others).enumerate() {
        if hits.is_full() {
            break;
        }
        let messages = texts.remove(&session).unwrap_or_default();
        let mut messages = messages.into_iter().map(|(_, message)| Ok(message));
        let found = first_excerpt(desk, query, &mut messages, &mut in_vain)?;
        if found.is_some() || place < titles {
            hits.add(session, found)?;
        }
    }
    Ok(hits.found)
}

/// The newest first. Of texts that only reading can tell from hits no more than [`READ_IN_VAIN`]
/// are read; behind them a hit is what has the words as they were typed, which the index proves.
fn newest(
    desk: &Desk,
    query: &Query,
    indexed: &str,
    titled: Vec<i64>,
    limit: usize,
) -> Outcome<Vec<Hit>> {
    let mut hits = Hits::new(desk, limit);
    let mut in_vain = READ_IN_VAIN;
    let mut seen = HashSet::new();
    let mut of_session = desk.connection.prepare_cached(
        "SELECT m.key FROM text_index CROSS JOIN messages m ON m.key = text_index.rowid \
         WHERE text_index MATCH ?1 AND m.session = ?2 AND text_index.rowid BETWEEN \
         (SELECT min(key) FROM messages WHERE session = ?2) AND \
         (SELECT max(key) FROM messages WHERE session = ?2) ORDER BY text_index.rowid DESC",
    )?;
    for session in titled {
        if hits.is_full() {
            break;
        }
        let mut messages = of_session.query_map(params![indexed, session], |row| row.get(0))?;
        hits.add(session, first_excerpt(desk, query, &mut messages, &mut in_vain)?)?;
        seen.insert(session);
    }
    // A message is younger than those with lower keys.
    let mut all = desk.connection.prepare_cached(
        "SELECT m.session, m.key FROM text_index CROSS JOIN messages m ON m.key = text_index.rowid \
         CROSS JOIN sessions s ON s.key = m.session \
         WHERE text_index MATCH ?1 AND s.deleted IS NULL AND text_index.rowid <= ?2 \
         ORDER BY text_index.rowid DESC",
    )?;
    let mut below = i64::MAX;
    for asked in [Some(indexed), query.phrase.as_deref()].into_iter().flatten() {
        let mut rows = all.query(params![asked, below])?;
        while !hits.is_full()
            && let Some(row) = rows.next()?
        {
            let session = row.get(0)?;
            if seen.contains(&session) {
                continue;
            }
            below = row.get(1)?;
            if in_vain == 0 {
                break;
            }
            if let Some(found) = excerpt_of(desk, query, below, &mut in_vain)? {
                hits.add(session, Some(found))?;
                seen.insert(session);
            }
        }
        if in_vain > 0 {
            break;
        }
        in_vain = READ_IN_VAIN;
    }
    Ok(hits.found)
}

/// What was found so far.
struct Hits<'a> {
    desk: &'a Desk,
    living: Living<'a>,
    limit: usize,
    found: Vec<Hit>,
}

impl<'a> Hits<'a> {
    fn new(desk: &'a Desk, limit: usize) -> Self {
        Self { desk, living: Living::new(&desk.places.owners), limit, found: Vec::new() }
    }

    fn is_full(&self) -> bool {
        self.found.len() >= self.limit
    }

    fn add(&mut self, session: i64, found: Option<(MessageId, String)>) -> Outcome<()> {
        let session = sessions::by_key(self.desk, session, &mut self.living)?;
        let (message, excerpt) = found.unzip();
        self.found.push(Hit { session, excerpt, message });
        Ok(())
    }
}

/// The first of these messages that has all words, with the piece of its text. No more are looked
/// at than may be read in vain.
fn first_excerpt(
    desk: &Desk,
    query: &Query,
    messages: &mut dyn Iterator<Item = rusqlite::Result<i64>>,
    in_vain: &mut usize,
) -> Outcome<Option<(MessageId, String)>> {
    for message in messages {
        if *in_vain == 0 {
            break;
        }
        let found = excerpt_of(desk, query, message?, in_vain)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The sessions whose titles hold all words, newest first.
fn in_titles(desk: &Desk, query: &Query) -> Outcome<Vec<i64>> {
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let candidates: Vec<(i64, String)> = if let Some(indexed) = &query.indexed {
        let mut statement = desk.connection.prepare_cached(
            "SELECT key, title FROM sessions WHERE deleted IS NULL \
             AND key IN (SELECT rowid FROM title_index WHERE title_index MATCH ?1) \
             ORDER BY updated DESC",
        )?;
        statement.query_map([indexed], read)?.collect::<Result<_, _>>()?
    } else {
        let mut statement = desk.connection.prepare_cached(
            "SELECT key, title FROM sessions WHERE deleted IS NULL ORDER BY updated DESC",
        )?;
        statement.query_map([], read)?.collect::<Result<_, _>>()?
    };
    let holds = |(key, title): (i64, String)| query.find(&title).map(|_| key);
    Ok(candidates.into_iter().filter_map(holds).collect())
}

/// The messages that may hold all words, by their sessions, each with its place among all: the best
/// first. All of them are looked at, since a chat that is talked in much must not hide the others.
fn in_texts(desk: &Desk, query: &Query) -> Outcome<HashMap<i64, Vec<(usize, i64)>>> {
    let mut texts: HashMap<i64, Vec<(usize, i64)>> = HashMap::new();
    let Some(indexed) = &query.indexed else { return Ok(texts) };
    let mut statement = desk.connection.prepare_cached(
        "SELECT m.session, m.key FROM text_index JOIN messages m ON m.key = text_index.rowid \
         JOIN sessions s ON s.key = m.session \
         WHERE text_index MATCH ?1 AND s.deleted IS NULL ORDER BY text_index.rank",
    )?;
    let rows = statement.query_map([indexed], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (place, row) in rows.enumerate() {
        let (session, message) = row?;
        texts.entry(session).or_default().push((place, message));
    }
    Ok(texts)
}

/// The message and the piece of its text that has all words. Where it has not, one text fewer may
/// be read in vain.
fn excerpt_of(
    desk: &Desk,
    query: &Query,
    key: i64,
    in_vain: &mut usize,
) -> Outcome<Option<(MessageId, String)>> {
    let found = messages::plain_text(desk, key)?
        .and_then(|(id, text)| query.find(&text).map(|at| (id, excerpt(&text, at))));
    if found.is_none() {
        *in_vain = in_vain.saturating_sub(1);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_stands_round_the_hit_on_one_line() {
        let text = format!("{}\n\nthe   needle\n{}", "before ".repeat(30), "after ".repeat(30));
        let at = Query::new("NEEDLE").find(&text).unwrap();
        let excerpt = excerpt(&text, at);
        assert!(excerpt.starts_with('…') && excerpt.ends_with('…'), "{excerpt}");
        assert!(excerpt.contains("before the needle after"), "{excerpt}");
        assert!(excerpt.chars().count() <= 3 * AROUND + 2, "{excerpt}");
    }

    #[test]
    fn an_excerpt_of_a_short_text_is_the_text() {
        let at = Query::new("模型").find("本地模型很好").unwrap();
        assert_eq!(excerpt("本地模型很好", at), "本地模型很好");
    }

    #[test]
    fn all_words_must_stand_there() {
        assert!(Query::new("fn main").find("pub fn run() { main() }").is_some());
        assert!(Query::new("fn main").find("the main road").is_none());
        assert!(Query::new("straẞe").find("Die Straße").is_some());
    }

    #[test]
    fn the_index_is_asked_for_quoted_words() {
        let asked = |text| Query::new(text).indexed;
        assert_eq!(asked("say \"hi\" OR not").as_deref(), Some(r#""say" AND """hi""" AND "not""#));
        assert_eq!(asked("a b").as_deref(), Some("\"a b\""));
        assert_eq!(asked("ab"), None);
        assert_eq!(asked("\0"), None);
    }
}
