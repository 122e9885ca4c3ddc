-- name: save
INSERT INTO session (
    agent, native_id, source_id, own_title, title, cwd, remote, branch, application, platform, model, started, ended, parent_agent, parent_native_id, relation,
    end_reason, succeeded, messages, compactions,
    input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd,
    last_prompt_tokens,
    -- With its totals, which mostly stay as they are: a change would touch the sums of its day once more.
    calls, ok, failed, unclear, declined, cancelled, interrupted, trivial, task_type
)
SELECT
    :agent, :native_id, :source_id, :title, :title, :cwd, :remote, :branch, :application, :platform, :model, :started, :ended, :parent_agent, :parent_native_id, :relation,
    :end_reason, :succeeded, :messages, :compactions,
    :input_tokens, :output_tokens, :cache_read_tokens, :cache_write_tokens, :reasoning_tokens, :cost_usd,
    :last_prompt_tokens,
    :ok + :failed + :unclear + :declined + :cancelled + :interrupted + :trivial,
    :ok, :failed, :unclear, :declined, :cancelled, :interrupted, :trivial, :task_type
WHERE NOT EXISTS (SELECT 1 FROM forgotten WHERE forgotten.agent = :agent AND forgotten.native_id = :native_id)
  -- After everything was forgotten, what had ended by then is left out until a person has it read again.
  AND NOT EXISTS (
      SELECT 1 FROM forgotten
      WHERE forgotten.agent = '*' AND forgotten.native_id = '*'
        AND forgotten.forgotten_at > COALESCE(:ended, :started, 0.0))
ON CONFLICT (agent, native_id) DO UPDATE SET
    source_id = CASE WHEN excluded.messages >= session.messages THEN excluded.source_id ELSE session.source_id END,
    own_title = COALESCE(excluded.own_title, session.own_title), title = COALESCE(excluded.title, session.title),
    cwd = COALESCE(session.cwd, excluded.cwd),
    remote = COALESCE(session.remote, excluded.remote),
    branch = COALESCE(excluded.branch, session.branch),
    application = COALESCE(session.application, excluded.application),
    platform = COALESCE(excluded.platform, session.platform),
    model = COALESCE(excluded.model, session.model),
    started = CASE WHEN session.started IS NULL OR excluded.started < session.started
        THEN excluded.started ELSE session.started END,
    ended = CASE WHEN session.ended IS NULL OR excluded.ended > session.ended
        THEN excluded.ended ELSE session.ended END,
    parent_agent = COALESCE(excluded.parent_agent, session.parent_agent),
    parent_native_id = COALESCE(excluded.parent_native_id, session.parent_native_id),
    relation = COALESCE(excluded.relation, session.relation),
    end_reason = CASE WHEN excluded.messages >= session.messages THEN excluded.end_reason ELSE session.end_reason END,
    succeeded = COALESCE(excluded.succeeded, session.succeeded),
    compactions = CASE WHEN excluded.messages >= session.messages
        THEN excluded.compactions ELSE session.compactions END,
    input_tokens = CASE WHEN excluded.messages >= session.messages
        THEN COALESCE(excluded.input_tokens, session.input_tokens) ELSE session.input_tokens END,
    output_tokens = CASE WHEN excluded.messages >= session.messages
        THEN COALESCE(excluded.output_tokens, session.output_tokens) ELSE session.output_tokens END,
    cache_read_tokens = CASE WHEN excluded.messages >= session.messages
        THEN COALESCE(excluded.cache_read_tokens, session.cache_read_tokens) ELSE session.cache_read_tokens END,
    cache_write_tokens = CASE WHEN excluded.messages >= session.messages
        THEN COALESCE(excluded.cache_write_tokens, session.cache_write_tokens) ELSE session.cache_write_tokens END,
    reasoning_tokens = CASE WHEN excluded.messages >= session.messages
        THEN COALESCE(excluded.reasoning_tokens, session.reasoning_tokens) ELSE session.reasoning_tokens END,
    cost_usd = CASE WHEN excluded.messages >= session.messages
        THEN COALESCE(excluded.cost_usd, session.cost_usd) ELSE session.cost_usd END,
    last_prompt_tokens = CASE WHEN excluded.messages >= session.messages
        THEN COALESCE(excluded.last_prompt_tokens, session.last_prompt_tokens) ELSE session.last_prompt_tokens END,
    messages = CASE WHEN excluded.messages > session.messages THEN excluded.messages ELSE session.messages END
