-- name: drop_memory
DELETE FROM knowledge WHERE project = :project AND topic = 'memory';

-- name: drop_all_memory
DELETE FROM knowledge WHERE topic = 'memory';

-- name: keep_memory
INSERT INTO knowledge (project, topic, key, content) VALUES (:project, 'memory', :key, :content);

-- name: writer
SELECT learned.actor, session.project FROM learned
LEFT JOIN session ON session.agent || ':' || session.native_id = COALESCE(learned.parent, learned.session)
WHERE learned.kind = 'memory' AND learned.after = :text ORDER BY learned.id DESC LIMIT 1;

-- name: tell
INSERT INTO told (conversation, project, place, digest, text, told_at)
VALUES (:conversation, :project, :place, :digest, :text, :told_at)
ON CONFLICT (conversation, place, digest) DO NOTHING;

-- name: shown
SELECT text FROM told WHERE conversation = :conversation AND place = :place AND text <> '';

-- name: told
SELECT place, project, text, told_at FROM told
WHERE conversation = :conversation AND text <> '' ORDER BY told_at, place;

-- name: newest
SELECT conversation FROM told WHERE text <> '' AND (:project IS NULL OR project = :project)
ORDER BY told_at DESC LIMIT 1;

-- name: news
SELECT id, session, said FROM review
WHERE started_at >= :since AND ended_at IS NOT NULL AND kept + staged > 0 AND session LIKE :agent || ':%'
  AND NOT EXISTS (
      SELECT 1 FROM told WHERE conversation = review.session AND place = 'kept' AND digest = 'review ' || review.id
  )
ORDER BY id LIMIT 5;

-- name: kept
SELECT id, kind, folder, target, file, action, state, after FROM learned
WHERE (session = :session OR parent = :session) AND state IN ('kept', 'staged') ORDER BY id;

-- name: forget_memory
UPDATE told SET text = '' WHERE place IN ('memory', 'kept') AND instr(text, :text) > 0;
