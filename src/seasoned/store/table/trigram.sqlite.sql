-- A search asks which sessions hold its trigrams. Whether they really hold its words is asked of those few alone, so
-- neither texts nor places are kept a second time.
CREATE VIEW session_words AS
-- Two blanks more, so that a trigram begins at each character: that is how one or two of them are found. What stands
-- after a NUL is no text for LIKE, and for printf neither.
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
