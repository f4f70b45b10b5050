-- Version 8: replies go on with earlier ones, and single messages are deleted.

ALTER TABLE messages ADD COLUMN continues BLOB; -- the reply that this one goes on with
ALTER TABLE messages ADD COLUMN deleted INTEGER; -- when the user deleted it

CREATE INDEX messages_deleted ON messages (deleted) WHERE deleted IS NOT NULL;
