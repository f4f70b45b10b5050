-- Version 5: what waits for the user is known to other processes.

ALTER TABLE sessions ADD COLUMN asks INTEGER; -- 1: it waits for the user's answer, as long as its owner lives
