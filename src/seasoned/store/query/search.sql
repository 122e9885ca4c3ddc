-- name: save_said
INSERT INTO said (session_id, first_message, messages) VALUES (?, ?, ?)
ON CONFLICT (session_id, first_message) DO UPDATE SET messages = excluded.messages;

-- name: wait
INSERT INTO waiting (work, session_id) SELECT 'search', id FROM touched WHERE true
ON CONFLICT DO UPDATE SET times = waiting.times + 1;

-- name: count_waiting
SELECT count(*) AS sessions FROM waiting WHERE work = 'search';

-- name: queue
-- The newest first: they are looked for most.
SELECT waiting.session_id, waiting.times
FROM waiting CROSS JOIN session ON session.id = waiting.session_id
WHERE waiting.work = 'search'
ORDER BY COALESCE(session.ended, session.started, 0) DESC, session.id DESC;

-- name: done
DELETE FROM waiting WHERE work = 'search' AND session_id = ? AND times = ?;

-- name: session
-- Other titles are words that were said, and found as such.
SELECT id, agent, own_title AS title, project, COALESCE(ended, started, 0) AS at FROM session WHERE id = :id;

-- name: said_in
SELECT messages FROM said WHERE session_id = :session_id ORDER BY first_message;

-- name: calls_in
-- Copies belong to the session that made the call.
SELECT position, message, tool, counts_as, arguments, CASE WHEN verdict = 'failed' THEN result END AS error
FROM call WHERE session_id = :session_id AND copy_of IS NULL ORDER BY position;

-- name: remove
DELETE FROM search_document WHERE session_id = ?;

-- name: add
INSERT INTO search_document (id, session_id, facts, places, text) VALUES (?, ?, ?, ?, ?);

-- name: find
SELECT rowid AS id, highlight(search_index, 1, char(2), char(3)) AS text FROM search_index
WHERE search_index MATCH :words AND rowid >= :first AND rowid < :before ORDER BY rowid DESC LIMIT :limit;

-- name: count
SELECT count(*) AS sessions FROM search_index WHERE search_index MATCH :words;

-- name: found
SELECT session.*, search_document.places
FROM search_document JOIN session ON session.id = search_document.session_id
WHERE search_document.id = :id;
