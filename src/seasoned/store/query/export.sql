-- name: source
SELECT id, path, format, size, mtime_ns, judge, scanned_at, gone_at FROM source ORDER BY id;

-- name: unreadable
SELECT source_id, place, reason FROM unreadable ORDER BY source_id, place;

-- name: session
SELECT * FROM session ORDER BY id;

-- name: call
SELECT * FROM call ORDER BY session_id, position;
