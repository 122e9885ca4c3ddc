-- name: decided
SELECT substr(form, 8) AS id, json_extract(text, '$.kind') AS kind, json_extract(text, '$.project') AS project,
    json_extract(text, '$.sentence') AS sentence, json_extract(text, '$.subject') AS subject,
    json_extract(text, '$.step') AS step, kind AS state, decided_at AS at
FROM choice WHERE project = '' AND form LIKE 'advice:%' ORDER BY decided_at DESC, form;

-- name: decide
INSERT INTO choice (project, kind, form, text, decided_at)
VALUES ('', :state, 'advice:' || :id, json_object(
    'kind', :kind, 'project', :project, 'sentence', :sentence, 'subject', :subject, 'step', :step), :at)
ON CONFLICT (project, form) DO UPDATE
SET kind = excluded.kind, text = excluded.text, decided_at = excluded.decided_at;

-- name: undecide
DELETE FROM choice WHERE project = '' AND form = 'advice:' || :id;

-- name: forget_all
DELETE FROM choice WHERE project = '' AND form LIKE 'advice:%';
