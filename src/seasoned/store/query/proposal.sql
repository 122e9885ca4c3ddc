-- name: decided
SELECT text AS proposal, kind AS state, decided_at AS at
FROM choice WHERE project = '' AND form LIKE 'proposal:%' ORDER BY decided_at DESC, form;

-- name: decide
INSERT INTO choice (project, kind, form, text, decided_at) VALUES ('', :state, 'proposal:' || :id, :proposal, :at)
ON CONFLICT (project, form) DO UPDATE
SET kind = excluded.kind, text = excluded.text, decided_at = excluded.decided_at;

-- name: undecide
DELETE FROM choice WHERE project = '' AND form = 'proposal:' || :id;

-- name: forget_all
DELETE FROM choice WHERE project = '' AND form LIKE 'proposal:%';
