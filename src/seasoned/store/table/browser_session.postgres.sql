-- Browsers that are logged in, for all server processes of one address. The cookie itself is not here.
CREATE TABLE browser_session (
    number TEXT PRIMARY KEY,
    cookie_hash TEXT NOT NULL,
    form_check TEXT NOT NULL,
    credential TEXT,
    expires_at DOUBLE PRECISION NOT NULL
);
