-- name: revision
SELECT
    COALESCE((SELECT max(id) FROM session), 0) AS sessions,
    COALESCE((SELECT max(id) FROM call), 0) AS calls,
    (SELECT count(*) FROM forgotten) AS forgotten;

