-- name: clear_parts
DELETE FROM usage_part WHERE session_id IN (SELECT id FROM touched);

-- name: add_parts
-- The figures of `hourly_usage`, in its order: hour, model, whether the prompt was long, usage, written for an hour.
-- What the agent recorded as cost is divided by tokens.
INSERT INTO usage_part
SELECT session_id, hour, model, is_long, input, output, cache_read, cache_write, reasoning, for_an_hour,
    cost_usd * total / COALESCE(NULLIF(sum(total) OVER (PARTITION BY session_id), 0), 1)
FROM (
    SELECT session.id AS session_id, session.cost_usd,
        -- Where no time is known, the session's own stands for it.
        CASE WHEN json_extract(one.value, '$[0]') >= 0 THEN json_extract(one.value, '$[0]')
            ELSE CAST(COALESCE(session.ended, session.started, -3600) / 3600 AS INTEGER) END AS hour,
        COALESCE(json_extract(one.value, '$[1]'), session.model, '') AS model,
        json_extract(one.value, '$[2]') AS is_long,
        json_extract(one.value, '$[3].input') AS input, json_extract(one.value, '$[3].output') AS output,
        json_extract(one.value, '$[3].cache_read') AS cache_read,
        json_extract(one.value, '$[3].cache_write') AS cache_write,
        json_extract(one.value, '$[3].reasoning') AS reasoning,
        json_extract(one.value, '$[4]') AS for_an_hour,
        COALESCE(json_extract(one.value, '$[3].input'), 0) + COALESCE(json_extract(one.value, '$[3].output'), 0)
            + COALESCE(json_extract(one.value, '$[3].cache_read'), 0)
            + COALESCE(json_extract(one.value, '$[3].cache_write'), 0) AS total
    FROM touched CROSS JOIN session ON session.id = touched.id CROSS JOIN json_each(session.hourly_usage) AS one
)
WHERE true
ON CONFLICT (session_id, hour, model, is_long) DO UPDATE SET
    input = usage_part.input + excluded.input, output = usage_part.output + excluded.output,
    cache_read = usage_part.cache_read + excluded.cache_read, cache_write = usage_part.cache_write + excluded.cache_write,
    cache_write_1h = usage_part.cache_write_1h + excluded.cache_write_1h,
    recorded_usd = usage_part.recorded_usd + excluded.recorded_usd;

-- name: add_whole
-- Sessions of which only the sum is known, or only what the agent says they cost.
INSERT INTO usage_part
SELECT session.id, CAST(COALESCE(ended, started, -3600) / 3600 AS INTEGER), COALESCE(model, ''), 0, input_tokens,
    output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, 0, cost_usd
FROM touched CROSS JOIN session ON session.id = touched.id
WHERE COALESCE(hourly_usage, '[]') = '[]'
  AND (input_tokens IS NOT NULL OR output_tokens IS NOT NULL OR cost_usd IS NOT NULL);

-- name: set_cost
UPDATE session SET known_usd = (SELECT sum(usd) FROM usage_cost WHERE session_id = session.id)
WHERE id IN (SELECT id FROM touched);

-- name: touch_day
INSERT INTO touched (id) SELECT DISTINCT part.session_id
FROM usage_part AS part CROSS JOIN session ON session.id = part.session_id
WHERE part.hour BETWEEN ? AND ? AND part.model = ? AND session.agent = ?
ON CONFLICT DO NOTHING;

-- name: known
SELECT count(known_usd) AS sessions, sum(known_usd) AS usd FROM session;

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
        WHEN 'agent' THEN agent WHEN 'project' THEN project 
        WHEN 'block' THEN begun
        ELSE CASE WHEN hour >= 0 THEN date(hour * 3600, 'unixepoch') END END AS name,
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
WHERE agent || ':' || native_id NOT IN (SELECT value FROM json_each(:without))
GROUP BY name ORDER BY last_at DESC, name DESC;

-- name: hours
SELECT DISTINCT hour FROM usage_part WHERE hour >= :first_hour ORDER BY hour;

-- name: since_hour
SELECT sum(usd) AS usd, sum(CASE WHEN agent = 'claude-code' AND native_id = :session THEN usd END) AS own
FROM usage_cost WHERE hour >= :first_hour;

-- name: unpriced
SELECT agent, model, count(*) FROM usage_cost
WHERE usd IS NULL AND hour >= :first_hour AND (:project IS NULL OR project = :project)
GROUP BY agent, model ORDER BY count(*) DESC, agent, model;
