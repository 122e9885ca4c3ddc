-- name: add_job
INSERT INTO job (id, name, document, next_at, created_at)
VALUES (:id, :name, :document, :next_at, :created_at);

-- name: change_job
UPDATE job SET name = :name, document = :document, next_at = :next_at WHERE id = :id AND removed_at IS NULL;

-- name: remove_job
UPDATE job SET removed_at = :now, next_at = NULL WHERE id = :id AND removed_at IS NULL;

-- name: discard_job
DELETE FROM job WHERE id = :id AND NOT EXISTS (SELECT 1 FROM job_run WHERE job_run.job_id = job.id);

-- name: jobs
SELECT id, name, document, next_at, runs, removed_at FROM job WHERE removed_at IS NULL ORDER BY name;

-- name: job
SELECT id, name, document, next_at, runs, removed_at FROM job WHERE id = :id;

-- name: find_jobs
SELECT id, name, document, next_at, runs, removed_at FROM job
WHERE removed_at IS NULL AND (id = :text OR name = :text)
ORDER BY CASE WHEN id = :text THEN 0 ELSE 1 END;

-- name: lock_job
UPDATE job SET runs = runs + 0 WHERE id = :id RETURNING id, name, document, next_at, runs, removed_at;

-- name: count_jobs
SELECT COUNT(*) AS n, COUNT(next_at) AS n_active FROM job WHERE removed_at IS NULL;

-- name: due_jobs
SELECT id, document, next_at FROM job WHERE next_at <= :now ORDER BY next_at, id LIMIT :limit;

-- name: next_due
SELECT MIN(next_at) AS next_at FROM job WHERE next_at IS NOT NULL;

-- name: advance_job
UPDATE job SET next_at = :next_at WHERE id = :id AND next_at = :seen_at;

-- name: count_run
UPDATE job SET runs = runs + 1 WHERE id = :id;

-- name: end_job
UPDATE job SET next_at = NULL WHERE id = :id;

-- name: add_slot
INSERT INTO job_run (job_id, scheduled_at, attempt, origin, outcome, start_at, ended_at, reason, note)
VALUES (:job_id, :scheduled_at, :attempt, :origin, :outcome, :start_at, :ended_at, :reason, :note)
ON CONFLICT (job_id, scheduled_at, attempt) DO NOTHING;

-- name: due_slots
SELECT job_id, MIN(scheduled_at) AS scheduled_at FROM job_run
WHERE outcome = 'waiting' AND start_at <= :now
GROUP BY job_id ORDER BY MIN(scheduled_at), job_id LIMIT :limit;

-- name: next_slot
SELECT MIN(start_at) AS start_at FROM job_run WHERE outcome = 'waiting' AND start_at > :now;

-- name: waiting_slot
SELECT attempt, origin, start_at FROM job_run
WHERE job_id = :job_id AND scheduled_at = :scheduled_at AND outcome = 'waiting'
ORDER BY attempt LIMIT 1;

-- name: running
SELECT job_id, scheduled_at, attempt, started_at FROM job_run
WHERE job_id = :job_id AND outcome = 'running' ORDER BY scheduled_at;

-- name: claim_slot
UPDATE job_run SET outcome = 'running', owner = :owner, lease_until = :lease_until, started_at = :now
WHERE job_id = :job_id AND scheduled_at = :scheduled_at AND attempt = :attempt AND outcome = 'waiting';

-- name: skip_slot
UPDATE job_run SET outcome = 'skipped', ended_at = :now, reason = :reason
WHERE job_id = :job_id AND scheduled_at = :scheduled_at AND attempt = :attempt AND outcome = 'waiting';

-- name: skip_waiting
UPDATE job_run SET outcome = 'skipped', ended_at = :now, reason = :reason
WHERE job_id = :job_id AND outcome = 'waiting';

-- name: renew
UPDATE job_run SET lease_until = :lease_until
WHERE job_id = :job_id AND scheduled_at = :scheduled_at AND attempt = :attempt AND owner = :owner
  AND outcome = 'running';

