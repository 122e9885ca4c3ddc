-- name: agreed_policy
SELECT document FROM audit WHERE event = 'policy_replaced' ORDER BY seq DESC LIMIT 1;
