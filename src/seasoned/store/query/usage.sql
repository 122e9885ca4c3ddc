-- name: recorded_by_day
SELECT day AS name, sum(sessions) AS sessions, sum(priced) AS priced, sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens, sum(cost_micro_usd) AS cost_micro_usd
FROM day_total WHERE day >= :since GROUP BY day ORDER BY day DESC;

-- name: recorded_by_model
SELECT model AS name, sum(sessions) AS sessions, sum(priced) AS priced, sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens, sum(cost_micro_usd) AS cost_micro_usd
FROM day_total WHERE day >= :since GROUP BY model ORDER BY sum(sessions) DESC, model;

-- name: recorded_by_agent
SELECT agent AS name, sum(sessions) AS sessions, sum(priced) AS priced, sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens, sum(cost_micro_usd) AS cost_micro_usd
FROM day_total WHERE day >= :since GROUP BY agent ORDER BY sum(sessions) DESC, agent;

-- name: recorded_by_session
SELECT session_line.id, session_line.cost, session_line.at, session.agent, session.native_id, session.title,
    session.model, session.input_tokens, session.output_tokens, session.cache_read_tokens, session.cache_write_tokens,
    session.reasoning_tokens, session.cost_usd
FROM session_line JOIN session ON session.id = session_line.id
WHERE session_line.at >= :since AND (:project IS NULL OR session.project = :project)
  AND (session_line.cost < :cost OR (session_line.cost = :cost AND session_line.id < :id))
ORDER BY session_line.cost DESC, session_line.id DESC LIMIT :limit;

-- name: recorded_in_project
SELECT name, count(*) AS sessions, sum(cost_usd IS NOT NULL) AS priced, sum(COALESCE(input_tokens, 0)) AS input_tokens,
    sum(COALESCE(output_tokens, 0)) AS output_tokens,
    sum(CAST(round(COALESCE(cost_usd, 0) * 1000000) AS INTEGER)) AS cost_micro_usd
FROM (
    SELECT CASE :by WHEN 'model' THEN COALESCE(model, '') WHEN 'agent' THEN agent ELSE day END AS name, session.*
    FROM (
        SELECT COALESCE(date(COALESCE(started, ended), 'unixepoch'), '') AS day, * FROM session WHERE project = :project
    ) AS session WHERE day >= :since
) AS named
GROUP BY name
ORDER BY CASE WHEN :by = 'day' THEN name END DESC, count(*) DESC, name;
