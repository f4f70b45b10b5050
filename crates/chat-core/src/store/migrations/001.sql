-- Version 1: sessions, messages, the journal of replies being written, attachments, search.
-- Times are nanoseconds since 1970, UTC.

CREATE TABLE sessions (
    key              INTEGER PRIMARY KEY,
    fid              TEXT NOT NULL UNIQUE,
    title            TEXT NOT NULL,
    titled_by_person INTEGER NOT NULL,
    agent            TEXT NOT NULL,
    connection       TEXT,
    model            TEXT,
    thinking         TEXT NOT NULL,
    options          TEXT,             -- JSON; NULL where none is set
    head             BLOB,
    unread           INTEGER NOT NULL,
    created          INTEGER NOT NULL,
    updated          INTEGER NOT NULL,
    owner            TEXT,             -- the process that writes it
    deleted          INTEGER           -- when the person deleted it
) STRICT;

CREATE INDEX sessions_by_activity ON sessions (updated DESC, key DESC) WHERE deleted IS NULL;
CREATE INDEX sessions_owned ON sessions (owner) WHERE owner IS NOT NULL;
CREATE INDEX sessions_deleted ON sessions (deleted) WHERE deleted IS NOT NULL;

CREATE TABLE messages (
    key        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE,   -- UUID, 16 bytes
    session    INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    parent     BLOB,
    role       TEXT NOT NULL,
    parts      TEXT NOT NULL,          -- JSON; pictures by their hash
    time       INTEGER NOT NULL,
    ended      TEXT,                   -- NULL while it is being written
    error      TEXT,                   -- JSON
    connection TEXT,
    model      TEXT,
    usage      TEXT                    -- JSON
) STRICT;

CREATE INDEX messages_by_session ON messages (session);
CREATE INDEX messages_open ON messages (session) WHERE ended IS NULL;
-- Few: the list asks for each session's head whether it is one of them.
CREATE INDEX messages_failed ON messages (id) WHERE ended IN ('failed', 'interrupted');

-- What arrived of replies that are being written: only ever appended to, dropped at the end.
CREATE TABLE journal (
    message INTEGER NOT NULL REFERENCES messages (key) ON DELETE CASCADE,
    seq     INTEGER NOT NULL,
    part    INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    text    TEXT NOT NULL,
    PRIMARY KEY (message, seq)
) STRICT, WITHOUT ROWID;

-- What a person said while a reply was being written, in order.
CREATE TABLE waiting (
    key     INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    id      BLOB NOT NULL UNIQUE,      -- of the message that it becomes
    content TEXT NOT NULL              -- JSON
) STRICT;

CREATE INDEX waiting_by_session ON waiting (session);

-- Which files beside the database a message needs.
CREATE TABLE attachments (
    message INTEGER NOT NULL REFERENCES messages (key) ON DELETE CASCADE,
    hash    TEXT NOT NULL,
    PRIMARY KEY (message, hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX attachments_by_hash ON attachments (hash);

-- Without contents: the texts stand in the tables above already. The rowid is their key.
CREATE VIRTUAL TABLE title_index USING fts5 (
    title, tokenize = 'trigram', content = '', contentless_delete = 1
);
CREATE VIRTUAL TABLE text_index USING fts5 (
    text, tokenize = 'trigram', content = '', contentless_delete = 1
);
