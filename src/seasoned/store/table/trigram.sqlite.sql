-- A search finds the sessions with its trigrams and then checks those few, so neither texts nor positions are stored
-- a second time.
CREATE VIEW session_words AS
-- Two more blanks, so that a trigram begins at each character: texts of one or two characters are found that way.
-- LIKE and printf both stop at a NUL.
SELECT id, printf('%s  ', words) AS words FROM session_line;
CREATE VIRTUAL TABLE session_trigram USING fts5 (
    words, content = 'session_words', content_rowid = 'id', columnsize = 0, detail = none, tokenize = 'trigram'
);
CREATE VIRTUAL TABLE trigram_use USING fts5vocab (session_trigram, instance);
CREATE TRIGGER line_added AFTER INSERT ON session_line BEGIN
    INSERT INTO session_trigram (rowid, words) VALUES (NEW.id, printf('%s  ', NEW.words));
END;
CREATE TRIGGER line_changed AFTER UPDATE OF words ON session_line WHEN NEW.words <> OLD.words BEGIN
    INSERT INTO session_trigram (session_trigram, rowid, words) VALUES ('delete', OLD.id, printf('%s  ', OLD.words));
    INSERT INTO session_trigram (rowid, words) VALUES (NEW.id, printf('%s  ', NEW.words));
END;
CREATE TRIGGER line_forgotten AFTER DELETE ON session_line BEGIN
    INSERT INTO session_trigram (session_trigram, rowid, words) VALUES ('delete', OLD.id, printf('%s  ', OLD.words));
END;
INSERT INTO session_trigram (session_trigram) VALUES ('rebuild');
