-- name: add_job
INSERT INTO job (id, name, document, next_at, created_at)
VALUES (:id, :name, :document, :next_at, :created_at);

-- name: change_job
UPDATE job SET name = :name, document = :document, next_at = :next_at WHERE id = :id AND removed_at IS NULL;

-- name: remove_job
UPDATE job SET removed_at = :now, next_at = NULL WHERE id = :id AND removed_at IS NULL;

-- name: jobs
SELECT id, name, document, next_at, runs, removed_at FROM job WHERE removed_at IS NULL ORDER BY name;

-- name: job
SELECT id, name, document, next_at, runs, removed_at FROM job WHERE id = :id;

-- name: find_jobs
SELECT id, name, document, next_at, runs, removed_at FROM job
WHERE removed_at IS NULL AND (id = :text OR name = :text)
ORDER BY CASE WHEN id = :text THEN 0 ELSE 1 END;

-- name: count_jobs
SELECT COUNT(next_at) AS n FROM job WHERE removed_at IS NULL;

-- name: due_jobs
SELECT id, document, next_at FROM job WHERE next_at <= :now ORDER BY next_at, id;

-- name: next_due
SELECT MIN(next_at) AS next_at FROM job WHERE next_at IS NOT NULL;

-- name: advance_job
UPDATE job SET next_at = :next_at WHERE id = :id AND next_at = :seen_at;

-- name: count_run
UPDATE job SET runs = runs + 1 WHERE id = :id;

-- name: end_job
UPDATE job SET runs = runs + 1, next_at = NULL WHERE id = :id;

-- name: add_slot
INSERT INTO job_run (job_id, scheduled_at, origin, outcome, ended_at, reason, note)
VALUES (:job_id, :scheduled_at, :origin, :outcome, :ended_at, :reason, :note)
ON CONFLICT (job_id, scheduled_at) DO NOTHING;

-- name: any_waiting
SELECT job_id FROM job_run WHERE outcome = 'waiting' AND scheduled_at <= :now LIMIT 1;

-- name: due_slots
SELECT job_id, MIN(scheduled_at) AS scheduled_at FROM job_run
WHERE outcome = 'waiting' AND scheduled_at <= :now
  AND job_id NOT IN (SELECT job_id FROM job_run WHERE outcome = 'running')
GROUP BY job_id ORDER BY MIN(scheduled_at), job_id LIMIT :limit;

-- name: skip_overlapping
UPDATE job_run SET outcome = 'skipped', ended_at = :now, reason = :reason
WHERE outcome = 'waiting' AND origin = 'slot' AND scheduled_at <= :now
  AND job_id IN (SELECT job_id FROM job_run WHERE outcome = 'running');

-- name: skip_old
UPDATE job_run SET outcome = 'skipped', ended_at = :now, reason = :reason
WHERE outcome = 'waiting' AND origin <> 'hand' AND scheduled_at < :before;

-- name: waiting_slot
SELECT origin FROM job_run WHERE job_id = :job_id AND scheduled_at = :scheduled_at AND outcome = 'waiting';

-- name: running
SELECT scheduled_at FROM job_run WHERE job_id = :job_id AND outcome = 'running';

-- name: start_slot
UPDATE job_run SET outcome = 'running', owner = :owner, started_at = :now
WHERE job_id = :job_id AND scheduled_at = :scheduled_at AND outcome = 'waiting';

-- name: skip_waiting
UPDATE job_run SET outcome = 'skipped', ended_at = :now, reason = :reason
WHERE job_id = :job_id AND outcome = 'waiting';

-- name: lose_run
UPDATE job_run SET outcome = 'unknown', ended_at = :now, reason = :reason, delivery = :delivery, delivery_at = :now
WHERE job_id = :job_id AND scheduled_at = :scheduled_at AND outcome = 'running';

-- name: runs_of_others
SELECT job_id, scheduled_at, owner FROM job_run WHERE outcome = 'running' AND owner <> :owner
ORDER BY job_id, scheduled_at;

-- name: finish
UPDATE job_run SET outcome = :outcome, ended_at = :ended_at, fault = :fault, reason = :reason, output = :output,
    script_output = :script_output, model = :model, provider = :provider, session = :session,
    tokens_in = :tokens_in, tokens_out = :tokens_out, cost_usd = :cost_usd,
    delivery = :delivery, delivery_error = :delivery_error, delivery_at = :ended_at,
    note = TRIM(note || ' ' || :note
        || CASE WHEN outcome = 'unknown' THEN ' Reported after another scheduler had taken over.' ELSE '' END)
WHERE job_id = :job_id AND scheduled_at = :scheduled_at AND owner = :owner AND outcome IN ('running', 'unknown');

-- name: history
SELECT * FROM job_run WHERE job_id = :job_id ORDER BY scheduled_at DESC LIMIT :limit;

-- name: run_of_slot
SELECT * FROM job_run WHERE job_id = :job_id AND scheduled_at = :scheduled_at;

-- name: whole_history
SELECT * FROM job_run ORDER BY scheduled_at DESC, job_id LIMIT :limit;

-- name: due_deliveries
SELECT * FROM job_run WHERE delivery = 'pending' AND delivery_at <= :now ORDER BY delivery_at LIMIT :limit;

-- name: set_delivery
UPDATE job_run SET delivery = :delivery, delivery_error = :delivery_error, delivery_at = :delivery_at,
    delivery_attempts = delivery_attempts + 1
WHERE job_id = :job_id AND scheduled_at = :scheduled_at;

-- name: beat
INSERT INTO scheduler (owner, heartbeat_at) VALUES (:owner, :now)
ON CONFLICT (owner) DO UPDATE SET heartbeat_at = excluded.heartbeat_at, stopped_at = NULL;

-- name: lock
-- Held until the end of the transaction: two schedulers cannot both find the lease free.
UPDATE revision SET number = number + 0 WHERE name = 'schedule';

-- name: other_holder
SELECT owner FROM scheduler
WHERE owner <> :owner AND stopped_at IS NULL AND heartbeat_at > :earliest AND heartbeat_at < :latest;

-- name: drop_others
DELETE FROM scheduler WHERE owner <> :owner;

-- name: leave
UPDATE scheduler SET heartbeat_at = :now, stopped_at = :now WHERE owner = :owner;

-- name: last_scheduler
SELECT heartbeat_at, stopped_at FROM scheduler ORDER BY heartbeat_at DESC LIMIT 1;
