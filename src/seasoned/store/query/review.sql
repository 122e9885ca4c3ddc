-- name: begin
INSERT INTO review (ref, session, context, form, model, platform, task, pid, started_at, state)
VALUES (:ref, :session, :context, :form, :model, :platform, :task, :pid, :started_at, 'running')
RETURNING id;

-- name: count_request
UPDATE review
SET requests = requests + 1,
    input_tokens = COALESCE(input_tokens + :input_tokens, input_tokens, :input_tokens),
    output_tokens = COALESCE(output_tokens + :output_tokens, output_tokens, :output_tokens),
    cache_read_tokens = COALESCE(cache_read_tokens + :cache_read_tokens, cache_read_tokens, :cache_read_tokens),
    cost_usd = COALESCE(cost_usd + :cost_usd, cost_usd, :cost_usd),
    unpriced = unpriced + CASE WHEN :cost_usd IS NULL THEN 1 ELSE 0 END
WHERE id = :id;

-- name: end
UPDATE review
SET state = :state, ended_at = :ended_at, calls = :calls, refused = :refused, kept = :kept, staged = :staged,
    said = :said, answer = :answer
WHERE id = :id;

-- name: by_id
SELECT * FROM review WHERE id = :id;

-- name: list
SELECT * FROM review
WHERE (:session IS NULL OR session = :session)
ORDER BY id DESC LIMIT :limit;

-- name: spent
SELECT COUNT(CASE WHEN requests > 0 THEN 1 END) AS reviews, COALESCE(SUM(requests), 0) AS requests,
    COALESCE(SUM(COALESCE(input_tokens, 0) + COALESCE(cache_read_tokens, 0) + COALESCE(output_tokens, 0)), 0) AS tokens,
    COALESCE(SUM(cost_usd), 0) AS cost_usd, COALESCE(SUM(unpriced), 0) AS unpriced
FROM review WHERE started_at >= :since;

-- name: newest_session
SELECT agent, native_id FROM session
WHERE relation IS NULL OR relation NOT IN ('review', 'subagent')
ORDER BY COALESCE(ended, started) DESC, id DESC LIMIT 1;

-- name: forget_session
DELETE FROM review WHERE session = :session;

-- name: forget_all
DELETE FROM review;

-- name: changes_since
SELECT * FROM learned WHERE actor = 'review' AND state = 'kept' AND at >= :since ORDER BY id;

-- name: rules_since
SELECT COUNT(*) AS rules FROM spoken_rule WHERE lasts = 2 AND session_id IN (
    SELECT session.id FROM review JOIN session
    ON session.agent = substr(review.session, 1, instr(review.session, ':') - 1)
        AND session.native_id = substr(review.session, instr(review.session, ':') + 1)
    WHERE review.started_at >= :since
);

-- name: told_since
SELECT conversation, text, told_at FROM told WHERE place = 'memory' AND told_at >= :since AND text <> '';

-- name: skills_read_since
SELECT call.session_id, call.arguments, session.at FROM session CROSS JOIN call ON call.session_id = session.id
WHERE session.at >= :since AND (instr(call.arguments, 'SKILL.md') > 0 OR call.tool IN ('Skill', 'skill_view'));
