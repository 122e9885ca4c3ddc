-- name: keep_design
INSERT INTO material (name, tasks_digest, model, role, document, created_at)
VALUES (:experiment, :tasks_digest, '', 'design', :document, :created_at)
ON CONFLICT DO NOTHING;

-- name: design
SELECT name AS experiment, tasks_digest, document, created_at FROM material
WHERE name = :experiment AND role = 'design';

-- name: designs
SELECT name AS experiment, tasks_digest, document, created_at FROM material
WHERE role = 'design' ORDER BY created_at, name;

-- name: keep_learned
INSERT INTO material (name, tasks_digest, model, role, document, created_at)
VALUES (:task_set, :tasks_digest, :model, 'good', :document, :created_at)
ON CONFLICT (name, tasks_digest, model, role)
DO UPDATE SET document = excluded.document, created_at = excluded.created_at;

-- name: learned
SELECT document FROM material
WHERE name = :task_set AND tasks_digest = :tasks_digest AND model = :model AND role = 'good';

-- name: begin
INSERT INTO run (experiment, model, arm, bank, task_set, task, repeat, part, session, document)
VALUES (:experiment, :model, :arm, '', :task_set, :task, :repeat, :part, :session, '');

-- name: save
INSERT INTO run (experiment, model, arm, bank, task_set, task, repeat, part, session, ended_at, document)
VALUES (:experiment, :model, :arm, '', :task_set, :task, :repeat, :part, :session, :ended_at, :document)
ON CONFLICT DO NOTHING;

-- name: of_experiment
SELECT document FROM run WHERE experiment = :experiment AND ended_at IS NOT NULL
ORDER BY model, task_set, part, task, arm, repeat;

-- name: counts
SELECT model, part, count(*) AS runs, count(DISTINCT task) AS tasks, count(DISTINCT arm) AS arms,
    max(ended_at) AS ended_at
FROM run WHERE experiment = :experiment AND ended_at IS NOT NULL GROUP BY model, part ORDER BY model, part;

-- name: broken_off
SELECT count(DISTINCT session) AS sessions FROM run AS begun
WHERE experiment = :experiment AND ended_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM run WHERE run.session = begun.session AND run.ended_at IS NOT NULL);
