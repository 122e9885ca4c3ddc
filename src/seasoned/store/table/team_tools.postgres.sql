-- What a page counts by tool is taken out of the calls of a session once, when they are written: calls and failures.
CREATE FUNCTION team_tools(TEXT) RETURNS JSONB IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT jsonb_object_agg(tool, counts) FROM (
        SELECT call ->> 'tool' AS tool,
            jsonb_build_array(COUNT(*), COUNT(*) FILTER (WHERE call ->> 'verdict' = 'failed')) AS counts
        FROM json_array_elements(CAST($1 AS JSON) -> 'calls') AS call GROUP BY 1
    ) AS counted
$$;
ALTER TABLE team_record
    ADD COLUMN tools JSONB GENERATED ALWAYS AS (CASE WHEN kind = 'calls' THEN team_tools(document) END) STORED;
-- How many records were withdrawn, and which experiments there are.
CREATE INDEX team_record_withdrawn ON team_record (project) WHERE document IS NULL;
CREATE INDEX team_record_splits ON team_record (project) WHERE kind = 'split';
