-- Version 2: the folder that a session works in, and what its tools may do.

ALTER TABLE sessions ADD COLUMN project TEXT;
ALTER TABLE sessions ADD COLUMN mode TEXT;  -- NULL: the default
ALTER TABLE sessions ADD COLUMN rules TEXT; -- JSON; NULL where none is set
