CREATE TABLE credential (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL CHECK (role IN ('agent', 'approver', 'admin')),
    person TEXT NOT NULL,
    token_hash TEXT NOT NULL UNIQUE,
    verifier TEXT,
    created_at DOUBLE PRECISION NOT NULL,
    revoked_at DOUBLE PRECISION,
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
CREATE INDEX request_action ON request (action, created_at, status);
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
CREATE TABLE allowed (
    id TEXT PRIMARY KEY,
    action TEXT NOT NULL CHECK (action NOT IN (
        'deploy_production', 'delete_data', 'transfer_funds', 'modify_permissions', 'shutdown_service',
        'wipe_database', 'exec_remote', 'publish_package', 'rotate_keys', 'migrate_database'
    )),
    session_key TEXT,
    expires_at DOUBLE PRECISION,
    created_at DOUBLE PRECISION NOT NULL,
    created_by TEXT NOT NULL
);
CREATE INDEX allowed_action ON allowed (action);
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
    UNIQUE (request_id, event, channel)
);
CREATE INDEX outbox_due ON outbox (next_at) WHERE sent_at IS NULL;
CREATE TABLE spent (
    hash TEXT PRIMARY KEY,
    purpose TEXT NOT NULL,
    request_id TEXT,
    at DOUBLE PRECISION NOT NULL
);
CREATE TABLE notice (
    channel TEXT NOT NULL,
    request_id TEXT NOT NULL REFERENCES request (id),
    place TEXT NOT NULL,
    told_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (channel, request_id)
);
CREATE TABLE heard (
    channel TEXT NOT NULL,
    message_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    answer TEXT NOT NULL,
    heard_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (channel, message_id)
);
CREATE INDEX heard_at ON heard (heard_at);
