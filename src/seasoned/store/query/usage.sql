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
WHERE session_line.at >= :since
  AND (session_line.cost < :cost OR (session_line.cost = :cost AND session_line.id < :id))
ORDER BY session_line.cost DESC, session_line.id DESC LIMIT :limit;
