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
    decided_by TEXT
);
CREATE INDEX learned_target ON learned (folder, target, file);
CREATE INDEX learned_session ON learned (session);
CREATE INDEX learned_open ON learned (state) WHERE state IN ('writing', 'staged');
CREATE TABLE skill_usage (
    folder TEXT NOT NULL,
    target TEXT NOT NULL,
    viewed INTEGER NOT NULL,
    used INTEGER NOT NULL,
    last_viewed_at REAL,
    last_used_at REAL,
    PRIMARY KEY (folder, target)
);
