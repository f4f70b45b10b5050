-- Version 7: a chat has instructions of its own.

ALTER TABLE sessions ADD COLUMN instructions TEXT;
