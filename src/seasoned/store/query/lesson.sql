-- name: rules
SELECT digest FROM revision WHERE name = 'evidence';

-- name: set_rules
UPDATE revision SET digest = :digest WHERE name = 'evidence';

-- name: save_evidence
INSERT INTO evidence (session_id, project, ended, content) VALUES (:session_id, :project, :ended, :content)
ON CONFLICT (session_id) DO UPDATE SET project = excluded.project, ended = excluded.ended, content = excluded.content;

-- name: drop_evidence
DELETE FROM evidence WHERE session_id = :session_id;

-- name: as_read
-- Sessions that are as they were read: no call is a copy, and no other process wrote to or learned from them since.
SELECT session.id, session.agent, session.ended, session.project,
    COALESCE(root.agent, session.agent) || ':' || COALESCE(root.native_id, session.native_id) AS root
FROM touched CROSS JOIN session ON session.id = touched.id
CROSS JOIN waiting ON waiting.work = 'lesson' AND waiting.session_id = session.id AND waiting.times = 1
LEFT JOIN session AS root ON root.id = session.root_id
WHERE session.copies = 0 AND session.learned_at IS NULL;

-- name: mark_stale
INSERT INTO lesson (project, topic, key, content) VALUES (:project, 'stale', '', '') ON CONFLICT DO NOTHING;

-- name: stale
SELECT project FROM lesson WHERE topic = 'stale' ORDER BY project;

-- name: not_stale
DELETE FROM lesson WHERE project = :project AND topic = 'stale';

-- name: of_project
-- The content begins with the name of the session; its number depends on which file was read first.
SELECT content FROM evidence WHERE project = :project AND ended <= :until
ORDER BY ended DESC, content DESC LIMIT :limit;

-- name: of_session
SELECT evidence.content FROM session JOIN evidence ON evidence.session_id = session.id
WHERE session.agent = :agent AND session.native_id = :native_id;

-- name: clear_lessons
DELETE FROM lesson WHERE project = :project AND topic <> 'stale';

-- name: add_lesson
INSERT INTO lesson (project, topic, key, content) VALUES (:project, :topic, :key, :content);

-- name: find
SELECT content FROM lesson WHERE project = :project AND topic = :topic AND key = :key;

-- name: topic
SELECT key, content FROM lesson WHERE project = :project AND topic = :topic ORDER BY key;

-- name: choices
SELECT form, kind AS choice, text, decided_at FROM choice
WHERE project = :project AND kind <> 'merge' AND form NOT LIKE 'rule:%' ORDER BY decided_at, form;

-- name: choose
INSERT INTO choice (project, kind, form, text, decided_at) VALUES (:project, :choice, :form, :text, :decided_at)
ON CONFLICT (project, form) DO UPDATE
SET kind = excluded.kind, text = excluded.text, decided_at = excluded.decided_at;

-- name: unchoose
DELETE FROM choice WHERE project = :project AND form = :form;

-- name: tell
INSERT INTO told (conversation, project, place, digest, text, told_at, call_id)
SELECT :conversation, :project, :place, :digest, :text, :told_at, :call_id
WHERE NOT EXISTS (SELECT 1 FROM told WHERE conversation = :conversation AND digest = :digest);

-- name: told
SELECT place, digest, text, told_at FROM told WHERE conversation = :conversation ORDER BY told_at;

-- name: told_at_calls
SELECT call_id, text FROM told WHERE conversation = :conversation AND call_id <> '' AND text <> '';

-- name: forget_told
DELETE FROM told WHERE conversation = :session;

-- name: forget_all_told
DELETE FROM told;

-- name: forget_choices
DELETE FROM choice WHERE kind <> 'merge';

-- name: forget_lessons
DELETE FROM lesson;

-- name: note_learned
UPDATE session SET learned_at = :at, learned_ended = :ended WHERE id = :session_id;

-- name: last_learned
-- The other columns are those of the session with the highest end.
SELECT agent, count(*) AS sessions, native_id, max(learned_ended) AS ended, learned_at AS at FROM session
WHERE learned_at IS NOT NULL GROUP BY agent ORDER BY agent;

-- name: wait
INSERT INTO waiting (work, session_id) SELECT 'lesson', id FROM touched WHERE true
ON CONFLICT DO UPDATE SET times = waiting.times + 1;

-- name: wait_all
INSERT INTO waiting (work, session_id) SELECT 'lesson', id FROM session WHERE calls > 0
ON CONFLICT DO UPDATE SET times = waiting.times + 1;

-- name: waiting
SELECT session_id, times FROM waiting WHERE work = 'lesson' ORDER BY session_id DESC LIMIT :limit;

-- name: queue
-- The newest first: a limit of time must not leave out what happened last.
SELECT waiting.session_id, waiting.times
FROM waiting CROSS JOIN session ON session.id = waiting.session_id
WHERE waiting.work = 'lesson'
ORDER BY COALESCE(session.ended, session.started, 0) DESC, session.id DESC;

-- name: count_waiting
SELECT count(*) AS sessions FROM waiting WHERE work = 'lesson';

-- name: done
DELETE FROM waiting WHERE work = 'lesson' AND session_id = :session_id AND times = :times;

-- name: not_waiting
DELETE FROM waiting WHERE work = 'lesson' AND session_id = ?;


-- name: worked
SELECT call.arguments, call.time, session.agent || ':' || session.native_id AS session
FROM session CROSS JOIN call ON call.session_id = session.id
WHERE session.project = :project AND call.tool = :tool AND call.counts_as = 'ok' AND call.copy_of IS NULL
    AND NOT call.corrected AND NOT call.is_foreign
ORDER BY session.at DESC, call.position DESC LIMIT :limit;
