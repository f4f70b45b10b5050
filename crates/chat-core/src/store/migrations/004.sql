-- Version 4: sessions that work for another one, as agents of its tree.

ALTER TABLE sessions ADD COLUMN parent TEXT; -- the fid of the session that started it
ALTER TABLE sessions ADD COLUMN name TEXT;   -- what it is called in its tree

CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
