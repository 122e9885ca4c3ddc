-- name: shown
SELECT session.id, session.agent, session.native_id, warm_block.example_ids
FROM warm_block
JOIN session AS first ON first.agent || ':' || first.native_id = warm_block.lineage_root
JOIN session ON session.id = first.id OR session.root_id = first.id
WHERE session.relation IS NULL OR session.relation NOT IN ('review', 'subagent')
ORDER BY session.id;

-- name: rates
SELECT session_tool.tool, SUM(session_tool.ok) AS ok, SUM(session_tool.failed) AS failed
FROM session_tool
GROUP BY session_tool.tool
ORDER BY session_tool.tool;

-- name: rates_of
SELECT tool, ok, failed FROM session_tool WHERE session_id = :session_id;

-- name: later
SELECT DISTINCT session.id
FROM session_tool JOIN session ON session.id = session_tool.session_id
WHERE session_tool.tool = :tool AND session.started > :after AND session_tool.ok + session_tool.failed > 0
  AND (session.relation IS NULL OR session.relation <> 'review')
ORDER BY session.id;

-- name: restored
SELECT example_id, MAX(changed_at) AS changed_at FROM example_state WHERE state = 'active' GROUP BY example_id;
