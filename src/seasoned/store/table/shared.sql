-- What several machines may share: the same tables in SQLite and in PostgreSQL.

-- What is held in memory or was derived is made again when one of these changes.
CREATE TABLE revision (
    name TEXT PRIMARY KEY,
    number BIGINT NOT NULL DEFAULT 0,
    digest TEXT
);
INSERT INTO revision (name) VALUES ('library'), ('schedule'), ('evidence');
-- The arms of an experiment. Without a name: what arms show, for machines that do not have the template.
CREATE TABLE split (
    experiment TEXT NOT NULL,
    digest TEXT NOT NULL,
    document TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (experiment, digest)
);
CREATE TABLE assignment (
    experiment TEXT NOT NULL,
    session TEXT NOT NULL,
    arm TEXT NOT NULL,
    split TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    -- How a session of another machine ended: its calls are in the store of that one.
    outcome TEXT,
    is_settled INTEGER,
    PRIMARY KEY (experiment, session)
);
CREATE INDEX assignment_session ON assignment (session);
-- What a session was shown, and what one of the control would have been shown in an arm, so that each example can be
-- compared with its absence.
CREATE TABLE exposure (
    experiment TEXT NOT NULL,
    session TEXT NOT NULL,
    arm TEXT NOT NULL,
    is_shown INTEGER NOT NULL,
    example_ids TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (experiment, session, arm, is_shown)
);
CREATE UNIQUE INDEX exposure_once ON exposure (experiment, session) WHERE is_shown = 1;
CREATE INDEX exposure_session ON exposure (session);
CREATE TABLE credential (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL CHECK (role IN ('agent', 'approver', 'admin')),
    person TEXT NOT NULL,
    token_hash TEXT NOT NULL UNIQUE,
    created_at DOUBLE PRECISION NOT NULL,
    revoked_at DOUBLE PRECISION,
    public_key TEXT,
    sealed_key TEXT,
    UNIQUE (id, person),
    UNIQUE (id, role, person)
);
CREATE TABLE request (
    id TEXT PRIMARY KEY,
    action TEXT NOT NULL,
    description TEXT NOT NULL,
    details TEXT NOT NULL,
    sealed BYTEA,
    requester TEXT NOT NULL,
    requester_name TEXT NOT NULL,
    person TEXT NOT NULL,
    single_operator INTEGER NOT NULL CHECK (single_operator IN (0, 1)),
    label TEXT NOT NULL,
    session_key TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'expired', 'auto_approved')),
    timeout_seconds DOUBLE PRECISION NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL,
    resolved_at DOUBLE PRECISION,
    resolved_by TEXT,
    reason TEXT NOT NULL,
    digest TEXT NOT NULL,
    redeem_before DOUBLE PRECISION,
    redeemed_at DOUBLE PRECISION,
    quorum INTEGER NOT NULL CHECK (quorum >= 1),
    idempotency_hash TEXT,
    UNIQUE (id, requester, person, single_operator),
    UNIQUE (requester, idempotency_hash),
    FOREIGN KEY (requester, person) REFERENCES credential (id, person),
    CHECK ((status = 'pending') = (resolved_at IS NULL)),
    CHECK ((status = 'pending') = (resolved_by IS NULL)),
    CHECK (status = 'pending' OR sealed IS NULL),
    CHECK ((status IN ('approved', 'auto_approved')) = (redeem_before IS NOT NULL)),
    CHECK (redeemed_at IS NULL OR (status IN ('approved', 'auto_approved') AND redeemed_at < redeem_before)),
    CHECK (status <> 'auto_approved' OR action NOT IN (
        'deploy_production', 'delete_data', 'transfer_funds', 'modify_permissions', 'shutdown_service',
        'wipe_database', 'exec_remote', 'publish_package', 'rotate_keys', 'migrate_database'
    ))
);
CREATE INDEX request_created ON request (created_at, id);
CREATE INDEX request_requester ON request (requester, created_at);
CREATE INDEX request_pending ON request (status, expires_at) WHERE status = 'pending';
CREATE INDEX request_status ON request (status, created_at, id);
CREATE TABLE vote (
    request_id TEXT NOT NULL,
    requester TEXT NOT NULL,
    requester_person TEXT NOT NULL,
    single_operator INTEGER NOT NULL,
    voter TEXT NOT NULL,
    voter_name TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('approver', 'admin')),
    person TEXT NOT NULL,
    approve INTEGER NOT NULL CHECK (approve IN (0, 1)),
    reason TEXT NOT NULL,
    via TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (request_id, person),
    CHECK (voter <> requester),
    CHECK (single_operator = 1 OR person <> requester_person),
    FOREIGN KEY (request_id, requester, requester_person, single_operator)
        REFERENCES request (id, requester, person, single_operator),
    FOREIGN KEY (voter, role, person) REFERENCES credential (id, role, person)
);
CREATE TABLE audit (
    seq BIGINT PRIMARY KEY,
    at DOUBLE PRECISION NOT NULL,
    event TEXT NOT NULL,
    request_id TEXT,
    actor TEXT NOT NULL,
    via TEXT NOT NULL,
    document TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX audit_request ON audit (request_id, seq);
CREATE TABLE audit_head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL
);
INSERT INTO audit_head (id, seq, hash)
VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000');
CREATE TABLE outbox (
    id TEXT PRIMARY KEY,
    request_id TEXT NOT NULL REFERENCES request (id),
    event TEXT NOT NULL CHECK (event IN ('submitted', 'decided', 'expired')),
    channel TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    attempts INTEGER NOT NULL,
    next_at DOUBLE PRECISION NOT NULL,
    sent_at DOUBLE PRECISION,
    last_error TEXT,
    -- Where the channel shows the request, so that its message can be brought up to date.
    place TEXT,
    UNIQUE (request_id, event, channel)
);
CREATE INDEX outbox_due ON outbox (next_at) WHERE sent_at IS NULL;
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
    origin TEXT NOT NULL,
    outcome TEXT NOT NULL,
    owner TEXT,
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
    PRIMARY KEY (job_id, scheduled_at)
);
CREATE INDEX job_run_waiting ON job_run (scheduled_at) WHERE outcome = 'waiting';
CREATE INDEX job_run_running ON job_run (job_id) WHERE outcome = 'running';
CREATE INDEX job_run_delivery ON job_run (delivery_at) WHERE delivery = 'pending';
CREATE INDEX job_run_time ON job_run (scheduled_at);
CREATE TABLE scheduler (
    owner TEXT PRIMARY KEY,
    heartbeat_at DOUBLE PRECISION NOT NULL,
    stopped_at DOUBLE PRECISION
);
CREATE TABLE gateway_key (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    token_hash TEXT NOT NULL UNIQUE,
    usd_per_day DOUBLE PRECISION,
    tokens_per_day BIGINT,
    stops INTEGER NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    revoked_at DOUBLE PRECISION
);
CREATE TABLE gateway_request (
    id TEXT PRIMARY KEY,
    at DOUBLE PRECISION NOT NULL,
    day TEXT NOT NULL,
    session TEXT NOT NULL,
    purpose TEXT NOT NULL,
    key_name TEXT NOT NULL,
    upstream TEXT NOT NULL,
    api TEXT NOT NULL,
    model TEXT NOT NULL,
    status INTEGER NOT NULL,
    ended TEXT NOT NULL,
    is_recorded INTEGER NOT NULL DEFAULT 0,
    input_tokens BIGINT,
    output_tokens BIGINT,
    cache_read_tokens BIGINT,
    cache_write_tokens BIGINT,
    reasoning_tokens BIGINT,
    cost_usd DOUBLE PRECISION,
    cost_source TEXT,
    raw TEXT NOT NULL,
    seconds DOUBLE PRECISION NOT NULL
);
CREATE INDEX gateway_request_at ON gateway_request (at);
CREATE INDEX gateway_request_session ON gateway_request (session, at);
CREATE INDEX gateway_request_key ON gateway_request (key_name, day);
CREATE TABLE gateway_view (
    session TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    known TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL
);
CREATE INDEX gateway_view_at ON gateway_view (at);
CREATE TABLE gateway_chain (
    response_id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL
);
CREATE INDEX gateway_chain_at ON gateway_chain (at);
