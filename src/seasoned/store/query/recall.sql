-- name: wait
INSERT INTO waiting (work, session_id) SELECT 'recall', id FROM touched WHERE true
ON CONFLICT DO UPDATE SET times = waiting.times + 1;

-- name: rules
SELECT value AS digest FROM revision WHERE name = 'recall rules';

-- name: set_rules
INSERT INTO revision (name, value) VALUES ('recall rules', :digest)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

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

-- name: clear_worked
DELETE FROM worked WHERE session_id = :session_id;

-- name: clear_failures
DELETE FROM failure WHERE session_id = :session_id;

-- name: add_worked
INSERT INTO worked (call_id, session_id, tool, time)
SELECT id, session_id, tool, :time FROM call
WHERE session_id = :session_id AND call_id = :call_id AND copy_of IS NULL;

-- name: set_forms
INSERT INTO session_form (session_id, forms) VALUES (:session_id, :forms)
ON CONFLICT (session_id) DO UPDATE SET forms = excluded.forms;

-- name: clear_forms
DELETE FROM session_form WHERE session_id = :session_id;

-- name: add_mistake
INSERT INTO mistake (signature, tool, program) VALUES (:signature, :tool, :program)
ON CONFLICT (signature, tool, program) DO UPDATE SET program = excluded.program
RETURNING id;

-- name: add_failure
INSERT INTO failure (call_id, session_id, mistake_id, said, repaired_by, how, speaks, tool, time)
SELECT call.id, call.session_id, :mistake_id, :said, repaired.id, :how, :speaks, call.tool, :time
FROM call LEFT JOIN call AS repaired ON repaired.session_id = call.session_id AND repaired.call_id = :repaired_by
WHERE call.session_id = :session_id AND call.call_id = :call_id AND call.copy_of IS NULL;

-- name: drop_idle_mistake
DELETE FROM mistake WHERE id = :id AND NOT EXISTS (SELECT 1 FROM failure WHERE failure.mistake_id = mistake.id);

-- name: worked
SELECT worked.call_id AS shown, worked.time, worked.session_id, 'unknown' AS speaks, call.tool, call.arguments,
    (SELECT COALESCE(session.root_id, session.id) FROM session WHERE session.id = worked.session_id) AS root
FROM worked JOIN call ON call.id = worked.call_id
WHERE worked.tool = :tool AND (:project IS NULL OR :project = (
    SELECT session.project FROM session WHERE session.id = worked.session_id))
ORDER BY worked.time DESC, worked.call_id DESC LIMIT :limit;

-- name: worked_in_project
-- The same, beginning with the sessions of the project: for one that is a small part of the store.
SELECT worked.call_id AS shown, worked.time, worked.session_id, 'unknown' AS speaks, call.tool, call.arguments,
    COALESCE(session.root_id, session.id) AS root
FROM session CROSS JOIN worked ON worked.session_id = session.id AND +worked.tool = :tool
CROSS JOIN call ON call.id = worked.call_id
WHERE session.project = :project
ORDER BY worked.time DESC, worked.call_id DESC LIMIT :limit;

-- name: call
SELECT call.tool, call.arguments, call.result, session.agent || ':' || session.native_id AS session
FROM call JOIN session ON session.id = call.session_id WHERE call.id = :id;

-- name: count_lineages
-- At most so many: only their share matters.
SELECT count(*) AS lineages FROM (
    SELECT 1 FROM session
    WHERE root_id IS NULL AND calls > 0 AND (:project IS NULL OR project = :project) LIMIT :limit) AS some;

-- name: tools
WITH RECURSIVE known(tool) AS (
    SELECT min(tool) FROM worked
    UNION ALL
    SELECT (SELECT min(tool) FROM worked WHERE worked.tool > known.tool) FROM known WHERE known.tool IS NOT NULL
)
SELECT tool FROM known WHERE tool IS NOT NULL LIMIT :limit;

-- name: mistakes_said
SELECT mistake.id, mistake.signature, mistake.tool, mistake.program, count(*) AS failures,
    count(failure.repaired_by) AS repaired
FROM (SELECT DISTINCT mistake_id FROM failure WHERE said = :said AND repaired_by IS NOT NULL LIMIT :limit) AS found
CROSS JOIN mistake ON mistake.id = found.mistake_id CROSS JOIN failure ON failure.mistake_id = mistake.id
GROUP BY mistake.id;

-- name: mistakes_called
SELECT mistake.id, mistake.signature, mistake.tool, mistake.program, count(*) AS failures,
    count(failure.repaired_by) AS repaired
FROM mistake CROSS JOIN failure ON failure.mistake_id = mistake.id
WHERE mistake.signature = :signature GROUP BY mistake.id HAVING count(failure.repaired_by) > 0
ORDER BY mistake.tool, mistake.program LIMIT :limit;

-- name: repairs_said
SELECT repaired_by AS shown, how, time, speaks, session_id,
    (SELECT COALESCE(session.root_id, session.id) FROM session WHERE session.id = failure.session_id) AS root
FROM failure
WHERE said = :said AND mistake_id = :mistake_id AND repaired_by IS NOT NULL
  AND (:project IS NULL OR :project = (SELECT session.project FROM session WHERE session.id = failure.session_id))
ORDER BY time DESC, call_id DESC LIMIT :limit;

-- name: repairs
SELECT repaired_by AS shown, how, time, speaks, session_id,
    (SELECT COALESCE(session.root_id, session.id) FROM session WHERE session.id = failure.session_id) AS root
FROM failure
WHERE mistake_id = :mistake_id AND repaired_by IS NOT NULL
  AND (:project IS NULL OR :project = (SELECT session.project FROM session WHERE session.id = failure.session_id))
ORDER BY time DESC, call_id DESC LIMIT :limit;

-- name: repairs_in_project
-- Both, beginning with the sessions of the project: for one that is a small part of the store.
SELECT failure.repaired_by AS shown, failure.how, failure.time, failure.speaks, failure.session_id,
    COALESCE(session.root_id, session.id) AS root
FROM session CROSS JOIN failure ON failure.session_id = session.id AND +failure.mistake_id = :mistake_id
WHERE session.project = :project AND failure.repaired_by IS NOT NULL AND (:said IS NULL OR failure.said = :said)
ORDER BY failure.time DESC, failure.call_id DESC LIMIT :limit;

-- name: counts_in_project
SELECT count(*) AS failures, count(failure.repaired_by) AS repaired
FROM session CROSS JOIN failure ON failure.session_id = session.id AND +failure.mistake_id = :mistake_id
WHERE session.project = :project;

-- name: is_small_project
-- Whether fewer rows are read by beginning with the sessions of the project than by looking for them among all.
SELECT count(*) < :most AND count(*) * count(*) < :limit * (SELECT max(id) FROM session) AS is_small
FROM (SELECT 1 FROM session WHERE project = :project LIMIT :most) AS some;

-- name: failed_lately
SELECT call.arguments, failure.time, failure.session_id FROM failure JOIN call ON call.id = failure.call_id
WHERE failure.tool = :tool AND call.fault = 'call' ORDER BY failure.time DESC LIMIT :limit;