RETURNING id;

-- name: track
SELECT session.*, COALESCE(root.agent, session.agent) || ':' || COALESCE(root.native_id, session.native_id) AS root,
    EXISTS (SELECT 1 FROM finished_session WHERE finished_session.id = session.id) AS has_ended
FROM session LEFT JOIN session AS root ON root.id = session.root_id
WHERE session.id = :id;

-- name: tracks
SELECT session.*, COALESCE(root.agent, session.agent) || ':' || COALESCE(root.native_id, session.native_id) AS root,
    EXISTS (SELECT 1 FROM finished_session WHERE finished_session.id = session.id) AS has_ended
FROM session LEFT JOIN session AS root ON root.id = session.root_id
WHERE (:agent IS NULL OR session.agent = :agent) AND (:project IS NULL OR session.project = :project)
ORDER BY session.id;

-- name: compressed
SELECT id FROM session
WHERE (:agent IS NULL OR agent = :agent) AND (:project IS NULL OR project = :project)
  AND (compactions <> '[]' OR relation = 'compression' OR EXISTS (
      SELECT 1 FROM session AS child
      WHERE child.parent_agent = session.agent AND child.parent_native_id = session.native_id
        AND child.relation = 'compression'));

-- name: links
-- The touched sessions and all that descend from them, as far as they have a parent.
WITH RECURSIVE line(id) AS (
    SELECT id FROM touched
    UNION
    SELECT child.id FROM line
    CROSS JOIN session AS parent ON parent.id = line.id
    CROSS JOIN session AS child ON child.parent_agent = parent.agent AND child.parent_native_id = parent.native_id
)
SELECT session.id, agent, native_id, parent_agent, parent_native_id, root_id
FROM line CROSS JOIN session ON session.id = line.id
WHERE parent_agent IS NOT NULL;

-- name: touched_roots
SELECT DISTINCT root_id FROM touched CROSS JOIN session ON session.id = touched.id WHERE root_id IS NOT NULL;

-- name: begin_touched
CREATE TEMP TABLE IF NOT EXISTS touched (id INTEGER PRIMARY KEY);

-- name: clear_touched
DELETE FROM touched;

-- name: touch
INSERT INTO touched (id) VALUES (?) ON CONFLICT DO NOTHING;

-- name: unsettle
INSERT INTO waiting (work, session_id) VALUES ('totals', ?) ON CONFLICT DO NOTHING;

-- name: touch_unsettled
INSERT INTO touched (id) SELECT session_id FROM waiting WHERE work = 'totals' ON CONFLICT DO NOTHING;

-- name: count_unsettled
SELECT count(*) AS sessions FROM waiting WHERE work = 'totals';

-- name: settle
DELETE FROM waiting WHERE work = 'totals' AND session_id IN (SELECT id FROM touched);

-- name: set_end
UPDATE session SET told_end_at = :at WHERE agent = :agent AND native_id = :native_id;

-- name: newest_id
SELECT max(id) AS id FROM session;

-- name: find_ref
SELECT id, parent_agent, parent_native_id FROM session WHERE agent = :agent AND native_id = :native_id;

-- name: untitled
SELECT session.id, cwd, messages FROM touched CROSS JOIN session ON session.id = touched.id WHERE own_title IS NULL;

-- name: set_title
UPDATE session SET title = :title WHERE id = :id;

-- name: set_root
UPDATE session SET root_id = :root_id WHERE id = :id;

-- name: set_parent
UPDATE session SET parent_agent = :parent_agent, parent_native_id = :parent_native_id, relation = :relation
WHERE id = :id AND parent_agent IS NULL;

-- name: list
-- Where sub-agents are folded, each session has theirs beside its own figures.
SELECT session.*, source.path AS path, source.gone_at AS gone_at, COALESCE(below.sessions, 0) AS subagents,
    COALESCE(below.calls, 0) AS subagent_calls, COALESCE(below.failed, 0) AS subagent_failed,
    below.known_usd AS subagent_usd
