-- name: keep_split
INSERT INTO split (experiment, digest, document, created_at)
VALUES (:experiment, :digest, :document, :created_at)
ON CONFLICT (experiment, digest) DO UPDATE SET created_at = excluded.created_at;

-- name: splits
SELECT digest, document, created_at FROM split WHERE experiment = :experiment ORDER BY created_at DESC, digest;

-- name: names
SELECT DISTINCT experiment FROM split ORDER BY experiment;

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
WHERE assignment.experiment = :experiment
ORDER BY assignment.at, assignment.session;

-- name: arm_sessions
SELECT assignment.session, assignment.arm, assignment.at, exposure.at AS exposed_at, exposure.arm AS exposed_arm
FROM assignment
LEFT JOIN exposure ON exposure.experiment = assignment.experiment AND exposure.session = assignment.session
WHERE assignment.experiment = :experiment
  AND (CAST(:arm AS TEXT) IS NULL OR assignment.arm = :arm)
  AND (assignment.at < :at OR (assignment.at = :at AND assignment.session < :session))
ORDER BY assignment.at DESC, assignment.session DESC
LIMIT :limit;

-- name: expose
INSERT INTO exposure (experiment, session, arm, example_ids, at)
VALUES (:experiment, :session, :arm, :example_ids, :at)
ON CONFLICT (experiment, session) DO NOTHING;

-- name: forgo
INSERT INTO foregone (experiment, session, arm, example_ids, at)
VALUES (:experiment, :session, :arm, :example_ids, :at)
ON CONFLICT (experiment, session, arm) DO NOTHING;

-- name: foregone
SELECT session, arm, example_ids FROM foregone WHERE experiment = :experiment;

-- name: live
SELECT split.experiment, MAX(split.created_at) AS began_at,
    (SELECT COUNT(*) FROM assignment WHERE assignment.experiment = split.experiment) AS sessions,
    (SELECT COUNT(*) FROM exposure WHERE exposure.experiment = split.experiment) AS exposed,
    (SELECT MAX(assignment.at) FROM assignment WHERE assignment.experiment = split.experiment) AS last_at
FROM split GROUP BY split.experiment ORDER BY split.experiment;

-- name: drop_foregone
DELETE FROM foregone WHERE session = :session;

-- name: forget_foregone
DELETE FROM foregone;

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

-- name: keep_template
INSERT INTO arm_template (digest, document, created_at) VALUES (:digest, :document, :created_at)
ON CONFLICT (digest) DO UPDATE SET document = excluded.document;

-- name: template
SELECT document FROM arm_template WHERE digest = :digest;

-- name: templates_of
SELECT digest, document, created_at FROM arm_template WHERE document LIKE :pattern ESCAPE '\';

-- name: forget_templates
DELETE FROM arm_template;

-- name: keep_outcome
INSERT INTO session_outcome (experiment, session, document, is_settled, at)
VALUES (:experiment, :session, :document, :is_settled, :at)
ON CONFLICT (experiment, session) DO UPDATE
SET document = excluded.document, is_settled = excluded.is_settled, at = excluded.at;

-- name: drop_split
DELETE FROM split WHERE experiment = :experiment AND digest = :digest;

-- name: drop_template
DELETE FROM arm_template WHERE digest = :digest;

-- name: outcomes
SELECT session, document, is_settled FROM session_outcome WHERE experiment = :experiment;

-- name: drop_outcome
DELETE FROM session_outcome WHERE session = :session;

-- name: forget_outcomes
DELETE FROM session_outcome;
