"""Who may decide or redeem a request, and when: the rules that the tables enforce, with a message for each."""

from __future__ import annotations

from seasoned.confirm.people.credential import Credential
from seasoned.confirm.policy import Policy
from seasoned.confirm.request.request import APPROVED
from seasoned.errors import Conflict, Denied, NotFound, Refused
from seasoned.store import DatabaseRow


def deciding_refusal(who: Credential, row: DatabaseRow, policy: Policy) -> str | None:
    """Why this credential may never decide this request; None if it may."""
    if who.role not in ("approver", "admin"):
        return f"{who.name!r} is an agent's credential: agents ask, people decide"
    if who.id == row["requester"]:
        return f"{who.name!r} made this request: another person must decide"
    # Both now and at submission: a changed policy must not open older requests.
    if who.person == row["person"] and not (policy.single_operator and row["single_operator"]):
        return (
            f"{who.name!r} belongs to the person whose agent asked ({who.person!r}): another person must decide, unless"
            " the policy had single_operator = true when it was submitted; see `seasoned confirm policy use`"
        )
    named = policy.approvers(str(row["action"]))
    if named is not None and who.name not in named:
        return f"{who.name!r} is not among the policy's approvers for {row['action']!r}"
    return None


def redeeming_refusal(who: Credential, row: DatabaseRow, digest: str, now: float) -> Denied | NotFound | None:
    """Why this credential may not redeem this request now; None if it may."""
    request_id, status = str(row["id"]), str(row["status"])
    if row["requester"] != who.id:
        # An agent must not learn that another agent's request exists.
        if who.role == "agent":
            return no_such_request(request_id)
        return Refused(f"only the credential that asked for {request_id!r} can redeem it")
    if row["digest"] != digest:
        return Refused(f"this is not what {request_id!r} asked for: the digest differs; submit a new request")
    if status not in APPROVED:
        return Conflict(f"request {request_id!r} is {status}: there is nothing to redeem", status=status)
    if row["redeemed_at"] is not None:
        return Conflict(f"request {request_id!r} was already redeemed: submit a new request", status=status)
    # At the moment of its end, an approval has ended.
    if now >= float(row["redeem_before"]):
        return Conflict(f"the approval of {request_id!r} was not used in time: submit a new request", status=status)
    return None


def check_pending(row: DatabaseRow, now: float) -> None:
    """Return if the request is pending and in time; otherwise raise Conflict with its status."""
    status = "expired" if row["status"] == "pending" and now >= float(row["expires_at"]) else row["status"]
    if status != "pending":
        raise Conflict(f"request {row['id']!r} is already {status}: nothing was changed", status=status)


def no_such_request(request_id: object) -> NotFound:
    """The same error for a request that does not exist and for one that belongs to another agent."""
    return NotFound(f"unknown request {request_id!r}: see `seasoned confirm list`")
