CREATE TABLE warm_mark (
    session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    digest TEXT NOT NULL,
    PRIMARY KEY (session_id, digest)
);
CREATE TABLE shown_block (
    digest TEXT PRIMARY KEY,
    example_ids TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL
);
DELETE FROM example_state WHERE state = 'retired' AND evidence LIKE '{"last_seen":%"days":%';
