-- What the tables never allow, whichever program writes. Inserts look for the key first: a REPLACE fires no DELETE trigger.
CREATE TRIGGER credential_delete BEFORE DELETE ON credential
BEGIN
    SELECT RAISE(ABORT, 'a credential is revoked, never deleted');
END;
CREATE TRIGGER credential_insert BEFORE INSERT ON credential
WHEN EXISTS (SELECT 1 FROM credential WHERE id = NEW.id OR name = NEW.name OR token_hash = NEW.token_hash)
BEGIN
    SELECT RAISE(ABORT, 'a credential is never replaced');
END;
CREATE TRIGGER credential_update BEFORE UPDATE ON credential
WHEN NEW.id <> OLD.id OR NEW.name <> OLD.name OR NEW.role <> OLD.role OR NEW.person <> OLD.person
    OR NEW.token_hash <> OLD.token_hash OR NEW.created_at <> OLD.created_at
    OR (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS NOT OLD.revoked_at)
BEGIN
    SELECT RAISE(ABORT, 'a credential keeps its role and person, and stays revoked');
END;
CREATE TRIGGER request_insert BEFORE INSERT ON request
BEGIN
    SELECT RAISE(ABORT, 'a request is never replaced')
    WHERE EXISTS (
        SELECT 1 FROM request
        WHERE id = NEW.id OR (requester = NEW.requester AND idempotency_hash = NEW.idempotency_hash)
    );
    SELECT RAISE(ABORT, 'a request begins as pending or auto_approved, and not redeemed')
    WHERE NEW.status NOT IN ('pending', 'auto_approved') OR NEW.redeemed_at IS NOT NULL;
END;
CREATE TRIGGER request_keep BEFORE UPDATE ON request
WHEN NEW.id <> OLD.id OR NEW.action <> OLD.action OR NEW.description <> OLD.description
    OR NEW.details <> OLD.details OR NEW.requester <> OLD.requester OR NEW.requester_name <> OLD.requester_name
    OR NEW.person <> OLD.person OR NEW.single_operator <> OLD.single_operator OR NEW.label <> OLD.label
    OR NEW.session_key <> OLD.session_key OR NEW.timeout_seconds <> OLD.timeout_seconds
    OR NEW.created_at <> OLD.created_at OR NEW.expires_at <> OLD.expires_at OR NEW.digest <> OLD.digest
    OR NEW.quorum <> OLD.quorum OR NEW.idempotency_hash IS NOT OLD.idempotency_hash
    OR (NEW.sealed IS NOT NULL AND NEW.sealed IS NOT OLD.sealed)
BEGIN
    SELECT RAISE(ABORT, 'what was asked is never changed');
END;
CREATE TRIGGER request_status BEFORE UPDATE ON request
WHEN NEW.status <> OLD.status
BEGIN
    SELECT RAISE(ABORT, 'a request is decided once') WHERE OLD.status <> 'pending';
    SELECT RAISE(ABORT, 'only the allow-list approves by itself') WHERE NEW.status = 'auto_approved';
    SELECT RAISE(ABORT, 'a request expires when its time has come')
    WHERE NEW.status = 'expired' AND NEW.resolved_at < OLD.expires_at;
    SELECT RAISE(ABORT, 'an approval needs its quorum, in time, and no denial')
    WHERE NEW.status = 'approved' AND (
        NEW.resolved_at >= OLD.expires_at
        OR (SELECT COUNT(*) FROM vote WHERE request_id = OLD.id AND approve = 1) < OLD.quorum
        OR EXISTS (SELECT 1 FROM vote WHERE request_id = OLD.id AND approve = 0)
    );
    SELECT RAISE(ABORT, 'a denial needs a vote')
    WHERE NEW.status = 'denied' AND NOT EXISTS (SELECT 1 FROM vote WHERE request_id = OLD.id AND approve = 0);
END;
CREATE TRIGGER request_final BEFORE UPDATE ON request
WHEN OLD.status <> 'pending'
BEGIN
    SELECT RAISE(ABORT, 'a decision is never changed')
    WHERE NEW.resolved_at <> OLD.resolved_at OR NEW.resolved_by <> OLD.resolved_by OR NEW.reason <> OLD.reason
        OR NEW.redeem_before IS NOT OLD.redeem_before;
END;
CREATE TRIGGER request_redeem BEFORE UPDATE ON request
WHEN NEW.redeemed_at IS NOT OLD.redeemed_at
BEGIN
    SELECT RAISE(ABORT, 'an approval is redeemed once, after it was given')
    WHERE OLD.redeemed_at IS NOT NULL OR OLD.status NOT IN ('approved', 'auto_approved');
    SELECT RAISE(ABORT, 'a revoked credential redeems nothing')
    WHERE EXISTS (SELECT 1 FROM credential WHERE id = OLD.requester AND revoked_at IS NOT NULL);
END;
CREATE TRIGGER request_delete BEFORE DELETE ON request
BEGIN
    SELECT RAISE(ABORT, 'a request is never deleted');
END;
CREATE TRIGGER vote_insert BEFORE INSERT ON vote
BEGIN
    SELECT RAISE(ABORT, 'a person votes once')
    WHERE EXISTS (SELECT 1 FROM vote WHERE request_id = NEW.request_id AND person = NEW.person);
    SELECT RAISE(ABORT, 'votes are cast while the request is pending and in time')
    WHERE NOT EXISTS (
        SELECT 1 FROM request WHERE id = NEW.request_id AND status = 'pending' AND NEW.at < expires_at
    );
    SELECT RAISE(ABORT, 'a revoked credential does not vote')
    WHERE EXISTS (SELECT 1 FROM credential WHERE id = NEW.voter AND revoked_at IS NOT NULL);
END;
CREATE TRIGGER vote_update BEFORE UPDATE ON vote
BEGIN
    SELECT RAISE(ABORT, 'a vote is never changed');
END;
CREATE TRIGGER vote_delete BEFORE DELETE ON vote
BEGIN
    SELECT RAISE(ABORT, 'a vote is never deleted');
END;
CREATE TRIGGER audit_insert BEFORE INSERT ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is only continued at its head')
    WHERE NOT EXISTS (SELECT 1 FROM audit_head WHERE id = 1 AND seq + 1 = NEW.seq AND hash = NEW.previous);
END;
CREATE TRIGGER audit_update BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only');
END;
CREATE TRIGGER audit_delete BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only');
END;
-- The head of the audit moves by itself, so that no row is ever added without it.
CREATE TRIGGER audit_added AFTER INSERT ON audit
BEGIN
    UPDATE audit_head SET seq = NEW.seq, hash = NEW.hash WHERE id = 1;
END;
CREATE TRIGGER audit_head_insert BEFORE INSERT ON audit_head
BEGIN
    SELECT RAISE(ABORT, 'the audit has one head');
END;
CREATE TRIGGER audit_head_update BEFORE UPDATE ON audit_head
WHEN NOT (NEW.seq = OLD.seq AND NEW.hash = OLD.hash)
BEGIN
    SELECT RAISE(ABORT, 'the head of the audit moves with its rows')
    WHERE NEW.id <> 1 OR NEW.seq <> OLD.seq + 1
        OR NOT EXISTS (SELECT 1 FROM audit WHERE seq = NEW.seq AND hash = NEW.hash);
END;
CREATE TRIGGER audit_head_delete BEFORE DELETE ON audit_head
BEGIN
    SELECT RAISE(ABORT, 'the audit has one head');
END;
