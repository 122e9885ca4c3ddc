-- name: wait
INSERT INTO waiting (work, session_id) SELECT 'recall', id FROM touched WHERE true
ON CONFLICT DO UPDATE SET times = waiting.times + 1;

-- name: rules
SELECT digest FROM revision WHERE name = 'recall';

-- name: set_rules
UPDATE revision SET digest = :digest WHERE name = 'recall';

-- name: wait_all
INSERT INTO waiting (work, session_id) SELECT 'recall', id FROM session WHERE calls > 0
ON CONFLICT DO UPDATE SET times = waiting.times + 1;

-- name: waiting
SELECT session_id, times FROM waiting WHERE work = 'recall' ORDER BY session_id DESC LIMIT :limit;

-- name: queue
-- The newest first: a limit of time must not leave out what happened last.
SELECT waiting.session_id, waiting.times
FROM waiting CROSS JOIN session ON session.id = waiting.session_id
WHERE waiting.work = 'recall'
ORDER BY COALESCE(session.ended, session.started, 0) DESC, session.id DESC;

-- name: count_waiting
SELECT count(*) AS sessions FROM waiting WHERE work = 'recall';

-- name: done
DELETE FROM waiting WHERE work = 'recall' AND session_id = :session_id AND times = :times;

-- name: not_waiting
DELETE FROM waiting WHERE work = 'recall' AND session_id = ?;

-- name: clear
DELETE FROM attempt WHERE session_id = :session_id;

-- name: add_worked
INSERT INTO attempt (call_id, session_id, tool, time)
SELECT id, session_id, tool, :time FROM call
WHERE session_id = :session_id AND call_id = :call_id AND copy_of IS NULL;

-- name: add_failure
INSERT INTO attempt (
    call_id, session_id, tool, time, mistake_id, signature, mistake_tool, program, said, repaired_by, how, speaks)
SELECT call.id, call.session_id, call.tool, :time, :mistake_id, :signature, :tool, :program, :said, repaired.id, :how,
    :speaks
FROM call LEFT JOIN call AS repaired ON repaired.session_id = call.session_id AND repaired.call_id = :repaired_by
WHERE call.session_id = :session_id AND call.call_id = :call_id AND call.copy_of IS NULL;

-- name: worked
SELECT worked.call_id AS shown, worked.time, worked.session_id, 'unknown' AS speaks, call.tool, call.arguments,
    (SELECT COALESCE(session.root_id, session.id) FROM session WHERE session.id = worked.session_id) AS root
FROM attempt AS worked JOIN call ON call.id = worked.call_id
WHERE worked.tool = :tool AND worked.mistake_id IS NULL AND (:project IS NULL OR :project = (
    SELECT session.project FROM session WHERE session.id = worked.session_id))
ORDER BY worked.time DESC, worked.call_id DESC LIMIT :limit;

-- name: worked_in_project
-- The same, beginning with the sessions of the project: for one that is a small part of the store.
SELECT worked.call_id AS shown, worked.time, worked.session_id, 'unknown' AS speaks, call.tool, call.arguments,
    COALESCE(session.root_id, session.id) AS root
FROM session CROSS JOIN attempt AS worked ON worked.session_id = session.id AND +worked.tool = :tool
    AND worked.mistake_id IS NULL
CROSS JOIN call ON call.id = worked.call_id
WHERE session.project = :project
ORDER BY worked.time DESC, worked.call_id DESC LIMIT :limit;

-- name: call
SELECT call.tool, call.arguments, call.result, session.agent || ':' || session.native_id AS session
FROM call JOIN session ON session.id = call.session_id WHERE call.id = :id;

-- name: tools
SELECT DISTINCT tool FROM attempt WHERE mistake_id IS NULL ORDER BY tool LIMIT :limit;

-- name: mistakes_said
SELECT attempt.mistake_id AS id, min(signature) AS signature, min(mistake_tool) AS tool, min(program) AS program,
    count(*) AS failures, count(repaired_by) AS repaired
FROM (SELECT DISTINCT mistake_id FROM attempt WHERE said = :said AND repaired_by IS NOT NULL LIMIT :limit) AS found
CROSS JOIN attempt ON attempt.mistake_id = found.mistake_id
GROUP BY attempt.mistake_id;

-- name: mistakes_called
SELECT mistake_id AS id, min(signature) AS signature, min(mistake_tool) AS tool, min(program) AS program,
    count(*) AS failures, count(repaired_by) AS repaired
FROM attempt WHERE signature = :signature
GROUP BY mistake_id HAVING count(repaired_by) > 0
ORDER BY min(mistake_tool), min(program) LIMIT :limit;

-- name: repairs_said
SELECT repaired_by AS shown, how, time, speaks, session_id,
    (SELECT COALESCE(session.root_id, session.id) FROM session WHERE session.id = attempt.session_id) AS root
FROM attempt
WHERE said = :said AND mistake_id = :mistake_id AND repaired_by IS NOT NULL
  AND (:project IS NULL OR :project = (SELECT session.project FROM session WHERE session.id = attempt.session_id))
ORDER BY time DESC, call_id DESC LIMIT :limit;

-- name: repairs
SELECT repaired_by AS shown, how, time, speaks, session_id,
    (SELECT COALESCE(session.root_id, session.id) FROM session WHERE session.id = attempt.session_id) AS root
FROM attempt
WHERE mistake_id = :mistake_id AND repaired_by IS NOT NULL
  AND (:project IS NULL OR :project = (SELECT session.project FROM session WHERE session.id = attempt.session_id))
ORDER BY time DESC, call_id DESC LIMIT :limit;

-- name: repairs_in_project
-- Both, beginning with the sessions of the project: for one that is a small part of the store.
SELECT attempt.repaired_by AS shown, attempt.how, attempt.time, attempt.speaks, attempt.session_id,
    COALESCE(session.root_id, session.id) AS root
FROM session CROSS JOIN attempt ON attempt.session_id = session.id AND +attempt.mistake_id = :mistake_id
WHERE session.project = :project AND attempt.repaired_by IS NOT NULL AND (:said IS NULL OR attempt.said = :said)
ORDER BY attempt.time DESC, attempt.call_id DESC LIMIT :limit;

-- name: counts_in_project
SELECT count(*) AS failures, count(attempt.repaired_by) AS repaired
FROM session CROSS JOIN attempt ON attempt.session_id = session.id AND +attempt.mistake_id = :mistake_id
WHERE session.project = :project;

-- name: is_small_project
-- Whether fewer rows are read by beginning with the sessions of the project than by looking for them among all.
SELECT count(*) < :most AND count(*) * count(*) < :limit * (SELECT max(id) FROM session) AS is_small
FROM (SELECT 1 FROM session WHERE project = :project LIMIT :most) AS some;

-- name: failed_lately
SELECT call.arguments, attempt.time, attempt.session_id FROM attempt JOIN call ON call.id = attempt.call_id
WHERE attempt.tool = :tool AND attempt.mistake_id IS NOT NULL AND call.fault = 'call' ORDER BY attempt.time DESC LIMIT :limit;
