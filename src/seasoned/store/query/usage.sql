-- name: save
-- While an answer is streamed its figures are written again and again: the largest are those of the whole.
INSERT INTO usage_event (session_id, key, at, model, input, output, cache_read, cache_write, reasoning, cache_write_1h)
VALUES (:session_id, :key, :at, :model, :input, :output, :cache_read, :cache_write, :reasoning, :cache_write_1h)
ON CONFLICT (session_id, key) DO UPDATE SET
    at = COALESCE(min(at, excluded.at), at, excluded.at), model = COALESCE(model, excluded.model),
    input = COALESCE(max(input, excluded.input), input, excluded.input),
    output = COALESCE(max(output, excluded.output), output, excluded.output),
    cache_read = COALESCE(max(cache_read, excluded.cache_read), cache_read, excluded.cache_read),
    cache_write = COALESCE(max(cache_write, excluded.cache_write), cache_write, excluded.cache_write),
    reasoning = COALESCE(max(reasoning, excluded.reasoning), reasoning, excluded.reasoning),
    cache_write_1h = max(cache_write_1h, excluded.cache_write_1h);

-- name: touch_copies
INSERT INTO touched (id)
SELECT other.session_id FROM touched CROSS JOIN usage_event AS own ON own.session_id = touched.id
CROSS JOIN usage_event AS other ON other.key = own.key AND other.session_id <> own.session_id
WHERE true ON CONFLICT DO NOTHING;

-- name: clear_parts
DELETE FROM usage_part WHERE session_id IN (SELECT id FROM touched);

-- name: add_parts
-- An answer counts in the session that had it first: forks and resumed sessions copy what came before.
-- What the agent recorded as cost is divided by tokens.
INSERT INTO usage_part
SELECT session_id, hour, model, is_long, input, output, cache_read, cache_write, reasoning, for_an_hour,
    cost_usd * total / COALESCE(NULLIF(sum(total) OVER (PARTITION BY session_id), 0), 1)
FROM (
    SELECT session.id AS session_id, session.cost_usd,
        -- Where no time is known, the session's own stands for it.
        CAST(COALESCE(event.at, session.ended, session.started, -3600) / 3600 AS INTEGER) AS hour,
        COALESCE(event.model, session.model, '') AS model,
        -- Beyond this some models have higher prices.
        COALESCE(event.input, 0) + COALESCE(event.cache_read, 0) + COALESCE(event.cache_write, 0) > 200000 AS is_long,
        sum(event.input) AS input, sum(event.output) AS output, sum(event.cache_read) AS cache_read,
        sum(event.cache_write) AS cache_write, sum(event.reasoning) AS reasoning,
        sum(event.cache_write_1h) AS for_an_hour,
        total(event.input) + total(event.output) + total(event.cache_read) + total(event.cache_write) AS total
    FROM touched CROSS JOIN session ON session.id = touched.id
    CROSS JOIN usage_event AS event ON event.session_id = session.id
    WHERE NOT EXISTS (
        SELECT 1 FROM usage_event AS first CROSS JOIN session AS other ON other.id = first.session_id
        WHERE first.key = event.key AND first.session_id <> event.session_id
          AND (COALESCE(first.at, 0.0), other.agent, other.native_id)
            < (COALESCE(event.at, 0.0), session.agent, session.native_id))
    GROUP BY session.id, hour, 4, is_long
);

-- name: add_whole
-- Sessions of which only what the agent says they cost is known.
INSERT INTO usage_part
SELECT session.id, CAST(COALESCE(ended, started, -3600) / 3600 AS INTEGER), COALESCE(model, ''), 0, NULL, NULL, NULL,
    NULL, NULL, 0, cost_usd
FROM touched CROSS JOIN session ON session.id = touched.id
WHERE cost_usd IS NOT NULL AND NOT EXISTS (SELECT 1 FROM usage_event WHERE session_id = session.id);

-- name: set_tokens
UPDATE session
SET (input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens) = (
    SELECT COALESCE(sum(input), 0), COALESCE(sum(output), 0), sum(cache_read), sum(cache_write), sum(reasoning)
    FROM usage_part WHERE session_id = session.id)
