-- name: begin_part
SAVEPOINT part;

-- name: undo_part
ROLLBACK TO SAVEPOINT part;

-- name: end_part
RELEASE SAVEPOINT part;

-- name: agreed_policy
SELECT document FROM audit WHERE event = 'policy_replaced' ORDER BY seq DESC LIMIT 1;
