ALTER TABLE credential ADD COLUMN public_key TEXT;
ALTER TABLE credential ADD COLUMN sealed_key TEXT;
CREATE TABLE device_key (
    public_key TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    sealed BYTEA NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL
);
