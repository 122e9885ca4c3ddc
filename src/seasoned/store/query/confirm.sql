-- name: add_credential
INSERT INTO credential (id, name, role, person, token_hash, public_key, sealed_key, created_at)
VALUES (:id, :name, :role, :person, :token_hash, :public_key, :sealed_key, :created_at);

-- name: credential
SELECT id, name, role, person, created_at, revoked_at, token_hash, public_key, sealed_key
FROM credential WHERE id = :id;

-- name: credential_named
SELECT id, name, role, person, created_at, revoked_at, token_hash, public_key, sealed_key
FROM credential WHERE name = :name;

-- name: credential_by_token
SELECT id, name, role, person, created_at, revoked_at, token_hash FROM credential WHERE token_hash = :token_hash;

-- name: credentials
SELECT id, name, role, person, created_at, revoked_at FROM credential ORDER BY created_at, name;

-- name: credentials_whole
SELECT id, name, role, person, revoked_at, token_hash, public_key, sealed_key FROM credential ORDER BY name;

-- name: active_admins
SELECT COUNT(*) AS count FROM credential WHERE role = 'admin' AND revoked_at IS NULL;

-- name: revoke
UPDATE credential SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL;

-- name: set_key
UPDATE credential SET public_key = :public_key, sealed_key = :sealed_key
WHERE id = :id AND revoked_at IS NULL;

-- name: add_request
INSERT INTO request (
    id, action, description, details, sealed, requester, requester_name, person, single_operator, label, session_key,
    status, timeout_seconds, created_at, expires_at, resolved_at, resolved_by, reason, digest, redeem_before, quorum,
    idempotency_hash
)
VALUES (
    :id, :action, :description, :details, :sealed, :requester, :requester_name, :person, :single_operator, :label,
    :session_key, :status, :timeout_seconds, :created_at, :expires_at, :resolved_at, :resolved_by, :reason, :digest,
    :redeem_before, :quorum, :idempotency_hash
);

-- name: request
SELECT id, action, description, details, sealed, requester, requester_name, person, single_operator, label,
    session_key, status, timeout_seconds, created_at, expires_at, resolved_at, resolved_by, reason, digest,
    redeem_before, redeemed_at, quorum
FROM request WHERE id = :id;

-- name: request_by_idempotency
SELECT id, action, description, details, sealed, requester, requester_name, person, single_operator, label,
    session_key, status, timeout_seconds, created_at, expires_at, resolved_at, resolved_by, reason, digest,
    redeem_before, redeemed_at, quorum
FROM request WHERE requester = :requester AND idempotency_hash = :idempotency_hash;

-- name: newest_alike
SELECT id, redeemed_at FROM request WHERE requester = :requester AND digest = :digest
ORDER BY created_at DESC, id DESC LIMIT 1;

-- name: requests
SELECT id, action, description, details, sealed, requester, requester_name, person, single_operator, label,
    session_key, status, timeout_seconds, created_at, expires_at, resolved_at, resolved_by, reason, digest,
    redeem_before, redeemed_at, quorum
FROM request
WHERE (CAST(:requester AS TEXT) IS NULL OR requester = :requester)
  AND (CAST(:status AS TEXT) IS NULL OR status = :status)
  AND (:unused = 0 OR (status IN ('approved', 'auto_approved') AND redeemed_at IS NULL))
  AND (CAST(:before AS TEXT) IS NULL
    OR created_at < (SELECT created_at FROM request WHERE id = :before)
    OR (created_at = (SELECT created_at FROM request WHERE id = :before) AND id < :before))
ORDER BY created_at DESC, id DESC
LIMIT :limit;

-- name: request_states
SELECT id, action, requester_name, status, digest, resolved_by, redeemed_at, redeem_before, expires_at, quorum,
    (SELECT COUNT(*) FROM vote WHERE request_id = request.id AND approve = 1) AS approvals,
    (SELECT COUNT(*) FROM vote WHERE request_id = request.id AND approve = 0) AS denials
FROM request;

-- name: request_state
SELECT id, action, requester_name, status, digest, resolved_by, redeemed_at, redeem_before, expires_at, quorum,
    (SELECT COUNT(*) FROM vote WHERE request_id = request.id AND approve = 1) AS approvals,
    (SELECT COUNT(*) FROM vote WHERE request_id = request.id AND approve = 0) AS denials
