-- name: ref
SELECT agent, native_id FROM session WHERE id = :id;

-- name: taught
SELECT session AS ref FROM learned WHERE session IS NOT NULL
UNION
SELECT parent AS ref FROM learned WHERE parent IS NOT NULL;

-- name: runs
DELETE FROM run WHERE session = :session;

-- name: material
DELETE FROM material WHERE role <> 'design' AND instr(document, :written) > 0;

-- name: parent
UPDATE session SET parent_agent = NULL, parent_native_id = NULL
WHERE parent_agent = :agent AND parent_native_id = :native_id;

-- name: words
INSERT INTO search_index (search_index) VALUES ('optimize');

-- name: all_runs
DELETE FROM run;

-- name: all_material
DELETE FROM material;
