ALTER TABLE session ADD COLUMN hourly_usage TEXT;
-- What each session used, by hour, model and size of the prompt. Costs are computed from it and `model_price`.
CREATE TABLE usage_part (
    session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    hour INTEGER NOT NULL,
    model TEXT NOT NULL,
    is_long INTEGER NOT NULL,
    input INTEGER,
    output INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    reasoning INTEGER,
    cache_write_1h INTEGER NOT NULL,
    -- The part of the cost that the agent itself recorded, by tokens; NULL if it recorded none.
    recorded_usd REAL,
    PRIMARY KEY (session_id, hour, model, is_long)
) WITHOUT ROWID;
CREATE INDEX usage_part_hour ON usage_part (hour);
-- Dollars for one token. A model that has no known price has a row without figures, so that it is not looked up again.
CREATE TABLE model_price (
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    day INTEGER NOT NULL,
    is_long INTEGER NOT NULL,
    input REAL,
    output REAL,
    cache_read REAL,
    cache_write REAL,
    cache_write_1h REAL,
    source TEXT NOT NULL,
    PRIMARY KEY (agent, model, day, is_long)
) WITHOUT ROWID;
CREATE VIEW usage_cost AS
SELECT part.session_id, part.hour, part.model, part.input, part.output, part.cache_read, part.cache_write,
    part.reasoning, session.agent, session.native_id, session.project, session.last_prompt_tokens,
    COALESCE(session.ended, session.started) AS at,
    -- Without input or output there is no cost: half of it would be too little.
    COALESCE(part.recorded_usd, part.input * price.input + part.output * price.output
        + COALESCE(part.cache_read, 0) * price.cache_read
        + (COALESCE(part.cache_write, 0) - part.cache_write_1h) * price.cache_write
        + part.cache_write_1h * price.cache_write_1h) AS usd,
    CASE WHEN part.recorded_usd IS NULL AND price.input IS NOT NULL THEN price.source END AS price_source
FROM usage_part AS part
CROSS JOIN session ON session.id = part.session_id
LEFT JOIN model_price AS price ON price.agent = session.agent AND price.model = part.model
    AND price.day = part.hour / 24 AND price.is_long = part.is_long;
-- What is known of sessions that were read before counts for their last hour, until their sources are read again.
INSERT INTO usage_part
SELECT id, CAST(COALESCE(ended, started, -3600) / 3600 AS INTEGER), COALESCE(model, ''), 0, input_tokens, output_tokens,
    cache_read_tokens, cache_write_tokens, reasoning_tokens, 0, cost_usd
FROM session WHERE input_tokens IS NOT NULL OR output_tokens IS NOT NULL OR cost_usd IS NOT NULL;
UPDATE source SET size = -1, resume = NULL, stamps = NULL WHERE id IN (
    SELECT source_id FROM session WHERE input_tokens IS NOT NULL OR output_tokens IS NOT NULL);
