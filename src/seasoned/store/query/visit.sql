-- Logins on the pages, where several server processes share them: on PostgreSQL alone.

-- name: find
SELECT number, cookie_hash, form_check, credential, expires_at FROM browser_session WHERE number = :number;

-- name: keep
INSERT INTO browser_session (number, cookie_hash, form_check, credential, expires_at)
VALUES (:number, :cookie_hash, :form_check, :credential, :expires_at);

-- name: drop_old
DELETE FROM browser_session WHERE expires_at <= :now
    OR number IN (SELECT number FROM browser_session ORDER BY expires_at DESC OFFSET :most);

-- name: end
DELETE FROM browser_session WHERE number = :number;
