-- `text` and `places` are packed. Rows of earlier versions are as they were, and are packed when they are written again.
ALTER TABLE search_text RENAME TO search_document;
DROP TRIGGER search_text_added;
DROP TRIGGER search_text_gone;
-- What the index reads: `unpacked` is a function of every connection that Seasoned opens.
CREATE VIEW search_text AS SELECT id, facts, unpacked(text) AS text FROM search_document;
CREATE TRIGGER search_document_added AFTER INSERT ON search_document BEGIN
    INSERT INTO search_index (rowid, facts, text) VALUES (NEW.id, NEW.facts, unpacked(NEW.text));
END;
CREATE TRIGGER search_document_gone AFTER DELETE ON search_document BEGIN
    INSERT INTO search_index (search_index, rowid, facts, text)
    VALUES ('delete', OLD.id, OLD.facts, unpacked(OLD.text));
END;
