CREATE TABLE job (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    document TEXT NOT NULL,
    next_at DOUBLE PRECISION,
    runs BIGINT NOT NULL DEFAULT 0,
    created_at DOUBLE PRECISION NOT NULL,
    removed_at DOUBLE PRECISION
);
CREATE UNIQUE INDEX job_name ON job (name) WHERE removed_at IS NULL;
CREATE INDEX job_next ON job (next_at, id) WHERE next_at IS NOT NULL;
CREATE TABLE job_run (
    job_id TEXT NOT NULL,
    scheduled_at DOUBLE PRECISION NOT NULL,
    attempt INTEGER NOT NULL,
    origin TEXT NOT NULL,
    outcome TEXT NOT NULL,
    start_at DOUBLE PRECISION NOT NULL,
    owner TEXT,
    lease_until DOUBLE PRECISION,
    started_at DOUBLE PRECISION,
    ended_at DOUBLE PRECISION,
    fault TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    output TEXT NOT NULL DEFAULT '',
    script_output TEXT NOT NULL DEFAULT '',
    model TEXT,
    provider TEXT,
    session TEXT,
    tokens_in BIGINT,
    tokens_out BIGINT,
    cost_usd DOUBLE PRECISION,
    delivery TEXT NOT NULL DEFAULT 'none',
    delivery_error TEXT NOT NULL DEFAULT '',
    delivery_attempts INTEGER NOT NULL DEFAULT 0,
    delivery_at DOUBLE PRECISION,
    note TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (job_id, scheduled_at, attempt)
);
CREATE INDEX job_run_waiting ON job_run (start_at) WHERE outcome = 'waiting';
CREATE INDEX job_run_running ON job_run (job_id, lease_until) WHERE outcome = 'running';
CREATE INDEX job_run_delivery ON job_run (delivery_at) WHERE delivery = 'pending';
CREATE INDEX job_run_time ON job_run (scheduled_at);
CREATE TABLE scheduler (
    owner TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    pid BIGINT NOT NULL,
    started_at DOUBLE PRECISION NOT NULL,
    heartbeat_at DOUBLE PRECISION NOT NULL,
    stopped_at DOUBLE PRECISION,
    note TEXT NOT NULL DEFAULT ''
);
CREATE TABLE schedule_revision (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    revision BIGINT NOT NULL
);
INSERT INTO schedule_revision (id, revision) VALUES (1, 0);
