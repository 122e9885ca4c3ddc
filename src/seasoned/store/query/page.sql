-- name: sessions
-- A list in the order that a person chose. `:order` names one of these columns, and no other.
SELECT * FROM (
    SELECT *, CASE :order
        WHEN 'at' THEN at WHEN 'messages' THEN messages WHEN 'calls' THEN calls WHEN 'failed' THEN failed
        WHEN 'rate' THEN rate WHEN 'cost' THEN cost END AS sort
    FROM (
        SELECT session.*, COALESCE(1.0 * failed / NULLIF(ok + failed, 0), -1) AS rate, COALESCE(known_usd, -1) AS cost
        FROM session
        WHERE (:agent IS NULL OR agent = :agent) AND (:task_type IS NULL OR task_type = :task_type)
          AND messages BETWEEN :least AND :most AND failed BETWEEN :least_failed AND :most_failed
          AND (:succeeded IS NULL OR succeeded = :succeeded) AND at >= :since AND at < :until
          AND (:words IS NULL OR COALESCE(title, '') || ' ' || native_id || ' ' || COALESCE(cwd, '') || ' '
              || COALESCE(model, '') LIKE :words ESCAPE '\')
          AND (:tool IS NULL OR EXISTS (
              SELECT 1 FROM session_tool WHERE session_tool.session_id = session.id AND tool = :tool))
          AND (:project IS NULL OR project = :project)))
WHERE (sort, id) < (:sort, :id)
ORDER BY sort DESC, id DESC LIMIT :limit;

-- name: weeks
-- Weeks of seven days back from a moment. Of the sessions with calls that count: how many, and the squares from which an
-- interval over sessions is made.
SELECT CAST((:until - at) / 604800 AS INTEGER) AS weeks_ago, count(*) AS sessions, sum(ok) AS ok, sum(failed) AS failed,
    sum(ok + failed > 0) AS counted, sum((ok + failed) * (ok + failed)) AS total_squared,
    sum(failed * failed) AS failed_squared, sum(failed * (ok + failed)) AS failed_by_total
FROM session WHERE at > :since AND at <= :until AND (:project IS NULL OR project = :project) GROUP BY 1;

-- name: week_costs
SELECT (:last_hour - hour) / 168 AS weeks_ago, sum(usd) AS usd
FROM usage_cost WHERE hour > :last_hour - 8 * 168 AND hour <= :last_hour GROUP BY 1;

-- name: failed_since
SELECT count(*) AS sessions, COALESCE(sum(failed), 0) AS failed FROM session WHERE at >= :since AND failed > 0;

-- name: failed_calls
-- The newest, of the newest sessions.
SELECT newest.agent, newest.native_id, newest.project, call.position, call.message, call.tool, call.arguments,
    call.result, call.reason, COALESCE(call.time, newest.at) AS time
FROM (SELECT * FROM session WHERE failed > 0 ORDER BY at DESC, id DESC LIMIT 20) AS newest
CROSS JOIN call ON call.session_id = newest.id
WHERE call.counts_as = 'failed' AND call.copy_of IS NULL
ORDER BY time DESC, call.id DESC LIMIT :limit;

-- name: agents
SELECT DISTINCT agent FROM session ORDER BY agent;

-- name: session
SELECT session.*, source.path AS path, source.gone_at AS gone_at, source.format AS format,
    (SELECT sum(usd) FROM usage_cost WHERE session_id = session.id) AS cost,
    (SELECT max(price_source) FROM usage_cost WHERE session_id = session.id) AS price_source
FROM session LEFT JOIN source ON source.id = session.source_id WHERE session.id = :id;

-- name: ref
SELECT id FROM session WHERE agent = :agent AND native_id = :native_id;

-- name: calls
SELECT * FROM call WHERE session_id = :session_id ORDER BY position;

-- name: children
SELECT id, agent, native_id, relation, title, calls, failed FROM session
WHERE parent_agent = :agent AND parent_native_id = :native_id ORDER BY started, id LIMIT :limit;

-- name: named
SELECT id, agent, native_id, title FROM session WHERE agent = :agent AND native_id = :native_id;

-- name: spending
-- Cost by periods of so many hours: of every project, or of the models of one, without some sessions.
SELECT (hour + :shift) / :hours AS period, CASE WHEN :project IS NULL THEN project ELSE NULLIF(model, '') END AS name,
    sum(usd) AS usd
FROM usage_cost WHERE hour >= :first_hour AND (:project IS NULL OR project = :project) AND usd > 0
  AND agent || ':' || native_id NOT IN (SELECT value FROM json_each(:without))
GROUP BY 1, 2;

-- name: days
SELECT CAST(at / 86400 AS INTEGER) AS day, count(*) AS sessions
FROM session WHERE at >= :since AND at <= :until GROUP BY 1;
