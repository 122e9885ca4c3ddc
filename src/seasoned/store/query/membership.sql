-- name: find
SELECT url, person, machine, source, joined_at, agreed_at, settings, learned_until, pushed_at, pulled_at, problem
FROM team_membership WHERE id = 1;

-- name: join
INSERT INTO team_membership (id, url, person, machine, source, joined_at)
VALUES (1, :url, :person, :machine, :source, :now);

-- name: leave
DELETE FROM team_membership;

-- name: agree
UPDATE team_membership SET agreed_at = :now WHERE agreed_at IS NULL;

-- name: note_push
UPDATE team_membership SET pushed_at = :now, settings = :settings, learned_until = :learned_until, problem = NULL;

-- name: note_pull
UPDATE team_membership SET pulled_at = :now, problem = NULL;

-- name: note_problem
UPDATE team_membership SET problem = :problem;

-- name: learned
-- Sessions of remote projects that were learned from since a time, each with what it shows.
SELECT session.id, session.agent, session.native_id, session.project, session.model, session.started, session.ended,
    session.messages, session.calls, session.ok, session.failed, session.unclear, session.task_type,
    session.input_tokens, session.output_tokens, session.cache_read_tokens, session.cache_write_tokens,
    session.reasoning_tokens, session.cost_usd, evidence.content
FROM learned_from CROSS JOIN session ON session.id = learned_from.session_id
JOIN evidence ON evidence.session_id = session.id
WHERE learned_from.at > :since AND session.project = :project ORDER BY session.id;

-- name: last_learned
SELECT MAX(at) AS at FROM learned_from;

-- name: calls
SELECT message, tool, kind, counts_as, verdict, fault, evidence, reason, time, arguments, result, intent, corrected FROM call
WHERE session_id = :session_id AND copy_of IS NULL ORDER BY position LIMIT :most;

-- name: pushed
SELECT digest FROM team_pushed WHERE project = :project AND kind = :kind AND key = :key;

-- name: keep_pushed
INSERT INTO team_pushed (project, kind, key, session, digest, is_refused, at)
VALUES (:project, :kind, :key, :session, :digest, :is_refused, :at)
ON CONFLICT (project, kind, key) DO UPDATE
SET session = excluded.session, digest = excluded.digest, is_refused = excluded.is_refused, at = excluded.at;

-- name: drop_pushed
DELETE FROM team_pushed WHERE project = :project AND kind = :kind AND key = :key;

-- name: forget_pushed
DELETE FROM team_pushed;

-- name: all_pushed
SELECT project, kind, key, session FROM team_pushed ORDER BY project, kind, key;

-- name: is_in_project
SELECT 1 FROM session WHERE agent = :agent AND native_id = :native_id AND project = :project;

-- name: project_of
SELECT project FROM session WHERE agent = :agent AND native_id = :native_id;

-- name: experiment
SELECT split FROM team_experiment WHERE experiment = :experiment;

-- name: experiments
SELECT experiment, split FROM team_experiment ORDER BY experiment;

-- name: keep_experiment
INSERT INTO team_experiment (experiment, split) VALUES (:experiment, :split)
ON CONFLICT (experiment) DO UPDATE SET split = excluded.split;

-- name: drop_experiment
DELETE FROM team_experiment WHERE experiment = :experiment AND split = :split;

-- name: forget_experiments
DELETE FROM team_experiment;

-- name: count_pushed
SELECT project, kind, COUNT(*) AS records, SUM(is_refused) AS refused FROM team_pushed
GROUP BY project, kind ORDER BY project, kind;

-- name: pulled
SELECT project, seq, at FROM team_pulled ORDER BY project;

-- name: pulled_until
SELECT seq FROM team_pulled WHERE project = :project;

-- name: keep_pulled
INSERT INTO team_pulled (project, seq, at) VALUES (:project, :seq, :at)
ON CONFLICT (project) DO UPDATE SET seq = excluded.seq, at = excluded.at;

-- name: forget_pulled
DELETE FROM team_pulled;

-- name: keep_evidence
INSERT INTO team_evidence (origin, project, key, person, ended, content)
VALUES (:origin, :project, :key, :person, :ended, :content)
ON CONFLICT (origin, project, key) DO UPDATE
SET person = excluded.person, ended = excluded.ended, content = excluded.content;

-- name: drop_evidence
DELETE FROM team_evidence WHERE origin = :origin AND project = :project AND key = :key;

-- name: forget_evidence
DELETE FROM team_evidence;

-- name: evidence_of_project
-- The newest of each person: many sessions of one must not take the place of the others.
SELECT content FROM (
    SELECT content, ended, ROW_NUMBER() OVER (PARTITION BY person ORDER BY ended DESC, content DESC) AS place
    FROM team_evidence WHERE project = :project
) WHERE place <= :most ORDER BY ended, content;

-- name: count_evidence
SELECT project, COUNT(*) AS sessions, COUNT(DISTINCT person) AS people FROM team_evidence
GROUP BY project ORDER BY project;
