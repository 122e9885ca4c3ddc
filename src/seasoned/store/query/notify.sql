-- name: claim
UPDATE outbox SET attempts = attempts + 1, next_at = :until
WHERE id IN (
    SELECT id FROM outbox
    WHERE sent_at IS NULL AND next_at <= :now AND attempts < :most AND channel = :channel
    ORDER BY next_at, created_at, id
    LIMIT 1
) AND sent_at IS NULL AND next_at <= :now AND attempts < :most
RETURNING id, request_id, event, channel, attempts, created_at;

-- name: sent
UPDATE outbox SET sent_at = :sent_at, last_error = :note WHERE id = :id AND sent_at IS NULL;

-- name: failed
UPDATE outbox SET attempts = CASE WHEN :is_final = 1 THEN :most ELSE attempts END, next_at = :next_at,
    last_error = :last_error
WHERE id = :id AND attempts = :attempts AND sent_at IS NULL;

-- name: unsent
SELECT id, request_id, event, channel, attempts, next_at, created_at, last_error FROM outbox
WHERE sent_at IS NULL ORDER BY created_at DESC, id LIMIT :limit;

-- name: place
SELECT place FROM outbox WHERE channel = :channel AND request_id = :request_id AND place IS NOT NULL LIMIT 1;

-- name: keep_place
UPDATE outbox SET place = :place WHERE channel = :channel AND request_id = :request_id;