-- name: shorten_leases
UPDATE job_run SET lease_until = :lease_until WHERE outcome = 'running' AND lease_until > :too_late;

-- name: dead_runs
SELECT job_id, scheduled_at, attempt, owner, lease_until, started_at FROM job_run
WHERE outcome = 'running' AND lease_until < :now ORDER BY job_id, scheduled_at, attempt LIMIT :limit;

-- name: lose_run
UPDATE job_run SET outcome = 'unknown', ended_at = :now, reason = :reason, delivery = :delivery, delivery_at = :now
WHERE job_id = :job_id AND scheduled_at = :scheduled_at AND attempt = :attempt AND owner = :owner
  AND outcome = 'running' AND lease_until < :now;

-- name: finish
UPDATE job_run SET outcome = :outcome, ended_at = :ended_at, fault = :fault, reason = :reason, output = :output,
    script_output = :script_output, model = :model, provider = :provider, session = :session,
    tokens_in = :tokens_in, tokens_out = :tokens_out, cost_usd = :cost_usd,
    delivery = :delivery, delivery_error = :delivery_error, delivery_at = :ended_at, lease_until = NULL,
    note = CASE WHEN note = '' THEN :note WHEN :note = '' THEN note ELSE note || ' ' || :note END
WHERE job_id = :job_id AND scheduled_at = :scheduled_at AND attempt = :attempt AND owner = :owner
  AND outcome = :was;

-- name: run_state
SELECT outcome, ended_at, reason FROM job_run
WHERE job_id = :job_id AND scheduled_at = :scheduled_at AND attempt = :attempt AND owner = :owner;

-- name: add_note
UPDATE job_run SET note = CASE WHEN note = '' THEN :note ELSE note || ' ' || :note END
WHERE job_id = :job_id AND scheduled_at = :scheduled_at AND attempt = :attempt;

-- name: history
SELECT * FROM job_run WHERE job_id = :job_id AND scheduled_at < :before
ORDER BY scheduled_at DESC, attempt DESC LIMIT :limit;

-- name: whole_history
SELECT * FROM job_run WHERE scheduled_at < :before
ORDER BY scheduled_at DESC, job_id, attempt DESC LIMIT :limit;

-- name: count_outcomes
SELECT outcome, COUNT(*) AS n FROM job_run GROUP BY outcome;

-- name: due_deliveries
SELECT * FROM job_run WHERE delivery = 'pending' AND delivery_at <= :now ORDER BY delivery_at LIMIT :limit;

-- name: next_delivery
SELECT MIN(delivery_at) AS delivery_at FROM job_run WHERE delivery = 'pending';

-- name: claim_delivery
UPDATE job_run SET delivery_at = :until, delivery_attempts = delivery_attempts + 1
WHERE job_id = :job_id AND scheduled_at = :scheduled_at AND attempt = :attempt
  AND delivery = 'pending' AND delivery_at = :seen_at;

-- name: set_delivery
UPDATE job_run SET delivery = :delivery, delivery_error = :delivery_error, delivery_at = :delivery_at
WHERE job_id = :job_id AND scheduled_at = :scheduled_at AND attempt = :attempt;

-- name: appear
INSERT INTO scheduler (owner, host, pid, started_at, heartbeat_at, note)
VALUES (:owner, :host, :pid, :now, :now, :note);

-- name: beat
UPDATE scheduler SET heartbeat_at = :now, note = :note, stopped_at = NULL WHERE owner = :owner;

-- name: leave
UPDATE scheduler SET heartbeat_at = :now, stopped_at = :now WHERE owner = :owner;

-- name: schedulers
SELECT owner, host, pid, started_at, heartbeat_at, stopped_at, note FROM scheduler ORDER BY started_at, owner;

-- name: drop_schedulers
DELETE FROM scheduler WHERE heartbeat_at < :before;

-- name: revision
SELECT revision FROM schedule_revision WHERE id = 1;

-- name: raise_revision
UPDATE schedule_revision SET revision = revision + 1 WHERE id = 1;
