-- The head of the audit moves by itself, so that no row is ever added without it.
CREATE FUNCTION seasoned_audit_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE audit_head SET seq = NEW.seq, hash = NEW.hash WHERE id = 1;
    RETURN NEW;
END
$$;
CREATE TRIGGER audit_added AFTER INSERT ON audit
    FOR EACH ROW EXECUTE FUNCTION seasoned_audit_added();
-- Names in functions are found in the caller's own temporary tables first: without this, a table made there under the
-- name of another would be looked at in its place. Every later function is made with a search path of its own.
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
