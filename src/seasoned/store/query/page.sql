-- name: by_at
SELECT session.*, line.at, line.rate, line.cost
FROM (
    SELECT id, at FROM session_line
    WHERE (at, id) < (:sort, :id)
      AND (:agent IS NULL OR agent = :agent) AND (:task_type IS NULL OR task_type = :task_type)
      AND +messages BETWEEN :least AND :most AND +failed BETWEEN :least_failed AND :most_failed
      AND (:succeeded IS NULL OR succeeded = :succeeded) AND at >= :since
      AND (:words IS NULL OR words LIKE :words ESCAPE '\')
      AND (:tool IS NULL OR EXISTS (
          SELECT 1 FROM session_tool WHERE session_tool.session_id = session_line.id AND tool = :tool))
      AND (:mistake IS NULL OR id IN (SELECT session_id FROM mistake_session WHERE mistake_id = :mistake))
      AND (:project IS NULL OR id IN (SELECT session.id FROM session WHERE session.project = :project))
    ORDER BY at DESC, id DESC LIMIT :limit
) AS found JOIN session_line AS line ON line.id = found.id JOIN session ON session.id = found.id
ORDER BY found.at DESC, found.id DESC;

-- name: by_messages
SELECT session.*, line.at, line.rate, line.cost
FROM (
    SELECT id, messages FROM session_line
    WHERE (messages, id) < (:sort, :id)
      AND (:agent IS NULL OR agent = :agent) AND (:task_type IS NULL OR task_type = :task_type)
      AND +messages BETWEEN :least AND :most AND +failed BETWEEN :least_failed AND :most_failed
      AND (:succeeded IS NULL OR succeeded = :succeeded) AND +at >= :since AND +at < :until
      AND (:words IS NULL OR words LIKE :words ESCAPE '\')
      AND (:tool IS NULL OR EXISTS (
          SELECT 1 FROM session_tool WHERE session_tool.session_id = session_line.id AND tool = :tool))
      AND (:mistake IS NULL OR id IN (SELECT session_id FROM mistake_session WHERE mistake_id = :mistake))
      AND (:project IS NULL OR id IN (SELECT session.id FROM session WHERE session.project = :project))
    ORDER BY messages DESC, id DESC LIMIT :limit
) AS found JOIN session_line AS line ON line.id = found.id JOIN session ON session.id = found.id
ORDER BY found.messages DESC, found.id DESC;

-- name: by_calls
SELECT session.*, line.at, line.rate, line.cost
FROM (
    SELECT id, calls FROM session_line
    WHERE (calls, id) < (:sort, :id)
      AND (:agent IS NULL OR agent = :agent) AND (:task_type IS NULL OR task_type = :task_type)
      AND +messages BETWEEN :least AND :most AND +failed BETWEEN :least_failed AND :most_failed
      AND (:succeeded IS NULL OR succeeded = :succeeded) AND +at >= :since AND +at < :until
      AND (:words IS NULL OR words LIKE :words ESCAPE '\')
      AND (:tool IS NULL OR EXISTS (
          SELECT 1 FROM session_tool WHERE session_tool.session_id = session_line.id AND tool = :tool))
      AND (:mistake IS NULL OR id IN (SELECT session_id FROM mistake_session WHERE mistake_id = :mistake))
      AND (:project IS NULL OR id IN (SELECT session.id FROM session WHERE session.project = :project))
    ORDER BY calls DESC, id DESC LIMIT :limit
) AS found JOIN session_line AS line ON line.id = found.id JOIN session ON session.id = found.id
ORDER BY found.calls DESC, found.id DESC;

-- name: by_failed
SELECT session.*, line.at, line.rate, line.cost
FROM (
    SELECT id, failed FROM session_line
    WHERE (failed, id) < (:sort, :id)
      AND (:agent IS NULL OR agent = :agent) AND (:task_type IS NULL OR task_type = :task_type)
      AND +messages BETWEEN :least AND :most AND +failed BETWEEN :least_failed AND :most_failed
      AND (:succeeded IS NULL OR succeeded = :succeeded) AND +at >= :since AND +at < :until
      AND (:words IS NULL OR words LIKE :words ESCAPE '\')
      AND (:tool IS NULL OR EXISTS (
          SELECT 1 FROM session_tool WHERE session_tool.session_id = session_line.id AND tool = :tool))
      AND (:mistake IS NULL OR id IN (SELECT session_id FROM mistake_session WHERE mistake_id = :mistake))
      AND (:project IS NULL OR id IN (SELECT session.id FROM session WHERE session.project = :project))
    ORDER BY failed DESC, id DESC LIMIT :limit
) AS found JOIN session_line AS line ON line.id = found.id JOIN session ON session.id = found.id
ORDER BY found.failed DESC, found.id DESC;

-- name: by_rate
SELECT session.*, line.at, line.rate, line.cost
FROM (
    SELECT id, rate FROM session_line
    WHERE (rate, id) < (:sort, :id)
      AND (:agent IS NULL OR agent = :agent) AND (:task_type IS NULL OR task_type = :task_type)
      AND +messages BETWEEN :least AND :most AND +failed BETWEEN :least_failed AND :most_failed
      AND (:succeeded IS NULL OR succeeded = :succeeded) AND +at >= :since AND +at < :until
      AND (:words IS NULL OR words LIKE :words ESCAPE '\')
      AND (:tool IS NULL OR EXISTS (
          SELECT 1 FROM session_tool WHERE session_tool.session_id = session_line.id AND tool = :tool))
      AND (:mistake IS NULL OR id IN (SELECT session_id FROM mistake_session WHERE mistake_id = :mistake))
      AND (:project IS NULL OR id IN (SELECT session.id FROM session WHERE session.project = :project))
    ORDER BY rate DESC, id DESC LIMIT :limit
) AS found JOIN session_line AS line ON line.id = found.id JOIN session ON session.id = found.id
ORDER BY found.rate DESC, found.id DESC;

-- name: by_cost
SELECT session.*, line.at, line.rate, line.cost
FROM (
    SELECT id, cost FROM session_line
    WHERE (cost, id) < (:sort, :id)
      AND (:agent IS NULL OR agent = :agent) AND (:task_type IS NULL OR task_type = :task_type)
      AND +messages BETWEEN :least AND :most AND +failed BETWEEN :least_failed AND :most_failed
      AND (:succeeded IS NULL OR succeeded = :succeeded) AND +at >= :since AND +at < :until
      AND (:words IS NULL OR words LIKE :words ESCAPE '\')
      AND (:tool IS NULL OR EXISTS (
          SELECT 1 FROM session_tool WHERE session_tool.session_id = session_line.id AND tool = :tool))
      AND (:mistake IS NULL OR id IN (SELECT session_id FROM mistake_session WHERE mistake_id = :mistake))
      AND (:project IS NULL OR id IN (SELECT session.id FROM session WHERE session.project = :project))
    ORDER BY cost DESC, id DESC LIMIT :limit
) AS found JOIN session_line AS line ON line.id = found.id JOIN session ON session.id = found.id
ORDER BY found.cost DESC, found.id DESC;

-- name: days
SELECT day, agent, sum(sessions) AS sessions, sum(messages) AS messages, sum(calls) AS calls, sum(ok) AS ok, sum(failed) AS failed,
    sum(unclear) AS unclear, sum(left_out) AS left_out, sum(priced) AS priced, sum(cost_micro_usd) AS cost_micro_usd,
    sum(counted) AS counted, sum(total_squared) AS total_squared, sum(failed_squared) AS failed_squared,
    sum(failed_by_total) AS failed_by_total
FROM day_total GROUP BY day, agent ORDER BY day, agent;

-- name: failed_between
SELECT count(*) AS sessions, COALESCE(sum(failed), 0) AS failed FROM session_line
WHERE at >= :since AND at < :until AND failed > 0;

-- name: agents
WITH RECURSIVE known(agent) AS (
    SELECT min(agent) FROM session_line
    UNION ALL
    SELECT (SELECT min(agent) FROM session_line WHERE session_line.agent > known.agent)
    FROM known WHERE known.agent IS NOT NULL
)
SELECT agent FROM known WHERE agent IS NOT NULL;

-- name: tools
SELECT * FROM tool_total ORDER BY failed DESC, calls DESC LIMIT :limit;

-- name: mistakes
SELECT mistake.id, mistake.signature, mistake.tool, mistake.program, total.sessions, total.failures, total.repaired,
    (SELECT max(time) FROM failure WHERE failure.mistake_id = mistake.id) AS last
FROM (
    SELECT * FROM mistake_total WHERE sessions >= :fewest ORDER BY sessions DESC, failures DESC LIMIT :limit
) AS total JOIN mistake ON mistake.id = total.mistake_id
ORDER BY total.sessions DESC, total.failures DESC, mistake.id;

-- name: mistakes_in
SELECT mistake.id, mistake.signature, mistake.tool, mistake.program, count(DISTINCT failure.session_id) AS sessions,
    count(*) AS failures, count(failure.repaired_by) AS repaired, max(failure.time) AS last
FROM session CROSS JOIN failure ON failure.session_id = session.id JOIN mistake ON mistake.id = failure.mistake_id
WHERE session.project = :project
GROUP BY mistake.id HAVING count(DISTINCT failure.session_id) >= :fewest
ORDER BY sessions DESC, failures DESC, mistake.id LIMIT :limit;

-- name: repair_in
SELECT failure.how, count(*) AS times
FROM failure JOIN session ON session.id = failure.session_id
WHERE failure.mistake_id = :mistake_id AND session.project = :project AND failure.how IS NOT NULL
GROUP BY failure.how ORDER BY count(*) DESC, failure.how LIMIT 1;

-- name: mistake
SELECT * FROM mistake WHERE id = :id;

-- name: repair_of
SELECT how, count(*) AS times FROM (
    SELECT how FROM failure WHERE mistake_id = :mistake_id ORDER BY time DESC LIMIT :latest
) AS latest WHERE how IS NOT NULL GROUP BY how ORDER BY count(*) DESC, how LIMIT 1;

-- name: session
SELECT session.*, source.path AS path, source.gone_at AS gone_at, source.format AS format,
    (SELECT sum(usd) FROM usage_cost WHERE session_id = session.id) AS cost,
    (SELECT max(price_source) FROM usage_cost WHERE session_id = session.id) AS price_source
FROM session LEFT JOIN source ON source.id = session.source_id WHERE session.id = :id;

-- name: ref
SELECT id FROM session WHERE agent = :agent AND native_id = :native_id;

-- name: calls
SELECT * FROM call WHERE session_id = :session_id ORDER BY position;

-- name: first_calls
SELECT position, message, tool, verdict, arguments FROM call
WHERE session_id = :session_id ORDER BY position LIMIT :limit;

-- name: children
SELECT id, agent, native_id, relation, title, calls, failed FROM session
WHERE parent_agent = :agent AND parent_native_id = :native_id ORDER BY started, id LIMIT :limit;

-- name: named
SELECT id, agent, native_id, title FROM session WHERE agent = :agent AND native_id = :native_id;

-- name: opening
SELECT intent FROM call WHERE id = (SELECT min(id) FROM call WHERE session_id = :session_id)
    AND message BETWEEN 1 AND 3 AND intent IS NOT NULL;
