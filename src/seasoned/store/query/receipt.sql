-- name: drop_memory
DELETE FROM lesson WHERE project = :project AND topic = 'memory';

-- name: drop_all_memory
DELETE FROM lesson WHERE topic = 'memory';

-- name: keep_memory
INSERT INTO lesson (project, topic, key, content) VALUES (:project, 'memory', :key, :content);

-- name: tell
INSERT INTO told (conversation, project, place, digest, text, told_at)
VALUES (:conversation, :project, :place, :digest, :text, :told_at)
ON CONFLICT (conversation, place, digest) DO NOTHING;

-- name: shown
SELECT text FROM told WHERE conversation = :conversation AND place = :place AND text <> '';

-- name: told
SELECT place, project, text, told_at FROM told
WHERE conversation = :conversation AND text <> '' ORDER BY told_at, place;

-- name: news
SELECT id, session, said FROM review
WHERE started_at >= :since AND ended_at IS NOT NULL AND kept + staged > 0 AND session LIKE :agent || ':%'
  AND NOT EXISTS (
      SELECT 1 FROM told WHERE conversation = review.session AND place = 'kept' AND digest = 'review ' || review.id
  )
ORDER BY id LIMIT 5;

-- name: kept
SELECT id, kind, folder, target, file, action, state, after, at FROM learned
WHERE (session = :session OR parent = :session) AND state IN ('kept', 'staged') ORDER BY id;

-- name: forget_memory
UPDATE told SET text = '' WHERE place IN ('memory', 'kept') AND instr(text, :text) > 0;

-- name: sessions
SELECT id FROM session WHERE agent = :agent AND native_id = :native_id
UNION
SELECT id FROM session WHERE relation IN ('compression', 'resume') AND root_id = (
    SELECT id FROM session WHERE agent = :agent AND native_id = :native_id
);

-- name: conversations
SELECT conversation FROM (
    SELECT conversation, told_at AS at FROM told WHERE text <> ''
    UNION ALL SELECT lineage_root, created_at FROM warm_block
    UNION ALL SELECT COALESCE(parent, session), at FROM learned WHERE actor <> 'person' AND session IS NOT NULL
) WHERE conversation LIKE :pattern ESCAPE '\' GROUP BY conversation ORDER BY max(at) DESC LIMIT 6;

-- name: examples
SELECT template, version, example_ids, created_at FROM warm_block
WHERE lineage_root = :conversation AND template <> 'project/sheet' ORDER BY created_at;

-- name: newest
SELECT conversation FROM told WHERE text <> '' AND (:project IS NULL OR project = :project)
GROUP BY conversation ORDER BY max(told_at) DESC LIMIT :limit;

-- name: places
SELECT place, count(*) AS items, count(DISTINCT conversation) AS conversations, max(told_at) AS last
FROM told WHERE text <> '' GROUP BY place;