WHERE id IN (SELECT id FROM touched) AND EXISTS (SELECT 1 FROM usage_event WHERE session_id = session.id);

-- name: set_cost
UPDATE session SET known_usd = (SELECT sum(usd) FROM usage_cost WHERE session_id = session.id)
WHERE id IN (SELECT id FROM touched);

-- name: touch_day
INSERT INTO touched (id) SELECT DISTINCT part.session_id
FROM usage_part AS part CROSS JOIN session ON session.id = part.session_id
WHERE part.hour BETWEEN ? AND ? AND part.model = ? AND session.agent = ?
ON CONFLICT DO NOTHING;

-- name: without_price
SELECT DISTINCT session.agent, part.model, part.hour / 24 AS day, part.is_long
FROM usage_part AS part CROSS JOIN session ON session.id = part.session_id
LEFT JOIN model_price AS price ON price.agent = session.agent AND price.model = part.model
    AND price.day = part.hour / 24 AND price.is_long = part.is_long
WHERE part.recorded_usd IS NULL AND price.source IS NULL;

-- name: price_source
SELECT source FROM model_price LIMIT 1;

-- name: drop_prices
DELETE FROM model_price;

-- name: add_price
INSERT INTO model_price (agent, model, day, is_long, input, output, cache_read, cache_write, cache_write_1h, source)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: totals
-- The block of each hour, joined: looked up for each part, 20,000 sessions took 18 seconds.
WITH block AS MATERIALIZED (
    SELECT json_extract(value, '$[0]') AS of_hour, json_extract(value, '$[1]') AS begun FROM json_each(:blocks)
)
SELECT CASE :by WHEN 'session' THEN agent || ':' || native_id WHEN 'model' THEN NULLIF(model, '')
        WHEN 'agent' THEN agent WHEN 'project' THEN project WHEN 'block' THEN begun
        ELSE CASE WHEN hour < 0 THEN NULL WHEN :by = 'week' THEN date(sunday, '-6 days')
            WHEN :by = 'month' THEN substr(day, 1, 7) ELSE day END END AS name,
    -- The same for the second thing that is summed by, if there is one.
    CASE :part WHEN 'session' THEN agent || ':' || native_id WHEN 'model' THEN NULLIF(model, '')
        WHEN 'agent' THEN agent WHEN 'project' THEN project WHEN 'block' THEN begun
        ELSE CASE WHEN hour < 0 OR :part IS NULL THEN NULL WHEN :part = 'week' THEN date(sunday, '-6 days')
            WHEN :part = 'month' THEN substr(day, 1, 7) ELSE day END END AS part,
    count(DISTINCT session_id) AS sessions, sum(input) AS input, sum(output) AS output, sum(cache_read) AS cache_read,
    sum(cache_write) AS cache_write, sum(reasoning) AS reasoning, sum(usd) AS usd,
    sum(CASE WHEN price_source IS NOT NULL THEN usd END) AS estimated_usd,
    count(DISTINCT CASE WHEN price_source IS NOT NULL THEN session_id END) AS estimated,
    max(price_source) AS price_source,
    count(DISTINCT CASE WHEN usd IS NULL THEN session_id END) AS unpriced,
    max(CASE WHEN hour >= 0 THEN min(COALESCE(at, hour * 3600 + 3599), hour * 3600 + 3599) END) AS last_at,
    max(last_prompt_tokens) AS last_prompt_tokens
FROM (
    SELECT * FROM usage_cost WHERE :project IS NULL AND hour >= :first_hour
    UNION ALL
    -- From the sessions of the project: by hour, every part of every project would be read. `+` leaves out that index.
    SELECT * FROM usage_cost
    WHERE session_id IN (SELECT id FROM session WHERE project = :project) AND +hour >= :first_hour
) LEFT JOIN block ON of_hour = hour
-- Each hour's day here, and the Sunday that ends its week, once.
LEFT JOIN (
    SELECT hour AS day_hour, date(hour * 3600, 'unixepoch', 'localtime') AS day,
        date(hour * 3600, 'unixepoch', 'localtime', 'weekday 0') AS sunday
    FROM (
        SELECT DISTINCT hour FROM usage_part
        WHERE hour >= :first_hour AND (:by IN ('day', 'week', 'month') OR :part IN ('day', 'week', 'month')))
) ON day_hour = hour
WHERE agent || ':' || native_id NOT IN (SELECT value FROM json_each(:without))
GROUP BY name, part ORDER BY last_at DESC, name DESC;

