-- name: restored
SELECT example_id, MAX(changed_at) AS changed_at FROM example_state WHERE state = 'active' GROUP BY example_id;

-- name: failed
-- The sessions first and then their calls: a history can hold a million calls, and few sessions matter.
SELECT call.tool, call.arguments, call.fault, call.reason, substr(call.result, 1, 600) AS result, call.position,
    COALESCE(call.time, newest.written) AS moment, newest.root
FROM (
    SELECT session.id, root.agent || ':' || root.native_id AS root,
        COALESCE(session.ended, session.started, source.mtime_ns / 1e9 + session.id / 1e6, 0.0) AS written
    FROM session_tool
    JOIN session ON session.id = session_tool.session_id
    LEFT JOIN session AS root ON root.id = COALESCE(session.root_id, session.id)
    LEFT JOIN source ON source.id = session.source_id
    WHERE session_tool.tool = :tool AND session_tool.failed > 0
      AND (session.relation IS NULL OR session.relation <> 'review')
    ORDER BY written DESC, session.id DESC LIMIT :limit
) AS newest
JOIN call ON call.session_id = newest.id
WHERE call.tool = :tool AND call.counts_as = 'failed' AND call.copy_of IS NULL
ORDER BY moment DESC, call.position DESC;

-- name: worked
SELECT call.arguments, call.position, COALESCE(call.time, newest.written) AS moment, newest.root
FROM (
    SELECT session.id, root.agent || ':' || root.native_id AS root,
        COALESCE(session.ended, session.started, source.mtime_ns / 1e9 + session.id / 1e6, 0.0) AS written
    FROM session_tool
    JOIN session ON session.id = session_tool.session_id
    LEFT JOIN session AS root ON root.id = COALESCE(session.root_id, session.id)
    LEFT JOIN source ON source.id = session.source_id
    WHERE session_tool.tool = :tool AND session_tool.ok > 0
      AND (session.relation IS NULL OR session.relation <> 'review')
    ORDER BY written DESC, session.id DESC LIMIT :limit
) AS newest
JOIN call ON call.session_id = newest.id
WHERE call.tool = :tool AND call.counts_as = 'ok' AND call.copy_of IS NULL
  AND COALESCE(call.time, newest.written) >= :after
ORDER BY moment DESC, call.position DESC;
