CREATE TABLE library (
    id INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL
);
INSERT INTO library (id, revision) VALUES (1, 0);
CREATE TABLE template_name (
    key TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    last_version INTEGER NOT NULL
);
CREATE TABLE template (
    key TEXT NOT NULL REFERENCES template_name(key) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    name TEXT NOT NULL,
    task_type TEXT,
    tags TEXT NOT NULL,
    description TEXT NOT NULL,
    examples INTEGER NOT NULL,
    created_at REAL NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (key, version)
);
CREATE INDEX template_revision ON template (revision);
CREATE TABLE template_source (
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    session TEXT NOT NULL,
    PRIMARY KEY (session, key, version),
    FOREIGN KEY (key, version) REFERENCES template(key, version) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX template_source_of ON template_source (key, version);
CREATE TABLE example_source (
    session TEXT NOT NULL,
    example_id TEXT NOT NULL,
    PRIMARY KEY (session, example_id)
) WITHOUT ROWID;
CREATE INDEX example_source_of ON example_source (example_id);
CREATE TABLE template_usage (
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    uses INTEGER NOT NULL,
    PRIMARY KEY (key, version)
);
CREATE TABLE example_usage (
    example_id TEXT PRIMARY KEY,
    shown INTEGER NOT NULL
);
CREATE TABLE example_state (
    id INTEGER PRIMARY KEY,
    example_id TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    evidence TEXT NOT NULL,
    changed_at REAL NOT NULL
);
CREATE INDEX example_state_of ON example_state (example_id);
CREATE TABLE warm_block (
    lineage_root TEXT NOT NULL,
    format TEXT NOT NULL,
    form TEXT NOT NULL,
    template TEXT NOT NULL,
    version INTEGER NOT NULL,
    example_ids TEXT NOT NULL,
    bytes BLOB NOT NULL,
    digest TEXT NOT NULL,
    created_at REAL NOT NULL,
    PRIMARY KEY (lineage_root, format)
);