-- name: hours
SELECT DISTINCT hour FROM usage_part WHERE hour >= :first_hour ORDER BY hour;

-- name: since_hour
SELECT sum(usd) AS usd, count(DISTINCT CASE WHEN usd IS NULL THEN session_id END) AS unpriced,
    sum(CASE WHEN agent = 'claude-code' AND native_id = :session THEN usd END) AS own
FROM usage_cost WHERE hour >= :first_hour;

-- name: unpriced
SELECT agent, model, count(*) FROM usage_cost
WHERE usd IS NULL AND hour >= :first_hour AND (:project IS NULL OR project = :project)
GROUP BY agent, model ORDER BY count(*) DESC, agent, model;

-- name: answers
-- What each answer cost, in the session that had it first. What the agent recorded as cost is divided by tokens.
SELECT COALESCE(root_id, id) AS root, agent, native_id, project, branch, model, at, input, output, cache_read, cache_write,
    reasoning, COALESCE(cost_usd * total / sum(total) OVER (PARTITION BY id), list_usd) AS usd,
    CASE WHEN cost_usd IS NULL AND list_usd IS NOT NULL THEN source END AS price_source
FROM (
    SELECT session.id, session.root_id, session.agent, session.native_id, session.project, session.branch,
        session.cost_usd, COALESCE(event.at, session.ended, session.started) AS at, event.input, event.output,
        event.cache_read, event.cache_write, event.reasoning, COALESCE(event.model, session.model) AS model, price.source,
        COALESCE(event.input, 0) + COALESCE(event.output, 0) + COALESCE(event.cache_read, 0)
            + COALESCE(event.cache_write, 0) + 1e-9 AS total,
        event.input * price.input + event.output * price.output + COALESCE(event.cache_read, 0) * price.cache_read
            + (COALESCE(event.cache_write, 0) - event.cache_write_1h) * price.cache_write
            + event.cache_write_1h * price.cache_write_1h AS list_usd
    FROM session CROSS JOIN usage_event AS event ON event.session_id = session.id
    LEFT JOIN model_price AS price ON price.agent = session.agent
        AND price.model = COALESCE(event.model, session.model, '')
        AND price.day = CAST(COALESCE(event.at, session.ended, session.started, -3600) / 3600 AS INTEGER) / 24
        AND price.is_long
            = (COALESCE(event.input, 0) + COALESCE(event.cache_read, 0) + COALESCE(event.cache_write, 0) > 200000)
    WHERE (:project IS NULL OR session.project = :project) AND NOT EXISTS (
        SELECT 1 FROM usage_event AS first CROSS JOIN session AS other ON other.id = first.session_id
        WHERE first.key = event.key AND first.session_id <> event.session_id
          AND (COALESCE(first.at, 0.0), other.agent, other.native_id)
            < (COALESCE(event.at, 0.0), session.agent, session.native_id))
)
UNION ALL
SELECT COALESCE(root_id, id), agent, native_id, project, branch, model, COALESCE(ended, started), NULL, NULL, NULL, NULL,
    NULL, cost_usd, NULL
FROM session WHERE cost_usd IS NOT NULL AND (:project IS NULL OR project = :project)
  AND NOT EXISTS (SELECT 1 FROM usage_event WHERE session_id = session.id);

-- name: git_calls
-- Calls that may have made a commit or opened a pull request, in order of time.
SELECT COALESCE(session.root_id, session.id) AS root, session.project, session.branch, call.time, call.tool,
    call.arguments, call.result
FROM call CROSS JOIN session ON session.id = call.session_id
WHERE call.copy_of IS NULL AND call.time IS NOT NULL AND (:project IS NULL OR session.project = :project)
  AND (call.arguments LIKE '%git %' AND call.result LIKE '%[%'
    OR call.result LIKE '%/pull/%' AND (call.arguments LIKE '%gh pr create%' OR call.tool LIKE '%create_pull_request'))
ORDER BY call.time, call.id;
