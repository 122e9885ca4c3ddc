-- name: key
SELECT value FROM team_key WHERE id = 1;

-- name: make_key
INSERT INTO team_key (id, value) VALUES (1, :value) ON CONFLICT (id) DO NOTHING;

-- name: add_code
INSERT INTO team_code (digest, credential, person, sealed, expires_at)
VALUES (:digest, :credential, :person, :sealed, :expires_at);

-- name: use_code
UPDATE team_code SET used_at = :now WHERE digest = :digest AND used_at IS NULL AND expires_at > :now
RETURNING credential, person, sealed;

-- name: add_machine
INSERT INTO team_machine (credential, name, person, source, origin, joined_at)
VALUES (:credential, :name, :person, :source, :origin, :now);

-- name: add_server
INSERT INTO team_machine (credential, name, person, source, origin, joined_at)
VALUES (:credential, :name, :person, :source, :origin, :now) ON CONFLICT (credential) DO NOTHING;

-- name: machine
SELECT name, person, source, origin, left_at FROM team_machine WHERE credential = :credential;

-- name: machine_named
SELECT credential FROM team_machine WHERE name = :name;

-- name: machines
SELECT team_machine.name, team_machine.person, team_machine.joined_at, team_machine.pushed_at, team_machine.pulled_at,
    team_machine.left_at, COUNT(team_record.document) AS records, COALESCE(SUM(team_record.bytes), 0) AS bytes
FROM team_machine LEFT JOIN team_record ON team_record.credential = team_machine.credential
GROUP BY team_machine.credential, team_machine.name, team_machine.person, team_machine.joined_at,
    team_machine.pushed_at, team_machine.pulled_at, team_machine.left_at
ORDER BY team_machine.joined_at, team_machine.name;

-- name: note_push
UPDATE team_machine SET pushed_at = :now, shown_as = :shown_as WHERE credential = :credential;

-- name: note_pull
UPDATE team_machine SET pulled_at = :now WHERE credential = :credential;

-- name: note_leave
UPDATE team_machine SET left_at = :now WHERE credential = :credential AND left_at IS NULL;

-- name: lock
SELECT pg_advisory_xact_lock(hashtextextended(CAST(:project AS TEXT), 7327));

-- name: push
INSERT INTO team_record (credential, project, kind, key, digest, document, bytes, seq, at)
VALUES (:credential, :project, :kind, :key, :digest, :document, :bytes, nextval('team_sequence'), :now)
ON CONFLICT (credential, project, kind, key) DO UPDATE
SET digest = excluded.digest, document = excluded.document, bytes = excluded.bytes, seq = excluded.seq, at = excluded.at
WHERE team_record.digest <> excluded.digest;

-- name: projects_of
SELECT DISTINCT project FROM team_record WHERE credential = :credential AND document IS NOT NULL ORDER BY project;

-- name: split_owners
-- Also those who withdrew theirs.
SELECT DISTINCT team_machine.person
FROM team_record JOIN team_machine ON team_machine.credential = team_record.credential
WHERE team_record.project = :project AND team_record.kind = 'split';

-- name: offered
SELECT DISTINCT project FROM team_record WHERE kind = 'split' AND document IS NOT NULL ORDER BY project;

-- name: experiments
-- Splits, the newest of an experiment last, with the machines that have pushed outcomes.
SELECT split.project, split.credential, split.document,
    (SELECT COUNT(DISTINCT credential) FROM team_record AS outcome
        WHERE outcome.project = split.project AND kind = 'outcome' AND document IS NOT NULL) AS machines,
    (SELECT COUNT(*) FROM team_record AS outcome
        WHERE outcome.project = split.project AND kind = 'outcome' AND document IS NOT NULL) AS sessions
FROM team_record AS split WHERE kind = 'split' AND document IS NOT NULL ORDER BY split.project, split.seq;

-- name: keys_of
SELECT kind, key FROM team_record
WHERE credential = :credential AND project = :project AND document IS NOT NULL;

