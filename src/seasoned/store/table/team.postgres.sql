-- The key from which members' pseudonyms are made.
CREATE TABLE team_key (
    id INTEGER PRIMARY KEY,
    value TEXT NOT NULL
);
-- Codes to join with, by digest. The token of the new machine is sealed with the code itself.
CREATE TABLE team_code (
    digest TEXT PRIMARY KEY,
    credential TEXT NOT NULL,
    person TEXT NOT NULL,
    sealed BYTEA NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL,
    used_at DOUBLE PRECISION
);
CREATE TABLE team_machine (
    credential TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    person TEXT NOT NULL,
    source TEXT NOT NULL,
    origin TEXT NOT NULL,
    shown_as TEXT,
    joined_at DOUBLE PRECISION NOT NULL,
    pushed_at DOUBLE PRECISION,
    pulled_at DOUBLE PRECISION,
    left_at DOUBLE PRECISION
);
-- Numbers rise within a project in the order in which changes become visible: a push holds the lock of its project.
CREATE SEQUENCE team_sequence;
-- What machines pushed. Without a document it was withdrawn, and machines that pulled it remove it too.
CREATE TABLE team_record (
    credential TEXT NOT NULL,
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    document TEXT,
    bytes INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (credential, project, kind, key)
);
CREATE INDEX team_record_pull ON team_record (project, seq);