FROM request WHERE id = :id;

-- name: recent
SELECT COUNT(*) AS count FROM (
    SELECT id FROM request
    WHERE created_at > :since AND status <> 'auto_approved'
      AND (CAST(:action AS TEXT) IS NULL OR action = :action)
      AND (CAST(:requester AS TEXT) IS NULL OR requester = :requester)
    LIMIT :most
) AS found;

-- name: pending_of_person
SELECT COUNT(*) AS count FROM (
    SELECT id FROM request WHERE status = 'pending' AND expires_at > :now AND person = :person LIMIT :most
) AS found;

-- name: due
SELECT id FROM request WHERE status = 'pending' AND expires_at <= :now ORDER BY expires_at;

-- name: next_expiry
SELECT MIN(expires_at) AS at FROM request WHERE status = 'pending';

-- name: pending_count
SELECT COUNT(*) AS count FROM request WHERE status = 'pending' AND expires_at > :now;

-- name: resolve
UPDATE request
SET status = :status, resolved_at = :now, resolved_by = :resolved_by, reason = :reason, sealed = NULL,
    redeem_before = :redeem_before
WHERE id = :id AND status = 'pending'
RETURNING id;

-- name: redeem
UPDATE request SET redeemed_at = :now
WHERE id = :id AND requester = :requester AND digest = :digest AND status IN ('approved', 'auto_approved')
  AND redeemed_at IS NULL AND redeem_before > :now
RETURNING id, digest, redeemed_at;

-- name: add_vote
INSERT INTO vote (
    request_id, requester, requester_person, single_operator, voter, voter_name, role, person, approve, reason, via, at
)
SELECT id, requester, person, single_operator, CAST(:voter AS TEXT), CAST(:voter_name AS TEXT), CAST(:role AS TEXT),
    CAST(:person AS TEXT), CAST(:approve AS INTEGER), CAST(:reason AS TEXT), CAST(:via AS TEXT),
    CAST(:at AS DOUBLE PRECISION)
FROM request WHERE id = :request_id AND status = 'pending';

-- name: votes
SELECT voter_name, person, approve, reason, via, at FROM vote WHERE request_id = :request_id ORDER BY at, voter_name;

-- name: lock_head
UPDATE audit_head SET seq = seq WHERE id = 1 RETURNING seq, hash;

-- name: head
SELECT seq, hash FROM audit_head WHERE id = 1;

-- name: add_audit
INSERT INTO audit (seq, at, event, request_id, actor, via, document, previous, hash)
VALUES (:seq, :at, :event, :request_id, :actor, :via, :document, :previous, :hash);

-- name: audit_all
SELECT seq, at, event, request_id, actor, via, document, previous, hash FROM audit ORDER BY seq;

-- name: audit_of_power
SELECT seq, at, event, request_id, actor, via, document, previous, hash FROM audit
WHERE request_id IS NULL AND seq > :seq AND event <> 'passphrase_refused' ORDER BY seq;

-- name: audit_earlier
SELECT seq, at FROM audit WHERE seq > :seq AND at < :at ORDER BY seq LIMIT 1;

-- name: audit_row
SELECT seq, at, event, request_id, actor, via, document, previous, hash FROM audit WHERE seq = :seq;

-- name: audit_newest
SELECT audit.seq, audit.at, audit.event, audit.request_id, audit.actor, audit.via, audit.document, audit.previous,
    audit.hash, request.action, request.status
FROM audit LEFT JOIN request ON request.id = audit.request_id ORDER BY audit.seq DESC LIMIT :limit;

-- name: audit_of_request
SELECT audit.seq, audit.at, audit.event, audit.request_id, audit.actor, audit.via, audit.document, audit.previous,
    audit.hash, request.action, request.status
FROM audit LEFT JOIN request ON request.id = audit.request_id
WHERE audit.request_id = :request_id ORDER BY audit.seq;

-- name: refusal
SELECT seq FROM audit
WHERE request_id = :request_id AND actor = :actor AND event = 'refused' AND document = :document LIMIT 1;

-- name: audit_since
SELECT seq, request_id FROM audit WHERE seq > :seq AND request_id IS NOT NULL ORDER BY seq LIMIT :limit;

-- name: add_outbox
INSERT INTO outbox (id, request_id, event, channel, created_at, attempts, next_at)
VALUES (:id, :request_id, :event, :channel, :now, 0, :now);
