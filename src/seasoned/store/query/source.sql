-- name: all
SELECT id, path, format, size, mtime_ns, judge, resume, check_digest, stamps, scanned_at, gone_at FROM source;

-- name: paths
SELECT path FROM source WHERE format <> '' ORDER BY id;

-- name: under
SELECT path, format, size, mtime_ns, judge, resume, check_digest, stamps, gone_at FROM source
WHERE path = :path OR (path >= :inside AND path < :beyond);

-- name: save
INSERT INTO source (path, format, size, mtime_ns, judge, resume, check_digest, stamps, scanned_at, gone_at)
VALUES (:path, :format, :size, :mtime_ns, :judge, :resume, :check_digest, :stamps, :scanned_at, NULL)
ON CONFLICT (path) DO UPDATE SET
    format = excluded.format, size = excluded.size, mtime_ns = excluded.mtime_ns, judge = excluded.judge,
    resume = COALESCE(excluded.resume, source.resume),
    check_digest = COALESCE(excluded.check_digest, source.check_digest),
    stamps = COALESCE(excluded.stamps, source.stamps),
    scanned_at = excluded.scanned_at, gone_at = NULL
RETURNING id;

-- name: last_read
SELECT
    (SELECT max(scanned_at) FROM source WHERE format <> '') AS scanned_at,
    EXISTS (SELECT 1 FROM session) AS has_sessions;

-- name: set_gone
UPDATE source SET gone_at = :gone_at WHERE path = :path AND gone_at IS NULL;

-- name: find
SELECT id, path FROM source WHERE path = :path;

-- name: read_again
UPDATE source SET size = -1, resume = NULL, stamps = NULL;

-- name: delete
DELETE FROM source WHERE id = :id;

-- name: add_unreadable
INSERT INTO unreadable (source_id, place, reason) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- name: some_unreadable
SELECT 1 FROM unreadable LIMIT 1;

-- name: clear_unreadable
DELETE FROM unreadable WHERE source_id = :source_id;

-- name: clear_unreadable_at
DELETE FROM unreadable WHERE source_id = :source_id AND place = :place;

-- name: unreadable
SELECT source.path, unreadable.place, unreadable.reason
FROM unreadable JOIN source ON source.id = unreadable.source_id
ORDER BY source.path, unreadable.place;

-- name: counts
SELECT
    (SELECT count(*) FROM source) AS sources,
    (SELECT count(*) FROM source WHERE gone_at IS NOT NULL) AS gone,
    (SELECT count(*) FROM unreadable) AS unreadable,
    (SELECT count(*) FROM session) AS sessions,
    (SELECT COALESCE(sum(calls), 0) FROM session) AS calls;
