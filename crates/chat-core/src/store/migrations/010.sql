-- Version 10: chats that were imported, and from where.

ALTER TABLE sessions ADD COLUMN imported_from TEXT; -- the program and the chat's id in it: `chatgpt:6a1b…`

CREATE INDEX sessions_imported ON sessions (imported_from) WHERE imported_from IS NOT NULL;
