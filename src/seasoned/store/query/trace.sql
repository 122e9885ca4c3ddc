-- name: runs
SELECT * FROM job_run ORDER BY scheduled_at, job_id;

-- name: requests
SELECT id, action, description, details, requester_name AS requester, label, session_key, status, timeout_seconds,
    created_at, expires_at, resolved_at, resolved_by, reason, digest, redeem_before, redeemed_at, quorum
FROM request ORDER BY created_at, id;

-- name: asked
SELECT session_key, count(*) AS requests, sum(CASE WHEN status = 'pending' THEN 1 ELSE 0 END) AS pending
FROM request WHERE session_key <> '' GROUP BY session_key;

-- name: forget_run
UPDATE job_run SET session = NULL, output = '', script_output = '', note = '', reason = 'Its session was forgotten.',
    delivery = CASE WHEN delivery = 'pending' THEN 'none' ELSE delivery END, delivery_error = ''
WHERE substr(:session, 1, 9) = 'seasoned:' AND session = substr(:session, 10);

-- name: forget_runs
UPDATE job_run SET session = NULL, output = '', script_output = '', note = '', reason = 'Its session was forgotten.',
    delivery = CASE WHEN delivery = 'pending' THEN 'none' ELSE delivery END, delivery_error = ''
WHERE session IS NOT NULL;
