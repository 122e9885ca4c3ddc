-- name: add
INSERT INTO learned (
    kind, folder, target, file, action, actor, origin, session, parent, platform, tool, call_id, task, at, state,
    before, before_digest, after, after_digest, aside, reason, foreign_call, foreign_tool, foreign_text
) VALUES (
    :kind, :folder, :target, :file, :action, :actor, :origin, :session, :parent, :platform, :tool, :call_id, :task,
    :at, :state, :before, :before_digest, :after, :after_digest, :aside, :reason, :foreign_call, :foreign_tool,
    :foreign_text
)
RETURNING id;

-- name: mark
UPDATE learned
SET state = :state,
    decided_at = COALESCE(:decided_at, decided_at),
    decided_by = COALESCE(:decided_by, decided_by)
WHERE id = :id;

-- name: reword
UPDATE learned SET after = :after, after_digest = :digest WHERE id = :id AND state = 'staged';

-- name: by_id
SELECT * FROM learned WHERE id = :id;

-- name: list
SELECT * FROM learned
WHERE (:kind IS NULL OR kind = :kind)
  AND (:target IS NULL OR target = :target)
  AND (:state IS NULL OR state = :state)
  AND (:session IS NULL OR session = :session)
  AND (:before IS NULL OR id < :before)
ORDER BY id DESC LIMIT :limit;

-- name: unsettled
SELECT * FROM learned WHERE state = 'writing' AND kind = :kind AND folder = :folder ORDER BY id;

-- name: last
SELECT * FROM learned
WHERE kind = 'skill' AND folder = :folder AND target = :target AND file = :file AND state = 'kept'
ORDER BY id DESC LIMIT 1;

-- name: creation
SELECT * FROM learned
WHERE kind = 'skill' AND folder = :folder AND target = :target AND action = 'create' AND state = 'kept'
ORDER BY id DESC LIMIT 1;

-- name: waiting_like
SELECT id FROM learned
WHERE kind = :kind AND folder = :folder AND target = :target AND file = :file AND action = :action
  AND state = 'staged' AND COALESCE(before_digest, '') = :before_digest AND COALESCE(after_digest, '') = :after_digest
LIMIT 1;

-- name: taught_by
SELECT * FROM learned WHERE session = :session OR parent = :session ORDER BY id DESC;

-- name: erase_before
UPDATE learned SET before = NULL
WHERE before_digest IN (SELECT after_digest FROM learned WHERE session = :session OR parent = :session);

-- name: forget_session
DELETE FROM learned WHERE session = :session OR parent = :session;

-- name: forget_all
DELETE FROM learned;
