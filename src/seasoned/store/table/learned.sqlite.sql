-- What one session shows about its project.
CREATE TABLE evidence (
    session_id INTEGER PRIMARY KEY REFERENCES session(id) ON DELETE CASCADE,
    project TEXT NOT NULL,
    ended REAL NOT NULL,
    content BLOB NOT NULL
);
CREATE INDEX evidence_of_project ON evidence (project, ended);
-- A session that is forgotten takes along what its project knows because of it.
CREATE TRIGGER evidence_forgotten AFTER DELETE ON evidence
BEGIN
    DELETE FROM lesson WHERE project = OLD.project;
    UPDATE told SET text = '' WHERE project = OLD.project AND text <> '';
    DELETE FROM warm_block WHERE template = 'project/sheet'
        AND lineage_root IN (SELECT conversation FROM told WHERE project = OLD.project AND place = 'start');
    -- A block may also tell what the first prompt asked for.
    DELETE FROM warm_block
    WHERE lineage_root IN (SELECT conversation FROM told WHERE project = OLD.project AND place = 'prompt');
    INSERT INTO lesson (project, topic, key, content) VALUES (OLD.project, 'stale', '', '');
END;
-- What a person said in a session about how to work, beyond the task; the same content words have the same key.
CREATE TABLE spoken_rule (
    session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    -- Whether it says so by its own words; another order counts once a second session heard it.
    lasts INTEGER NOT NULL,
    said_at REAL,
    PRIMARY KEY (session_id, key)
) WITHOUT ROWID;
CREATE TRIGGER spoken_rule_forgotten AFTER DELETE ON spoken_rule
BEGIN
    DELETE FROM warm_block
    WHERE lineage_root IN (SELECT conversation FROM told WHERE instr(text, OLD.text) > 0);
    UPDATE told SET text = '' WHERE instr(text, OLD.text) > 0;
END;
-- What follows from it, ready for a hook to look up: the sheet, hints by form and by kind of failure, files by name.
-- The topic `stale` says that a project's lessons have to be put together again.
CREATE TABLE lesson (
    project TEXT NOT NULL,
    topic TEXT NOT NULL,
    key TEXT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (project, topic, key)
) WITHOUT ROWID;
-- What a person decided: a line of a project's sheet is pinned or dropped, a project is another one (`merge`), or a folder
-- of a project is a separate one (`split`). Advice that was applied or dismissed is here too, without a project.
CREATE TABLE choice (
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    form TEXT NOT NULL,
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
    call_id TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (conversation, place, digest)
);
CREATE INDEX told_in_project ON told (project, place);
CREATE TABLE template_name (
    key TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    last_version INTEGER NOT NULL,
    uses INTEGER NOT NULL DEFAULT 0
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
    -- Only of a session of another machine: the project of one in this store is known.
    project TEXT,
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
CREATE TABLE example_usage (
    example_id TEXT PRIMARY KEY,
    shown INTEGER NOT NULL,
    is_proven INTEGER NOT NULL DEFAULT 0 -- an imported one, once a call written like it worked here
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
CREATE TABLE learned (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    folder TEXT NOT NULL,
    target TEXT NOT NULL,
    file TEXT NOT NULL,
    action TEXT NOT NULL,
    actor TEXT NOT NULL,
    origin TEXT NOT NULL,
    session TEXT,
    parent TEXT,
    platform TEXT,
    tool TEXT,
    call_id TEXT,
    task TEXT,
    at REAL NOT NULL,
    state TEXT NOT NULL,
    before TEXT,
    before_digest TEXT,
    after TEXT,
    after_digest TEXT,
    aside TEXT,
    decided_at REAL,
    decided_by TEXT,
    reason TEXT,
    foreign_call TEXT,
    foreign_tool TEXT,
    foreign_text TEXT
);
CREATE INDEX learned_target ON learned (folder, target, file);
CREATE INDEX learned_session ON learned (session);
CREATE INDEX learned_open ON learned (state) WHERE state IN ('writing', 'staged');
CREATE TABLE message (
    session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    time REAL,
    summary INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session_id, position)
) WITHOUT ROWID;
CREATE TABLE review (
    id INTEGER PRIMARY KEY,
    ref TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    context TEXT NOT NULL,
    form TEXT NOT NULL,
    model TEXT,
    platform TEXT,
    task TEXT,
    pid INTEGER NOT NULL,
    started_at REAL NOT NULL,
    ended_at REAL,
    state TEXT NOT NULL,
    requests INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cache_read_tokens INTEGER,
    cost_usd REAL,
    unpriced INTEGER NOT NULL DEFAULT 0,
    calls INTEGER NOT NULL DEFAULT 0,
    refused INTEGER NOT NULL DEFAULT 0,
    kept INTEGER NOT NULL DEFAULT 0,
    staged INTEGER NOT NULL DEFAULT 0,
    said TEXT,
    answer TEXT
);
CREATE INDEX review_session ON review (session);
CREATE INDEX review_started ON review (started_at);
-- What an experiment on tasks was begun with (its `design`, which never changes), and what was learned for tasks by role.
CREATE TABLE material (
    name TEXT NOT NULL,
    tasks_digest TEXT NOT NULL,
    model TEXT NOT NULL,
    role TEXT NOT NULL,
    document TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (name, tasks_digest, model, role)
);
CREATE UNIQUE INDEX material_design ON material (name) WHERE role = 'design';
-- A session for a task has a row when it begins, and a second one when its run has ended.
CREATE TABLE run (
    experiment TEXT NOT NULL,
    model TEXT NOT NULL,
    arm TEXT NOT NULL,
    bank TEXT NOT NULL,
    task_set TEXT NOT NULL,
    task TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    part TEXT NOT NULL,
    session TEXT,
    ended_at DOUBLE PRECISION,
    document TEXT NOT NULL
);
CREATE UNIQUE INDEX run_ended ON run (experiment, model, arm, bank, task_set, task, repeat)
WHERE ended_at IS NOT NULL;
CREATE INDEX run_begun ON run (experiment) WHERE ended_at IS NULL;
CREATE INDEX run_session ON run (session);
