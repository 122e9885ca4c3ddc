CREATE TABLE review (
    id INTEGER PRIMARY KEY,
    ref TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    context TEXT NOT NULL,
    topic TEXT NOT NULL,
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
CREATE TABLE review_count (
    lineage_root TEXT PRIMARY KEY,
    turns INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    changed_at REAL NOT NULL
);