-- name: withdraw
UPDATE team_record SET digest = '', document = NULL, bytes = 0, seq = nextval('team_sequence'), at = :now
WHERE credential = :credential AND project = :project AND document IS NOT NULL;

-- name: old_sessions
SELECT credential, project, key FROM team_record
WHERE kind = 'session' AND document IS NOT NULL AND COALESCE(ended, started, at) < :oldest
ORDER BY COALESCE(ended, started, at) LIMIT :limit;

-- name: withdraw_session
UPDATE team_record SET digest = '', document = NULL, bytes = 0, seq = nextval('team_sequence'), at = :now
WHERE credential = :credential AND project = :project AND key = :key AND document IS NOT NULL
    AND kind IN ('evidence', 'session', 'calls');

-- name: pull
SELECT team_record.seq, team_record.kind, team_record.key, team_record.at, team_record.document,
    team_machine.source, team_machine.origin, team_machine.shown_as
FROM team_record JOIN team_machine ON team_machine.credential = team_record.credential
WHERE team_record.project = :project AND team_record.seq > :after AND team_record.kind IN ('evidence', 'template', 'split')
    AND team_record.credential <> :credential
ORDER BY team_record.seq LIMIT :limit;

-- name: counts_of
SELECT project, kind, COUNT(document) AS records, SUM(bytes) AS bytes FROM team_record
WHERE credential = :credential GROUP BY project, kind ORDER BY project, kind;

-- name: export
SELECT team_record.seq, team_machine.name AS machine, team_record.project, team_record.kind, team_record.key,
    team_record.at, team_record.document
FROM team_record JOIN team_machine ON team_machine.credential = team_record.credential
WHERE team_machine.person = :person AND team_record.document IS NOT NULL AND team_record.seq > :after
ORDER BY team_record.seq LIMIT :limit;

-- name: evidence
SELECT document, source, at FROM (
    SELECT team_record.document, team_machine.source, team_record.seq, team_record.at,
        ROW_NUMBER() OVER (PARTITION BY team_machine.person ORDER BY team_record.seq DESC) AS place
    FROM team_record JOIN team_machine ON team_machine.credential = team_record.credential
    WHERE team_record.project = :project AND team_record.kind = 'evidence' AND team_record.document IS NOT NULL
) AS newest WHERE place <= :most ORDER BY seq;

-- name: projects
SELECT team_record.project, COUNT(DISTINCT team_machine.person) AS people,
    COUNT(DISTINCT team_record.credential) AS machines, COUNT(*) AS sessions,
    CAST(SUM(calls) AS BIGINT) AS calls, CAST(SUM(failed) AS BIGINT) AS failed,
    CAST(SUM(input_tokens) AS BIGINT) AS input_tokens, CAST(SUM(output_tokens) AS BIGINT) AS output_tokens,
    SUM(cost_usd) AS cost_usd, MAX(ended) AS last
FROM team_record JOIN team_machine ON team_machine.credential = team_record.credential
WHERE team_record.kind = 'session' AND team_record.document IS NOT NULL
GROUP BY team_record.project ORDER BY sessions DESC, team_record.project;

-- name: sessions
-- The newest first; before a time and a number, which is where a page ends.
SELECT team_record.project, team_record.agent, team_record.model, COALESCE(ended, started, at) AS last,
    CAST(calls AS BIGINT) AS calls, CAST(failed AS BIGINT) AS failed,
    CAST(input_tokens + output_tokens AS BIGINT) AS tokens, cost_usd, team_machine.shown_as, team_record.seq
FROM team_record JOIN team_machine ON team_machine.credential = team_record.credential
WHERE team_record.kind = 'session' AND team_record.document IS NOT NULL
    AND (CAST(:project AS TEXT) IS NULL OR team_record.project = :project)
    AND (COALESCE(ended, started, at), team_record.seq)
        < (CAST(:before AS DOUBLE PRECISION), CAST(:before_seq AS BIGINT))
ORDER BY COALESCE(ended, started, at) DESC, team_record.seq DESC LIMIT :limit;

