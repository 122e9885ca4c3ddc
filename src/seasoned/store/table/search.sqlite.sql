-- The beginning of what people and agents said, redacted. Programs' own messages and results are not in it.
CREATE TABLE said (
    session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    -- One row for each stretch of a session: the index of its first message, and for each message its index, 1 for a
    -- person, and the text.
    first_message INTEGER NOT NULL,
    messages TEXT NOT NULL,
    PRIMARY KEY (session_id, first_message)
);
-- Sessions whose words are not in the index yet: a scan only notes them.
CREATE TABLE search_waiting (
    session_id INTEGER PRIMARY KEY REFERENCES session(id) ON DELETE CASCADE,
    times INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE search_text (
    -- Begins with the time of the session: in the order of ids the newest come last.
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL UNIQUE REFERENCES session(id) ON DELETE CASCADE,
    -- Project, agent, tools and verdicts as words, so that the index filters by them.
    facts TEXT NOT NULL,
    -- Where each line of the text stands in the session.
    places TEXT NOT NULL,
    text TEXT NOT NULL
);
-- No texts and no lengths are stored a second time. Word endings of English do not count.
CREATE VIRTUAL TABLE search_index USING fts5 (
    facts, text, content = 'search_text', content_rowid = 'id', columnsize = 0,
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER search_text_added AFTER INSERT ON search_text BEGIN
    INSERT INTO search_index (rowid, facts, text) VALUES (NEW.id, NEW.facts, NEW.text);
END;
CREATE TRIGGER search_text_gone AFTER DELETE ON search_text BEGIN
    INSERT INTO search_index (search_index, rowid, facts, text) VALUES ('delete', OLD.id, OLD.facts, OLD.text);
END;
CREATE TRIGGER search_project AFTER UPDATE OF project ON session WHEN NEW.project IS NOT OLD.project BEGIN
    INSERT INTO search_waiting (session_id) VALUES (NEW.id) ON CONFLICT DO UPDATE SET times = times + 1;
END;
INSERT INTO search_waiting (session_id) SELECT id FROM session;
-- Every source is read again: what was said in it was not kept.
UPDATE source SET size = -1, resume = NULL, stamps = NULL;
