-- name: add_key
INSERT INTO gateway_key (id, name, token_hash, usd_per_day, tokens_per_day, stops, created_at)
VALUES (:id, :name, :token_hash, :usd_per_day, :tokens_per_day, :stops, :created_at)
ON CONFLICT (name) DO NOTHING;

-- name: keys
SELECT id, name, token_hash, usd_per_day, tokens_per_day, stops, created_at, revoked_at
FROM gateway_key ORDER BY created_at, name;

-- name: key_named
SELECT id, name, token_hash, usd_per_day, tokens_per_day, stops, created_at, revoked_at
FROM gateway_key WHERE name = :name;

-- name: revoke_key
UPDATE gateway_key SET revoked_at = :now WHERE name = :name AND revoked_at IS NULL;

-- name: add_request
INSERT INTO gateway_request (
    id, at, day, session, purpose, key_name, upstream, api, model, status, ended,
    input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
    cost_usd, cost_source, raw, seconds
) VALUES (
    :id, :at, :day, :session, :purpose, :key_name, :upstream, :api, :model, :status, :ended,
    :input_tokens, :output_tokens, :cache_read_tokens, :cache_write_tokens, :reasoning_tokens,
    :cost_usd, :cost_source, :raw, :seconds
) ON CONFLICT (id) DO UPDATE SET
    status = excluded.status, ended = excluded.ended, model = excluded.model,
    input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
    cache_read_tokens = excluded.cache_read_tokens, cache_write_tokens = excluded.cache_write_tokens,
    reasoning_tokens = excluded.reasoning_tokens, cost_usd = excluded.cost_usd, cost_source = excluded.cost_source,
    raw = excluded.raw, seconds = excluded.seconds;

-- name: recorded
UPDATE gateway_request SET is_recorded = 1 WHERE id = :id;

-- name: keep_view
INSERT INTO gateway_view (session, owner, known, at) VALUES (:session, :owner, :known, :at)
ON CONFLICT (session) DO UPDATE SET known = excluded.known, at = excluded.at;

-- name: view
SELECT owner, known FROM gateway_view WHERE session = :session;

-- name: owners
SELECT session, owner FROM gateway_view ORDER BY at DESC LIMIT :limit;

-- name: keep_chain
INSERT INTO gateway_chain (response_id, session, at) VALUES (:response_id, :session, :at)
ON CONFLICT (response_id) DO NOTHING;

-- name: chains
SELECT response_id, session FROM gateway_chain ORDER BY at DESC LIMIT :limit;

-- name: requests_of
SELECT * FROM gateway_request WHERE session = :session ORDER BY at, id;

-- name: lost_turns
SELECT count(*) AS turns, min(at) AS first_at, max(at) AS last_at FROM gateway_request
WHERE session = :session AND is_recorded = 0 AND purpose = 'turn';

-- name: spent
SELECT COUNT(*) AS requests,
    SUM(COALESCE(input_tokens, 0) + COALESCE(cache_read_tokens, 0) + COALESCE(cache_write_tokens, 0)) AS prompt_tokens,
    SUM(output_tokens) AS output_tokens, SUM(cost_usd) AS cost_usd,
    SUM(CASE WHEN cost_usd IS NULL AND output_tokens IS NOT NULL THEN 1 ELSE 0 END) AS unpriced
FROM gateway_request WHERE key_name = :key_name AND day = :day;

-- name: recent_turns
SELECT COUNT(*) AS turns, SUM(is_recorded) AS recorded FROM gateway_request
WHERE purpose = 'turn' AND ended = 'complete' AND at >= :since AND at < :until;

-- name: usage
-- By one name. The sessions that count are keys of an object: both databases read those in the same words.
SELECT CASE :by WHEN 'session' THEN session WHEN 'model' THEN model WHEN 'day' THEN day ELSE key_name END AS name,
    COUNT(*) AS requests, SUM(input_tokens) AS input_tokens,
    SUM(output_tokens) AS output_tokens, SUM(cache_read_tokens) AS cache_read_tokens,
    SUM(cache_write_tokens) AS cache_write_tokens, SUM(reasoning_tokens) AS reasoning_tokens,
    SUM(cost_usd) AS cost_usd, SUM(CASE WHEN cost_usd IS NULL THEN 1 ELSE 0 END) AS unpriced,
    SUM(CASE WHEN is_recorded = 0 AND purpose = 'turn' THEN 1 ELSE 0 END) AS unrecorded, MAX(at) AS last_at,
    CASE WHEN MIN(cost_source) = MAX(cost_source) THEN MIN(cost_source)
        WHEN MIN(cost_source) IS NOT NULL THEN 'several' END AS cost_source
FROM gateway_request WHERE at >= :since AND (:has_choice = 0 OR session IN (SELECT key FROM json_each(:only))) GROUP BY 1;

-- name: sessions
SELECT DISTINCT session FROM gateway_request WHERE session <> '';

-- name: forget_view
DELETE FROM gateway_view WHERE session = :session;

-- name: forget_chains
DELETE FROM gateway_chain WHERE session = :session OR response_id = 'fork:' || :session;

-- name: forget_name
UPDATE gateway_request SET session = '' WHERE session = :session;

-- name: forget_views
DELETE FROM gateway_view;

-- name: forget_all_chains
DELETE FROM gateway_chain;

-- name: forget_requests
DELETE FROM gateway_request;

-- name: last_prompts
SELECT session, MAX(COALESCE(input_tokens, 0) + COALESCE(cache_read_tokens, 0) + COALESCE(cache_write_tokens, 0)) AS tokens
FROM gateway_request
WHERE input_tokens IS NOT NULL AND at = (
    SELECT MAX(newest.at) FROM gateway_request AS newest
    WHERE newest.session = gateway_request.session AND newest.input_tokens IS NOT NULL AND newest.purpose = 'turn')
GROUP BY session;