-- name: usage
SELECT CASE CAST(:by AS TEXT) WHEN 'project' THEN project WHEN 'model' THEN model WHEN 'agent' THEN agent
        ELSE to_char(to_timestamp(COALESCE(ended, started, at)) AT TIME ZONE 'UTC', 'YYYY-MM-DD') END AS name,
    COUNT(*) AS sessions, CAST(SUM(calls) AS BIGINT) AS calls, CAST(SUM(input_tokens) AS BIGINT) AS input_tokens,
    CAST(SUM(output_tokens) AS BIGINT) AS output_tokens, SUM(cost_usd) AS cost_usd,
    COUNT(*) FILTER (WHERE cost_usd IS NULL) AS unpriced
FROM team_record
WHERE kind = 'session' AND document IS NOT NULL AND COALESCE(ended, started, at) >= :since
GROUP BY 1;

-- name: tracks
-- Of each person the newest sessions: their calls, and their numbers.
SELECT calls.document AS calls, totals.document AS totals, calls.source, calls.key, calls.at FROM (
    SELECT team_record.credential, team_record.key, team_record.document, team_record.seq, team_record.at,
        team_machine.source, ROW_NUMBER() OVER (PARTITION BY team_machine.person ORDER BY team_record.seq DESC) AS place
    FROM team_record JOIN team_machine ON team_machine.credential = team_record.credential
    WHERE team_record.project = :project AND team_record.kind = 'calls' AND team_record.document IS NOT NULL
) AS calls JOIN team_record AS totals ON totals.credential = calls.credential AND totals.project = :project
    AND totals.kind = 'session' AND totals.key = calls.key AND totals.document IS NOT NULL
WHERE place <= :most ORDER BY calls.seq;

-- name: tools
SELECT tool.key AS tool, CAST(SUM(CAST(tool.value ->> 0 AS BIGINT)) AS BIGINT) AS calls,
    CAST(SUM(CAST(tool.value ->> 1 AS BIGINT)) AS BIGINT) AS failed, COUNT(*) AS sessions
FROM (
    SELECT tools FROM team_record
    WHERE project = :project AND kind = 'calls' AND document IS NOT NULL ORDER BY seq DESC LIMIT :newest
) AS newest, jsonb_each(newest.tools) AS tool
GROUP BY 1 ORDER BY calls DESC, tool LIMIT :limit;

-- name: revision
SELECT (SELECT last_value FROM team_sequence) AS last,
    (SELECT COUNT(*) FROM team_record WHERE document IS NULL) AS withdrawn;

-- name: mistakes
-- Failures of calls, not of the user's code, in two sessions or more.
SELECT failure ->> 'tool' AS tool, failure ->> 'form' AS form, COUNT(*) AS failures,
    COUNT(DISTINCT (team_record.credential, team_record.key)) AS sessions,
    COUNT(DISTINCT team_machine.person) AS people,
    COUNT(*) FILTER (WHERE failure -> 'way' ->> 'kind' IS NOT NULL) AS repaired
FROM (
    SELECT credential, key, document FROM team_record
    WHERE project = :project AND kind = 'evidence' AND document IS NOT NULL ORDER BY seq DESC LIMIT :newest
) AS team_record JOIN team_machine ON team_machine.credential = team_record.credential,
    json_array_elements(CAST(document AS JSON) -> 'failures') AS failure
WHERE failure ->> 'is_signal' = 'false'
GROUP BY 1, 2 HAVING COUNT(DISTINCT (team_record.credential, team_record.key)) >= 2
ORDER BY sessions DESC, failures DESC, form LIMIT :limit;

-- name: search
SELECT team_record.project, team_record.at, team_record.document, team_machine.shown_as, team_record.seq
FROM team_record JOIN team_machine ON team_machine.credential = team_record.credential
WHERE team_record.kind = 'calls' AND team_record.document IS NOT NULL
    AND team_record.words @@ plainto_tsquery('simple', team_plain(:words))
    AND (CAST(:project AS TEXT) IS NULL OR team_record.project = :project)
ORDER BY team_record.seq DESC LIMIT :limit;
