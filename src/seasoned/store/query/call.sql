-- name: save
INSERT INTO call (
    session_id, call_id, position, message, tool, kind, counts_as, arguments, result, time, place,
    verdict, evidence, fault, reason, judge, flag, unique_id, intent, is_foreign
) VALUES (
    :session_id, :call_id, :position, :message, :tool, :kind, :counts_as, :arguments, :result, :time, :place,
    :verdict, :evidence, :fault, :reason, :judge, :flag, :unique_id, :intent, :is_foreign
)
ON CONFLICT (session_id, call_id) DO UPDATE SET
    position = excluded.position, message = excluded.message, tool = excluded.tool, kind = excluded.kind,
    counts_as = excluded.counts_as, arguments = excluded.arguments, result = excluded.result, time = excluded.time,
    place = excluded.place, verdict = excluded.verdict, evidence = excluded.evidence, fault = excluded.fault,
    reason = excluded.reason, judge = excluded.judge, flag = excluded.flag,
    intent = COALESCE(excluded.intent, call.intent), is_foreign = max(excluded.is_foreign, call.is_foreign)
WHERE excluded.result IS NOT NULL OR call.result IS NULL;

-- name: set_corrected
UPDATE call SET corrected = 1 WHERE id IN (
    SELECT id FROM call WHERE session_id = :session_id AND message < :message ORDER BY position DESC LIMIT 3);

-- name: of_session
SELECT * FROM call WHERE session_id = :session_id ORDER BY position;

-- name: of_track
-- The columns in the order of `outcome.track.JudgedCall`.
SELECT message, tool, kind, counts_as, verdict, fault, time, arguments, result, reason, intent, corrected, is_foreign,
    call_id, evidence
FROM call WHERE session_id = :session_id AND copy_of IS NULL ORDER BY position;

-- name: of_tracks
-- The session, then the same columns.
SELECT call.session_id, call.message, call.tool, call.kind, call.counts_as, call.verdict, call.fault, call.time,
    call.arguments, call.result, call.reason, call.intent, call.corrected, call.is_foreign, call.call_id, call.evidence
-- CROSS JOIN: session by session, so that the calls of a whole history need not be sorted.
FROM session CROSS JOIN call ON call.session_id = session.id
WHERE call.copy_of IS NULL AND (:agent IS NULL OR session.agent = :agent)
  AND (:project IS NULL OR session.project = :project)
ORDER BY session.id, call.position;

-- name: judged
SELECT session.agent, session.native_id, call.call_id, call.tool, call.verdict, call.evidence, call.fault, call.reason,
    call.judge, call.flag
FROM session CROSS JOIN call ON call.session_id = session.id
WHERE call.copy_of IS NULL
ORDER BY session.id, call.position;

-- name: repeated
SELECT DISTINCT call.call_id
-- CROSS JOIN makes SQLite begin with the few touched sessions: without statistics it would read all calls.
FROM touched CROSS JOIN call ON call.session_id = touched.id
JOIN call AS other ON other.call_id = call.call_id AND other.id <> call.id
WHERE call.unique_id = 1;

-- name: with_call_id
SELECT call.id, call.session_id, call.copy_of, call.position, session.started, session.messages, session.native_id,
    session.agent, session.parent_agent
FROM call JOIN session ON session.id = call.session_id
WHERE call.call_id = :call_id AND call.unique_id = 1
ORDER BY session.started IS NULL, session.started, session.messages, session.native_id, call.id;

-- name: weak_in_lineage
SELECT call.id, call.call_id, call.session_id, call.copy_of
FROM session JOIN call ON call.session_id = session.id
WHERE session.root_id = :root_id AND call.unique_id = 0
ORDER BY session.started IS NULL, session.started, session.id, call.position;

-- name: set_copy_of
UPDATE call SET copy_of = ? WHERE id = ?;

-- name: counts
SELECT touched.id AS session_id, counts_as, kind, copy_of IS NOT NULL AS is_copy, count(call.id) AS calls
FROM touched LEFT JOIN call ON call.session_id = touched.id
GROUP BY touched.id, counts_as, kind, copy_of IS NOT NULL;

-- name: clear_tools
DELETE FROM session_tool WHERE session_id IN (SELECT id FROM touched);

-- name: save_tools
INSERT INTO session_tool (session_id, tool, kind, calls, ok, failed, unclear, left_out)
SELECT session_id, tool, min(kind), count(*),
    sum(CASE WHEN counts_as = 'ok' THEN 1 ELSE 0 END),
    sum(CASE WHEN counts_as = 'failed' THEN 1 ELSE 0 END),
    sum(CASE WHEN counts_as = 'unclear' THEN 1 ELSE 0 END),
    sum(CASE WHEN counts_as NOT IN ('ok', 'failed', 'unclear') THEN 1 ELSE 0 END)
-- CROSS JOIN: as in `repeated`.
FROM touched CROSS JOIN call ON call.session_id = touched.id
WHERE copy_of IS NULL
GROUP BY session_id, tool;

-- name: by_tool
SELECT tool, min(kind) AS kind, sum(calls) AS calls, sum(ok) AS ok, sum(failed) AS failed, sum(unclear) AS unclear,
    sum(left_out) AS left_out, count(*) AS sessions
FROM session_tool GROUP BY tool ORDER BY sum(failed) DESC, sum(calls) DESC LIMIT :limit;

-- name: copied_sessions
SELECT DISTINCT copy.session_id FROM call AS copy JOIN call AS original ON copy.copy_of = original.id
WHERE original.session_id = :session_id;

-- name: of_lineage
SELECT call.tool, call.counts_as, call.time, call.session_id, call.message
FROM session AS first
JOIN session ON session.id = first.id OR session.root_id = first.id
JOIN call ON call.session_id = session.id
WHERE first.agent = :agent AND first.native_id = :native_id
  AND (session.relation IS NULL OR session.relation NOT IN ('review', 'subagent'))
  AND call.copy_of IS NULL AND call.counts_as IN ('ok', 'failed')
ORDER BY call.time IS NULL, call.time, session.id, call.position;
