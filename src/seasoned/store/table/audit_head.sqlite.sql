-- The head of the audit moves by itself, so that no row is ever added without it.
CREATE TRIGGER audit_added AFTER INSERT ON audit
BEGIN
    UPDATE audit_head SET seq = NEW.seq, hash = NEW.hash WHERE id = 1;
END;
