-- name: newest
-- By the index of the list of sessions, which keeps them in this order: it stops at the limit.
SELECT session_line.id FROM session_line CROSS JOIN session ON session.id = session_line.id
WHERE :project IS NULL OR session.project = :project
ORDER BY session_line.at DESC, session_line.id DESC LIMIT :limit;

-- name: decided
SELECT id, kind, project, sentence, subject, step, state, at FROM advice ORDER BY at DESC, id;

-- name: decide
INSERT INTO advice (id, kind, project, sentence, subject, step, state, at)
VALUES (:id, :kind, :project, :sentence, :subject, :step, :state, :at)
ON CONFLICT (id) DO UPDATE SET sentence = excluded.sentence, step = excluded.step, state = excluded.state, at = excluded.at;

-- name: undecide
DELETE FROM advice WHERE id = :id;

-- name: forget_all
DELETE FROM advice;
