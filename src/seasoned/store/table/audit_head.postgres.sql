-- The head of the audit moves by itself, so that no row is ever added without it.
CREATE FUNCTION seasoned_audit_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE audit_head SET seq = NEW.seq, hash = NEW.hash WHERE id = 1;
    RETURN NEW;
END
$$;
CREATE TRIGGER audit_added AFTER INSERT ON audit
    FOR EACH ROW EXECUTE FUNCTION seasoned_audit_added();
-- Functions look for names in the caller's temporary tables first: without a fixed search path, a temporary table could
-- replace a real one. Every later function is created with a fixed search path.
DO $$
DECLARE
    one regprocedure;
BEGIN
    FOR one IN
        SELECT oid::regprocedure FROM pg_proc
        WHERE pronamespace = current_schema()::regnamespace AND proname LIKE 'seasoned\_%'
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', one, current_schema());
    END LOOP;
END
$$;
