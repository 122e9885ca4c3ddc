-- name: touched
SELECT session.id, session.cwd, session.remote, session.application, session.project, session.project_part
FROM touched CROSS JOIN session ON session.id = touched.id
WHERE COALESCE(session.cwd, session.remote) IS NOT NULL
   OR (session.application IS NOT NULL AND COALESCE(session.root_id, session.id) = session.id);

-- name: all_facts
SELECT DISTINCT cwd, remote, application FROM session
WHERE COALESCE(cwd, remote, application) IS NOT NULL;

-- name: assign
UPDATE session SET project = :project, project_part = :part
WHERE cwd IS :cwd AND remote IS :remote AND application IS :application
  -- What continues another session without recording a folder is in the project of that one: see below.
  AND (COALESCE(cwd, remote) IS NOT NULL OR COALESCE(root_id, id) = id)
  AND (project IS NOT :project OR project_part IS NOT :part);

-- name: assign_one
UPDATE session SET project = ?, project_part = ? WHERE id = ?;

-- name: inherit
UPDATE session SET
    project = (SELECT root.project FROM session AS root WHERE root.id = session.root_id),
    project_part = (SELECT root.project_part FROM session AS root WHERE root.id = session.root_id)
WHERE id IN (
        SELECT id FROM touched
        UNION
        SELECT child.id FROM touched CROSS JOIN session AS child ON child.root_id = touched.id)
    AND COALESCE(cwd, remote) IS NULL AND root_id <> id
    AND project IS NOT (SELECT root.project FROM session AS root WHERE root.id = session.root_id);

-- name: inherit_everywhere
UPDATE session SET
    project = (SELECT root.project FROM session AS root WHERE root.id = session.root_id),
    project_part = (SELECT root.project_part FROM session AS root WHERE root.id = session.root_id)
WHERE cwd IS NULL AND remote IS NULL AND root_id <> id
    AND project IS NOT (SELECT root.project FROM session AS root WHERE root.id = session.root_id);

-- name: folder
SELECT key, found_in FROM project_folder WHERE folder = :folder;

-- name: keep_folder
INSERT INTO project_folder (folder, key, found_in) VALUES (:folder, :key, :found_in)
ON CONFLICT (folder) DO UPDATE SET key = excluded.key, found_in = excluded.found_in;

-- name: folders_of_sessions
SELECT cwd FROM session WHERE id IN (SELECT value FROM json_each(:ids)) AND cwd IS NOT NULL
GROUP BY cwd ORDER BY count(*) DESC, cwd;

-- name: repository
SELECT key, roots FROM project_repository WHERE folder = :folder;

-- name: repositories
SELECT folder, roots FROM project_repository WHERE key = :key ORDER BY id;

-- name: all_repositories
SELECT folder, key, roots FROM project_repository ORDER BY id;

-- name: keep_repository
INSERT INTO project_repository (folder, key, roots) VALUES (:folder, :key, :roots)
ON CONFLICT (folder) DO UPDATE SET key = excluded.key, roots = excluded.roots;

-- name: forget_repository
DELETE FROM project_repository WHERE folder = :folder;

-- name: forget_repositories
DELETE FROM project_repository WHERE NOT EXISTS (SELECT 1 FROM session WHERE session.project = project_repository.key);

-- name: merges
SELECT project AS key, text AS target FROM choice WHERE kind = 'merge';

-- name: merge
-- A form that no line of a sheet has.
INSERT INTO choice (project, kind, form, text, decided_at) VALUES (:key, 'merge', ':merge', :target, :at)
ON CONFLICT (project, form) DO UPDATE SET text = excluded.text, decided_at = excluded.decided_at;

-- name: unmerge
DELETE FROM choice WHERE kind = 'merge' AND project = :key;

-- name: list
SELECT project AS key, count(*) AS sessions, group_concat(DISTINCT agent) AS agents, sum(calls) AS calls,
    sum(ok) AS ok, sum(failed) AS failed, sum(known_usd) AS cost_usd,
    min(COALESCE(started, ended)) AS first, max(COALESCE(ended, started)) AS last
-- A range and not `:key IS NULL OR …`, which would read all sessions for one project; any text is below a blob.
FROM session WHERE project BETWEEN COALESCE(:key, '') AND COALESCE(:key, x'')
GROUP BY project ORDER BY last DESC, project;

-- name: folders
SELECT cwd AS folder, project_part AS part, count(*) AS sessions, max(COALESCE(ended, started)) AS last
FROM session WHERE project = :key AND cwd IS NOT NULL
GROUP BY cwd, project_part ORDER BY count(*) DESC, cwd;

-- name: without
SELECT count(*) AS sessions, count(DISTINCT COALESCE(root_id, id)) AS lineages FROM session WHERE project IS NULL;

-- name: keys
WITH RECURSIVE known(project) AS (
    SELECT min(project) FROM session
    UNION ALL
    SELECT (SELECT min(project) FROM session WHERE session.project > known.project)
    FROM known WHERE known.project IS NOT NULL
)
SELECT project FROM known WHERE project IS NOT NULL LIMIT :limit;

-- name: agents
SELECT agent, count(*) AS sessions FROM session WHERE project = :project
GROUP BY agent ORDER BY sum(calls) DESC, agent;

-- name: session_ids
SELECT id FROM session WHERE project = :key;

-- name: refs
SELECT agent || ':' || native_id AS ref FROM session WHERE project = :key;

-- name: forget_folders
DELETE FROM project_folder WHERE NOT EXISTS (
    SELECT 1 FROM session
    WHERE session.cwd = project_folder.folder
       OR (session.cwd >= project_folder.folder || '/' AND session.cwd < project_folder.folder || '0'));

-- name: forget_merges
DELETE FROM choice
WHERE kind = 'merge' AND text NOT IN (SELECT project FROM session WHERE project IS NOT NULL)
  AND text NOT IN (SELECT project FROM choice WHERE kind = 'merge');
