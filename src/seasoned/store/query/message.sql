-- name: begin
INSERT INTO recording (session_id, platform, model, base_url, toolsets, instructions, warm)
VALUES (:session_id, :platform, :model, :base_url, :toolsets, :instructions, :warm)
ON CONFLICT (session_id) DO NOTHING;

-- name: recording
SELECT * FROM recording WHERE session_id = :session_id;

-- name: save
INSERT INTO message (session_id, position, time, summary, body) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (session_id, position) DO UPDATE SET
    time = excluded.time, summary = excluded.summary, body = excluded.body;

-- name: of_session
SELECT position, time, summary, body FROM message WHERE session_id = :session_id ORDER BY position;

-- name: add_request
INSERT INTO model_request (
    session_id, time, purpose, model, provider,
    input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd, raw
) VALUES (
    :session_id, :time, :purpose, :model, :provider,
    :input_tokens, :output_tokens, :cache_read_tokens, :cache_write_tokens, :reasoning_tokens, :cost_usd, :raw
);

-- name: requests_of
SELECT * FROM model_request WHERE session_id = :session_id ORDER BY id;

-- name: spent
SELECT count(*) AS requests, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
    sum(cost_usd) AS cost_usd, sum(CASE WHEN cost_usd IS NULL THEN 1 ELSE 0 END) AS unpriced
FROM model_request WHERE purpose = :purpose AND time >= :since;

-- name: end
UPDATE session SET end_reason = :end_reason WHERE id = :id;
