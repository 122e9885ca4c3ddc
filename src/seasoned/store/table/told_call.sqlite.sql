-- Behind which call a conversation saw something, so that the result of the call stays the same.
ALTER TABLE told ADD COLUMN call_id TEXT NOT NULL DEFAULT '';
-- A block may also tell what the first prompt asked for: it goes with the session that taught it.
CREATE TRIGGER evidence_forgotten_block AFTER DELETE ON evidence
BEGIN
    DELETE FROM warm_block
    WHERE lineage_root IN (SELECT conversation FROM told WHERE project = OLD.project AND place = 'prompt');
END;
