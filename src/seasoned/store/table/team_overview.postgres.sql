-- What pages add up or search is taken out of the documents once, when they are written. A withdrawn record has none.
CREATE FUNCTION team_number(TEXT, TEXT) RETURNS DOUBLE PRECISION IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT CAST(CAST($1 AS JSON) ->> $2 AS DOUBLE PRECISION)
$$;
-- Letters and digits alone, so that parts of paths and options are words too.
CREATE FUNCTION team_plain(TEXT) RETURNS TEXT IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT regexp_replace(regexp_replace($1, '\\[a-z"\\]', ' ', 'g'), '[]!-/:-@[\\^_`{-~[:space:]]+', ' ', 'g')
$$;
ALTER TABLE team_record
    ADD COLUMN agent TEXT GENERATED ALWAYS AS
        (CASE WHEN kind = 'session' THEN CAST(document AS JSON) ->> 'agent' END) STORED,
    ADD COLUMN model TEXT GENERATED ALWAYS AS
        (CASE WHEN kind = 'session' THEN CAST(document AS JSON) ->> 'model' END) STORED,
    ADD COLUMN started DOUBLE PRECISION GENERATED ALWAYS AS
        (CASE WHEN kind = 'session' THEN team_number(document, 'started') END) STORED,
    ADD COLUMN ended DOUBLE PRECISION GENERATED ALWAYS AS
        (CASE WHEN kind = 'session' THEN team_number(document, 'ended') END) STORED,
    ADD COLUMN calls DOUBLE PRECISION GENERATED ALWAYS AS
        (CASE WHEN kind = 'session' THEN team_number(document, 'calls') END) STORED,
    ADD COLUMN failed DOUBLE PRECISION GENERATED ALWAYS AS
        (CASE WHEN kind = 'session' THEN team_number(document, 'failed') END) STORED,
    ADD COLUMN input_tokens DOUBLE PRECISION GENERATED ALWAYS AS
        (CASE WHEN kind = 'session' THEN team_number(document, 'input_tokens') END) STORED,
    ADD COLUMN output_tokens DOUBLE PRECISION GENERATED ALWAYS AS
        (CASE WHEN kind = 'session' THEN team_number(document, 'output_tokens') END) STORED,
    ADD COLUMN cost_usd DOUBLE PRECISION GENERATED ALWAYS AS
        (CASE WHEN kind = 'session' THEN team_number(document, 'cost_usd') END) STORED,
    ADD COLUMN words TSVECTOR GENERATED ALWAYS AS
        (CASE WHEN kind = 'calls' THEN strip(to_tsvector('simple', team_plain(document))) END) STORED;
CREATE INDEX team_record_words ON team_record USING gin (words) WHERE kind = 'calls';
CREATE INDEX team_record_sessions ON team_record (COALESCE(ended, started, at)) WHERE kind = 'session' AND document IS NOT NULL;
