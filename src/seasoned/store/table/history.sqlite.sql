CREATE TABLE source (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    format TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    judge TEXT NOT NULL,
    resume TEXT,
    check_digest TEXT,
    stamps TEXT,
    scanned_at REAL NOT NULL,
    gone_at REAL
);
CREATE TABLE unreadable (
    source_id INTEGER NOT NULL REFERENCES source(id) ON DELETE CASCADE,
    place TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (source_id, place, reason)
);
CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    native_id TEXT NOT NULL,
    source_id INTEGER REFERENCES source(id) ON DELETE SET NULL,
    title TEXT,
    cwd TEXT,
    model TEXT,
    started REAL,
    ended REAL,
    parent_agent TEXT,
    parent_native_id TEXT,
    relation TEXT,
    root_id INTEGER,
    end_reason TEXT,
    succeeded INTEGER,
    messages INTEGER NOT NULL DEFAULT 0,
    compactions TEXT NOT NULL DEFAULT '[]',
    input_tokens INTEGER,
    output_tokens INTEGER,
    cache_read_tokens INTEGER,
    cache_write_tokens INTEGER,
    reasoning_tokens INTEGER,
    cost_usd REAL,
    calls INTEGER NOT NULL DEFAULT 0,
    ok INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    unclear INTEGER NOT NULL DEFAULT 0,
    declined INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    interrupted INTEGER NOT NULL DEFAULT 0,
    trivial INTEGER NOT NULL DEFAULT 0,
    copies INTEGER NOT NULL DEFAULT 0,
    task_type TEXT,
    UNIQUE (agent, native_id)
);
CREATE INDEX session_parent ON session (parent_agent, parent_native_id);
CREATE INDEX session_root ON session (root_id);
CREATE INDEX session_started ON session (started);
CREATE TABLE call (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    message INTEGER NOT NULL,
    tool TEXT NOT NULL,
    kind TEXT NOT NULL,
    counts_as TEXT NOT NULL,
    arguments TEXT NOT NULL,
    result TEXT,
    time REAL,
    place INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    evidence TEXT NOT NULL,
    fault TEXT NOT NULL,
    reason TEXT NOT NULL,
    judge TEXT NOT NULL,
    flag INTEGER,
    unique_id INTEGER NOT NULL,
    copy_of INTEGER REFERENCES call(id) ON DELETE SET NULL,
    UNIQUE (session_id, call_id)
);
CREATE INDEX call_by_id ON call (call_id);
CREATE INDEX call_copy_of ON call (copy_of) WHERE copy_of IS NOT NULL;
CREATE TABLE forgotten (
    agent TEXT NOT NULL,
    native_id TEXT NOT NULL,
    forgotten_at REAL NOT NULL,
    PRIMARY KEY (agent, native_id)
);
CREATE TABLE session_tool (
    session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    tool TEXT NOT NULL,
    kind TEXT NOT NULL,
    calls INTEGER NOT NULL,
    ok INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    unclear INTEGER NOT NULL,
    left_out INTEGER NOT NULL,
    PRIMARY KEY (session_id, tool)
);
