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
