-- Version 6: an agent may owe several reports, each with an id of its own.

-- In the order in which they came to be owed. A row goes in the transaction that has the report wait in its
-- recipient, or that stores the result of the call that carries it.
CREATE TABLE owed_reports (
    key       INTEGER PRIMARY KEY,
    id        BLOB NOT NULL UNIQUE,     -- of the message that the report becomes
    session   INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE, -- the agent
    recipient TEXT NOT NULL,            -- the fid of the session that hears of it
    about     BLOB,                     -- the message that it is about; NULL: the agent's last work
    by_call   INTEGER NOT NULL          -- 1: the result of a call is to carry it
) STRICT;

CREATE INDEX owed_reports_by_session ON owed_reports (session);

INSERT INTO owed_reports (id, session, recipient, about, by_call)
SELECT randomblob(16), key, parent, NULL, 0 FROM sessions WHERE reports = 1 AND parent IS NOT NULL;
UPDATE sessions SET reports = NULL WHERE reports = 1; -- not used any more
