-- What the tables never allow, whichever program writes: the same rules as for SQLite.
CREATE FUNCTION seasoned_never() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE FUNCTION seasoned_refuse(is_wrong boolean, sentence text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF is_wrong THEN
        RAISE EXCEPTION '%', sentence USING ERRCODE = 'integrity_constraint_violation';
    END IF;
END
$$;
CREATE TRIGGER credential_delete BEFORE DELETE OR TRUNCATE ON credential
    FOR EACH STATEMENT EXECUTE FUNCTION seasoned_never('a credential is revoked, never deleted');
CREATE FUNCTION seasoned_credential_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM seasoned_refuse(
        NEW.id <> OLD.id OR NEW.name <> OLD.name OR NEW.role <> OLD.role OR NEW.person <> OLD.person
            OR NEW.token_hash <> OLD.token_hash OR NEW.created_at <> OLD.created_at
            OR (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at),
        'a credential keeps its role and person, and stays revoked'
    );
    RETURN NEW;
END
$$;
CREATE TRIGGER credential_update BEFORE UPDATE ON credential
    FOR EACH ROW EXECUTE FUNCTION seasoned_credential_update();
CREATE FUNCTION seasoned_request_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM seasoned_refuse(
        NEW.status NOT IN ('pending', 'auto_approved') OR NEW.redeemed_at IS NOT NULL,
        'a request begins as pending or auto_approved, and not redeemed'
    );
    RETURN NEW;
END
$$;
CREATE TRIGGER request_insert BEFORE INSERT ON request
    FOR EACH ROW EXECUTE FUNCTION seasoned_request_insert();
CREATE FUNCTION seasoned_request_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM seasoned_refuse(
        NEW.id <> OLD.id OR NEW.action <> OLD.action OR NEW.description <> OLD.description
            OR NEW.details <> OLD.details OR NEW.requester <> OLD.requester
            OR NEW.requester_name <> OLD.requester_name OR NEW.person <> OLD.person
            OR NEW.single_operator <> OLD.single_operator OR NEW.label <> OLD.label
            OR NEW.session_key <> OLD.session_key OR NEW.timeout_seconds <> OLD.timeout_seconds
            OR NEW.created_at <> OLD.created_at OR NEW.expires_at <> OLD.expires_at OR NEW.digest <> OLD.digest
            OR NEW.quorum <> OLD.quorum OR NEW.idempotency_hash IS DISTINCT FROM OLD.idempotency_hash
            OR (NEW.sealed IS NOT NULL AND NEW.sealed IS DISTINCT FROM OLD.sealed),
        'what was asked is never changed'
    );
    IF NEW.status <> OLD.status THEN
        PERFORM seasoned_refuse(OLD.status <> 'pending', 'a request is decided once');
        PERFORM seasoned_refuse(NEW.status = 'auto_approved', 'only the allow-list approves by itself');
        PERFORM seasoned_refuse(
            NEW.status = 'expired' AND NEW.resolved_at < OLD.expires_at, 'a request expires when its time has come'
        );
        PERFORM seasoned_refuse(
            NEW.status = 'approved' AND (
                NEW.resolved_at >= OLD.expires_at
                OR (SELECT COUNT(*) FROM vote WHERE request_id = OLD.id AND approve = 1) < OLD.quorum
                OR EXISTS (SELECT 1 FROM vote WHERE request_id = OLD.id AND approve = 0)
            ),
            'an approval needs its quorum, in time, and no denial'
        );
        PERFORM seasoned_refuse(
            NEW.status = 'denied' AND NOT EXISTS (SELECT 1 FROM vote WHERE request_id = OLD.id AND approve = 0),
            'a denial needs a vote'
        );
    END IF;
    IF OLD.status <> 'pending' THEN
        PERFORM seasoned_refuse(
            NEW.resolved_at <> OLD.resolved_at OR NEW.resolved_by <> OLD.resolved_by OR NEW.reason <> OLD.reason
                OR NEW.redeem_before IS DISTINCT FROM OLD.redeem_before,
            'a decision is never changed'
        );
    END IF;
    IF NEW.redeemed_at IS DISTINCT FROM OLD.redeemed_at THEN
        PERFORM seasoned_refuse(
            OLD.redeemed_at IS NOT NULL OR OLD.status NOT IN ('approved', 'auto_approved'),
            'an approval is redeemed once, after it was given'
        );
        PERFORM seasoned_refuse(
            EXISTS (SELECT 1 FROM credential WHERE id = OLD.requester AND revoked_at IS NOT NULL),
            'a revoked credential redeems nothing'
        );
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER request_update BEFORE UPDATE ON request
    FOR EACH ROW EXECUTE FUNCTION seasoned_request_update();
CREATE TRIGGER request_delete BEFORE DELETE OR TRUNCATE ON request
    FOR EACH STATEMENT EXECUTE FUNCTION seasoned_never('a request is never deleted');
CREATE FUNCTION seasoned_vote_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- The row is locked, so that it cannot be decided while the vote is being cast.
    PERFORM 1 FROM request WHERE id = NEW.request_id AND status = 'pending' AND NEW.at < expires_at FOR UPDATE;
    PERFORM seasoned_refuse(NOT FOUND, 'votes are cast while the request is pending and in time');
    PERFORM seasoned_refuse(
        EXISTS (SELECT 1 FROM credential WHERE id = NEW.voter AND revoked_at IS NOT NULL),
        'a revoked credential does not vote'
    );
    RETURN NEW;
END
$$;
CREATE TRIGGER vote_insert BEFORE INSERT ON vote
    FOR EACH ROW EXECUTE FUNCTION seasoned_vote_insert();
CREATE TRIGGER vote_update BEFORE UPDATE ON vote
    FOR EACH STATEMENT EXECUTE FUNCTION seasoned_never('a vote is never changed');
CREATE TRIGGER vote_delete BEFORE DELETE OR TRUNCATE ON vote
    FOR EACH STATEMENT EXECUTE FUNCTION seasoned_never('a vote is never deleted');
CREATE FUNCTION seasoned_audit_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM seasoned_refuse(
        NOT EXISTS (SELECT 1 FROM audit_head WHERE id = 1 AND seq + 1 = NEW.seq AND hash = NEW.previous),
        'the audit is only continued at its head'
    );
    RETURN NEW;
END
$$;
CREATE TRIGGER audit_insert BEFORE INSERT ON audit
    FOR EACH ROW EXECUTE FUNCTION seasoned_audit_insert();
CREATE TRIGGER audit_change BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION seasoned_never('the audit is append-only');
CREATE FUNCTION seasoned_audit_head_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.seq <> OLD.seq OR NEW.hash <> OLD.hash THEN
        PERFORM seasoned_refuse(
            NEW.seq <> OLD.seq + 1 OR NOT EXISTS (SELECT 1 FROM audit WHERE seq = NEW.seq AND hash = NEW.hash),
            'the head of the audit moves with its rows'
        );
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER audit_head_update BEFORE UPDATE ON audit_head
    FOR EACH ROW EXECUTE FUNCTION seasoned_audit_head_update();
CREATE TRIGGER audit_head_change BEFORE INSERT OR DELETE OR TRUNCATE ON audit_head
    FOR EACH STATEMENT EXECUTE FUNCTION seasoned_never('the audit has one head');
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
