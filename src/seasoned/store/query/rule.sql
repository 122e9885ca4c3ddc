-- name: save
-- Of a rule that a session repeats, the first time: a copy of the session has it too.
INSERT INTO spoken_rule (session_id, key, text, lasts, said_at) VALUES (:session_id, :key, :text, :lasts, :said_at)
ON CONFLICT (session_id, key) DO UPDATE
SET text = CASE WHEN excluded.lasts < spoken_rule.lasts THEN spoken_rule.text ELSE excluded.text END, -- a review's words
    lasts = max(spoken_rule.lasts, excluded.lasts),
    said_at = COALESCE(min(spoken_rule.said_at, excluded.said_at), spoken_rule.said_at);

-- name: of_project
-- What was said to a sub-agent, or in a review, was said by an agent.
SELECT spoken_rule.key, spoken_rule.text, spoken_rule.lasts, COALESCE(spoken_rule.said_at, 'session ' || session.id) AS said_at,
    session.at, COALESCE(session.root_id, session.id) AS root
FROM session CROSS JOIN spoken_rule ON spoken_rule.session_id = session.id
WHERE session.project = :project AND COALESCE(session.relation, '') NOT IN ('subagent', 'review')
ORDER BY session.at, session.agent, session.native_id;

-- name: decided
SELECT substr(form, 6) AS key, kind AS choice, text FROM choice WHERE project = :project AND form GLOB 'rule:*';

-- name: decide
INSERT INTO choice (project, kind, form, text, decided_at) VALUES (:project, :choice, 'rule:' || :key, :text, :at)
ON CONFLICT (project, form) DO UPDATE SET kind = excluded.kind, text = excluded.text, decided_at = excluded.decided_at;

-- name: undo
DELETE FROM choice WHERE project = :project AND form = 'rule:' || :key;
