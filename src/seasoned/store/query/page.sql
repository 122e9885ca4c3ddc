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

-- name: days
SELECT COALESCE(date(COALESCE(started, ended), 'unixepoch'), '') AS day, agent, count(*) AS sessions,
    sum(messages) AS messages, sum(calls) AS calls, sum(ok) AS ok, sum(failed) AS failed, sum(unclear) AS unclear,
    sum(declined + cancelled + interrupted + trivial) AS left_out, count(cost_usd) AS priced,
    sum(CAST(round(COALESCE(cost_usd, 0) * 1000000) AS INTEGER)) AS cost_micro_usd,
    -- Of the sessions with calls that count: how many, and the squares from which an interval over sessions is made.
    sum(ok + failed > 0) AS counted, sum((ok + failed) * (ok + failed)) AS total_squared,
    sum(failed * failed) AS failed_squared, sum(failed * (ok + failed)) AS failed_by_total
FROM session GROUP BY 1, agent ORDER BY 1, agent;

-- name: failed_between
SELECT count(*) AS sessions, COALESCE(sum(failed), 0) AS failed FROM session
WHERE at >= :since AND at < :until AND failed > 0;

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

-- name: opening
SELECT intent FROM call WHERE id = (SELECT min(id) FROM call WHERE session_id = :session_id)
    AND message BETWEEN 1 AND 3 AND intent IS NOT NULL;
