-- name: newest
SELECT id FROM session WHERE :project IS NULL OR project = :project ORDER BY at DESC, id DESC LIMIT :limit;

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
