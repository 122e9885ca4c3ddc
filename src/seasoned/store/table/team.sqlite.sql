-- The team that this machine belongs to, and how far it has come.
CREATE TABLE team_membership (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    url TEXT NOT NULL,
    person TEXT NOT NULL,
    machine TEXT NOT NULL,
    source TEXT NOT NULL,
    joined_at REAL NOT NULL,
    -- When the user agreed to what is pushed; before, nothing is.
    agreed_at REAL,
    -- With which settings everything learned until then was pushed.
    settings TEXT NOT NULL DEFAULT '',
    learned_until REAL NOT NULL DEFAULT 0,
    pushed_at REAL,
    pulled_at REAL,
    problem TEXT
);
-- What the server has, by digest. What differs from the store has to be pushed: that is the queue.
CREATE TABLE team_pushed (
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    session TEXT NOT NULL,
    digest TEXT NOT NULL,
    is_refused INTEGER NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (project, kind, key)
) WITHOUT ROWID;
CREATE TABLE team_pulled (
    project TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    at REAL NOT NULL
) WITHOUT ROWID;
-- What sessions of other machines show about a project.
CREATE TABLE team_evidence (
    origin TEXT NOT NULL,
    project TEXT NOT NULL,
    key TEXT NOT NULL,
    person TEXT NOT NULL,
    ended REAL NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (origin, project, key)
) WITHOUT ROWID;
CREATE INDEX team_evidence_of_project ON team_evidence (project, person, ended);
-- What is withdrawn takes along what the project knows because of it.
CREATE TRIGGER team_evidence_withdrawn AFTER DELETE ON team_evidence
BEGIN
    DELETE FROM knowledge WHERE project = OLD.project;
    UPDATE told SET text = '' WHERE project = OLD.project AND text <> '';
    DELETE FROM warm_block WHERE template = 'project/sheet'
        AND lineage_root IN (SELECT conversation FROM told WHERE project = OLD.project AND place = 'start');
    INSERT OR IGNORE INTO stale_project (project) VALUES (OLD.project);
END;
