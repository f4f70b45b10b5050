-- Version 4: sessions that work for another one, as agents of its tree.

ALTER TABLE sessions ADD COLUMN parent TEXT; -- the fid of the session that started it
ALTER TABLE sessions ADD COLUMN name TEXT;   -- what it is called in its tree
ALTER TABLE sessions ADD COLUMN folder TEXT; -- the folder of its project that its work is about
ALTER TABLE sessions ADD COLUMN closed INTEGER;  -- 1: an agent that was closed
ALTER TABLE sessions ADD COLUMN reports INTEGER; -- 1: its parent still has to hear of its end

CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