FROM session LEFT JOIN source ON source.id = session.source_id
LEFT JOIN (
    SELECT parent_agent, parent_native_id, count(*) AS sessions, sum(calls) AS calls, sum(failed) AS failed,
        sum(known_usd) AS known_usd
    FROM session WHERE :folds AND relation = 'subagent' GROUP BY parent_agent, parent_native_id
) AS below ON below.parent_agent = session.agent AND below.parent_native_id = session.native_id
WHERE session.messages >= :min_messages
  AND (:source IS NULL OR session.platform = :source OR session.agent = :source)
  AND (:project IS NULL OR session.project = :project)
  AND (:since IS NULL OR session.ended >= :since)
  AND (:until IS NULL OR session.started < :until)
  AND (NOT :only_failed OR session.failed + COALESCE(below.failed, 0) > 0)
  AND (NOT :folds OR COALESCE(session.relation, '') <> 'subagent' OR NOT EXISTS (
      SELECT 1 FROM session AS above
      WHERE above.agent = session.parent_agent AND above.native_id = session.parent_native_id))
ORDER BY session.ended DESC, session.id DESC
LIMIT :limit;

-- name: by_native_id
SELECT session.*, source.path AS path, source.gone_at AS gone_at
FROM session LEFT JOIN source ON source.id = session.source_id
WHERE (:agent IS NULL OR session.agent = :agent) AND session.native_id LIKE :native_id ESCAPE '\'
ORDER BY session.native_id;

-- name: native_ids
SELECT agent, native_id FROM session ORDER BY ended DESC LIMIT :limit;

-- name: of_source
SELECT id FROM session WHERE source_id = :source_id;

-- name: all_ids
SELECT id FROM session ORDER BY started, id;

-- name: delete
DELETE FROM session WHERE id = :id;

-- name: remember_forgotten
INSERT INTO forgotten (agent, native_id, forgotten_at)
SELECT agent, native_id, :forgotten_at FROM session WHERE id = :id
ON CONFLICT (agent, native_id) DO UPDATE SET forgotten_at = excluded.forgotten_at;

-- name: forgotten
SELECT agent, native_id FROM forgotten ORDER BY agent, native_id;

-- name: unforget
DELETE FROM forgotten WHERE native_id = :native_id;

-- name: unforget_all
DELETE FROM forgotten;

-- name: forget_ended
INSERT INTO forgotten (agent, native_id, forgotten_at) VALUES ('*', '*', :at)
ON CONFLICT (agent, native_id) DO UPDATE SET forgotten_at = excluded.forgotten_at;

-- name: forgot_ended
SELECT forgotten_at FROM forgotten WHERE agent = '*' AND native_id = '*';

-- name: read_ended
DELETE FROM forgotten WHERE agent = '*' AND native_id = '*';

-- name: set_aggregates
UPDATE session SET
    calls = :calls, ok = :ok, failed = :failed, unclear = :unclear, declined = :declined, cancelled = :cancelled,
    interrupted = :interrupted, trivial = :trivial, copies = :copies, task_type = :task_type
WHERE id = :id
  AND (calls, ok, failed, unclear, declined, cancelled, interrupted, trivial, copies, task_type)
    IS NOT (:calls, :ok, :failed, :unclear, :declined, :cancelled, :interrupted, :trivial, :copies, :task_type);

-- name: totals
SELECT agent, count(*) AS sessions, sum(messages) AS messages, sum(calls) AS calls, sum(ok) AS ok,
    sum(failed) AS failed, sum(unclear) AS unclear, sum(declined) AS declined, sum(cancelled) AS cancelled,
    sum(interrupted) AS interrupted, sum(trivial) AS trivial, sum(copies) AS copies,
    min(started) AS first, max(ended) AS last
FROM session GROUP BY agent ORDER BY sum(calls) DESC, agent;

-- name: recent_rates
-- The error rates of recent sessions: what an experiment on the next ones can expect.
SELECT count(*) AS sessions, avg(rate) AS mean, avg(rate * rate) AS mean_square
FROM (SELECT 1.0 * failed / (ok + failed) AS rate FROM session WHERE at > :since AND ok + failed > 0) AS recent;
