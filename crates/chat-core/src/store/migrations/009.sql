-- Version 9: chats that are kept on top of the list, and chats that are kept out of it.

ALTER TABLE sessions ADD COLUMN pinned INTEGER;   -- when the user pinned it
ALTER TABLE sessions ADD COLUMN archived INTEGER; -- when the user archived it
