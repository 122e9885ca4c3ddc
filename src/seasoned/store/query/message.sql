-- name: save
INSERT INTO message (session_id, position, time, summary, body) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (session_id, position) DO UPDATE SET
    time = excluded.time, summary = excluded.summary, body = excluded.body;

-- name: of_session
SELECT position, time, summary, body FROM message WHERE session_id = :session_id ORDER BY position;

-- name: end
UPDATE session SET end_reason = :end_reason WHERE id = :id;
