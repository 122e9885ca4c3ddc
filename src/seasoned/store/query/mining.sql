-- name: sessions
-- Records of one file were written in their order; a millionth of a second for each keeps it.
SELECT session.id, session.agent, session.native_id, session.ended, session.project, source.path,
    COALESCE(session.ended, session.started, own.mtime_ns / 1e9 + session.id / 1e6, 0.0) AS written,
    root.agent || ':' || root.native_id AS root
FROM session
LEFT JOIN session AS root ON root.id = COALESCE(session.root_id, session.id)
LEFT JOIN source ON source.id = root.source_id
LEFT JOIN source AS own ON own.id = session.source_id
WHERE session.messages >= :min_messages
  AND (:source IS NULL OR session.platform = :source OR session.agent = :source)
  AND (:task_type IS NULL OR session.task_type = :task_type)
  AND (:project IS NULL OR session.project = :project)
  AND session.ok > 0
  AND session.failed <= (session.ok + session.failed) * CASE
      WHEN COALESCE(session.ended, session.started, own.mtime_ns / 1e9 + session.id / 1e6, 0.0) >= :changed_since
      THEN :changed_error_rate ELSE :max_error_rate END
  AND (session.ended IS NULL OR session.ended <= :latest
      OR EXISTS (SELECT 1 FROM finished_session WHERE finished_session.id = session.id))
  AND (session.succeeded IS NULL OR session.succeeded <> 0)
  AND (session.end_reason IS NULL OR session.end_reason NOT LIKE '%error%')
  AND (session.relation IS NULL OR session.relation <> 'review')
  AND 'ok' = (
      SELECT call.counts_as FROM call
      WHERE call.session_id = session.id AND call.copy_of IS NULL AND call.counts_as IN ('ok', 'failed')
      ORDER BY call.position DESC LIMIT 1)
ORDER BY session.ended IS NULL, session.ended DESC, session.agent, session.native_id;

-- name: tools_of
SELECT tool, ok, failed FROM session_tool WHERE session_id = :session_id ORDER BY tool;

-- name: scanned
SELECT count(*) AS sessions FROM session
WHERE (:task_type IS NULL OR task_type = :task_type)
  AND (:source IS NULL OR platform = :source OR agent = :source)
  AND (:project IS NULL OR project = :project);

-- name: refused
-- Why nothing was learned from each session: the first reason.
SELECT session.id, CASE
    WHEN :source IS NOT NULL AND COALESCE(session.platform, '') <> :source AND session.agent <> :source THEN 'source'
    WHEN session.task_type IS NULL AND :task_type IS NOT NULL OR session.task_type <> :task_type THEN 'task'
    WHEN session.project IS NULL AND :project IS NOT NULL OR session.project <> :project THEN 'project'
    WHEN session.messages < :min_messages THEN 'short'
    WHEN session.relation = 'review' THEN 'review'
    WHEN session.ok = 0 THEN 'nothing'
    WHEN session.failed > (session.ok + session.failed) * :max_error_rate THEN 'errors'
    WHEN session.ended > :latest AND session.id NOT IN (SELECT id FROM finished_session) THEN 'open'
    WHEN session.succeeded = 0 THEN 'unsuccessful'
    WHEN session.end_reason LIKE '%error%' OR 'failed' = (
        SELECT call.counts_as FROM call
        WHERE call.session_id = session.id AND call.copy_of IS NULL AND call.counts_as IN ('ok', 'failed')
        ORDER BY call.position DESC LIMIT 1) THEN 'ended'
    ELSE 'unfit' END AS reason
FROM session;
