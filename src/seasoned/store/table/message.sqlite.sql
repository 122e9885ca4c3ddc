CREATE TABLE recording (
    session_id INTEGER PRIMARY KEY REFERENCES session(id) ON DELETE CASCADE,
    platform TEXT NOT NULL,
    model TEXT NOT NULL,
    base_url TEXT,
    toolsets TEXT NOT NULL,
    instructions TEXT NOT NULL,
    warm TEXT
);
CREATE TABLE message (
    session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    time REAL,
    summary INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session_id, position)
) WITHOUT ROWID;
CREATE TABLE model_request (
    id INTEGER PRIMARY KEY,
    session_id INTEGER REFERENCES session(id) ON DELETE SET NULL,
    time REAL NOT NULL,
    purpose TEXT NOT NULL,
    model TEXT,
    provider TEXT,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cache_read_tokens INTEGER,
    cache_write_tokens INTEGER,
    reasoning_tokens INTEGER,
    cost_usd REAL,
    raw TEXT
);
CREATE INDEX model_request_session ON model_request (session_id);
CREATE INDEX model_request_time ON model_request (purpose, time);
