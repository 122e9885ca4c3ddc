-- name: keep_split
INSERT INTO split (experiment, digest, document, created_at)
VALUES (:experiment, :digest, :document, :created_at)
ON CONFLICT (experiment, digest) DO UPDATE SET created_at = excluded.created_at;

-- name: splits
SELECT digest, document, created_at FROM split WHERE experiment = :experiment ORDER BY created_at DESC, digest;

-- name: names
SELECT DISTINCT experiment FROM split WHERE experiment <> '' ORDER BY experiment;

-- name: assign
INSERT INTO assignment (experiment, session, arm, split, at)
VALUES (:experiment, :session, :arm, :split, :at)
ON CONFLICT (experiment, session) DO NOTHING;

-- name: assigned
SELECT arm, split, at FROM assignment WHERE experiment = :experiment AND session = :session;

-- name: assignments
SELECT assignment.session, assignment.arm, assignment.split, assignment.at,
    exposure.at AS exposed_at, exposure.arm AS exposed_arm, exposure.example_ids
FROM assignment
LEFT JOIN exposure ON exposure.experiment = assignment.experiment AND exposure.session = assignment.session
    AND exposure.is_shown = 1
WHERE assignment.experiment = :experiment
ORDER BY assignment.at, assignment.session;

-- name: expose
INSERT INTO exposure (experiment, session, arm, is_shown, example_ids, at)
VALUES (:experiment, :session, :arm, 1, :example_ids, :at)
ON CONFLICT DO NOTHING;

-- name: forgo
INSERT INTO exposure (experiment, session, arm, is_shown, example_ids, at)
VALUES (:experiment, :session, :arm, 0, :example_ids, :at)
ON CONFLICT DO NOTHING;

-- name: foregone
SELECT session, arm, example_ids FROM exposure WHERE experiment = :experiment AND is_shown = 0;

-- name: live
SELECT split.experiment, MAX(split.created_at) AS began_at,
    (SELECT COUNT(*) FROM assignment WHERE assignment.experiment = split.experiment) AS sessions,
    (SELECT COUNT(*) FROM exposure WHERE exposure.experiment = split.experiment AND is_shown = 1) AS exposed,
    (SELECT MAX(assignment.at) FROM assignment WHERE assignment.experiment = split.experiment) AS last_at
FROM split WHERE split.experiment <> '' GROUP BY split.experiment ORDER BY split.experiment;

-- name: drop_assignment
DELETE FROM assignment WHERE session = :session;

-- name: drop_exposure
DELETE FROM exposure WHERE session = :session;

-- name: forget_assignments
DELETE FROM assignment;

-- name: forget_exposures
DELETE FROM exposure;

-- name: forget_splits
DELETE FROM split;

-- name: keep_outcome
UPDATE assignment SET outcome = :document, is_settled = :is_settled
WHERE experiment = :experiment AND session = :session;

-- name: outcomes
SELECT session, outcome AS document, is_settled FROM assignment WHERE experiment = :experiment AND outcome IS NOT NULL;
