-- Version 3: an index of whole words, and of pairs of characters in scripts without spaces. It knows
-- no places in the texts, which makes it small.

CREATE VIRTUAL TABLE word_index USING fts5 (
    words, tokenize = 'ascii', content = '', contentless_delete = 1, detail = none
);

-- Messages with keys below this are not in it yet. They come little by little while the program runs;
-- without a row here all of them are there.
CREATE TABLE unindexed (below INTEGER NOT NULL) STRICT;
INSERT INTO unindexed SELECT max(key) + 1 FROM messages HAVING max(key) IS NOT NULL;

-- There are few titles: they are read.
DROP TABLE title_index;
