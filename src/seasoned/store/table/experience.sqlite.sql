-- Projects whose knowledge has to be put together again. Sessions wait in the queue of `recall`, which reads them.
CREATE TABLE stale_project (project TEXT PRIMARY KEY);
CREATE TABLE evidence_rules (id INTEGER PRIMARY KEY, digest TEXT NOT NULL);
-- What one session shows about its project.
CREATE TABLE evidence (
    session_id INTEGER PRIMARY KEY REFERENCES session(id) ON DELETE CASCADE,
    project TEXT NOT NULL,
    ended REAL NOT NULL,
    content BLOB NOT NULL
);
CREATE INDEX evidence_of_project ON evidence (project, ended);
-- What follows from it, ready for a hook to look up: the sheet, hints by form and by kind of failure, files by name.
CREATE TABLE knowledge (
    project TEXT NOT NULL,
    topic TEXT NOT NULL,
    key TEXT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (project, topic, key)
) WITHOUT ROWID;
-- A session that is forgotten takes along what its project knows because of it.
CREATE TRIGGER evidence_forgotten AFTER DELETE ON evidence
BEGIN
    DELETE FROM knowledge WHERE project = OLD.project;
    UPDATE told SET text = '' WHERE project = OLD.project AND text <> '';
    DELETE FROM warm_block WHERE template = 'project/sheet'
        AND lineage_root IN (SELECT conversation FROM told WHERE project = OLD.project AND place = 'start');
    INSERT OR IGNORE INTO stale_project (project) VALUES (OLD.project);
END;
-- So does one that belongs to another project now.
CREATE TRIGGER evidence_moved AFTER UPDATE OF project ON session
WHEN OLD.project IS NOT NEW.project
BEGIN
    DELETE FROM evidence WHERE session_id = NEW.id AND NEW.project IS NULL;
    UPDATE evidence SET project = NEW.project WHERE session_id = NEW.id;
    DELETE FROM knowledge WHERE project = OLD.project;
    INSERT OR IGNORE INTO stale_project (project) SELECT OLD.project WHERE OLD.project IS NOT NULL;
    INSERT OR IGNORE INTO stale_project (project) SELECT NEW.project WHERE NEW.project IS NOT NULL;
END;
-- What a person decided about a line of the sheet: pinned or dropped.
CREATE TABLE sheet_choice (
    project TEXT NOT NULL,
    form TEXT NOT NULL,
    choice TEXT NOT NULL,
    text TEXT NOT NULL,
    decided_at REAL NOT NULL,
    PRIMARY KEY (project, form)
);
-- What each conversation saw, so that it sees it once.
CREATE TABLE told (
    conversation TEXT NOT NULL,
    project TEXT NOT NULL,
    place TEXT NOT NULL,
    digest TEXT NOT NULL,
    text TEXT NOT NULL,
    told_at REAL NOT NULL,
    PRIMARY KEY (conversation, place, digest)
);
CREATE INDEX told_in_project ON told (project, place);
