"""Who may decide or redeem a request, and when: the same rules that the tables enforce, with a sentence for each."""

from __future__ import annotations

from seasoned.confirm.people.credential import Credential
from seasoned.confirm.policy import Policy
from seasoned.confirm.request.request import APPROVED
from seasoned.errors import Conflict, Denied, NotFound, Refused
from seasoned.store import DatabaseRow


def deciding_refusal(who: Credential, row: DatabaseRow, policy: Policy) -> str | None:
    """Why this credential may not decide this request, whatever its state."""
    if who.role not in ("approver", "admin"):
        return f"{who.name!r} is an agent's credential: it asks, and a person decides"
    if who.id == row["requester"]:
        return f"{who.name!r} asked for this itself: somebody else decides"
    if who.person == row["person"] and not (policy.single_operator and row["single_operator"]):
        return (
            f"{who.name!r} belongs to the same person as what asked ({who.person!r}): somebody else decides, unless"
            " the policy said single_operator = true when it was asked; see `seasoned confirm policy use`"
        )
    named = policy.approvers(str(row["action"]))
    if named is not None and who.name not in named:
        return f"the policy does not name {who.name!r} among the approvers of {row['action']!r}"
    return None


def redeeming_refusal(who: Credential, row: DatabaseRow, digest: str, now: float) -> Denied | NotFound | None:
    """Why this credential may not redeem this request now."""
    request_id, status = str(row["id"]), str(row["status"])
    if row["requester"] != who.id:
        if who.role == "agent":
            return no_such_request(request_id)
        return Refused(f"only the credential that asked for {request_id!r} can redeem it")
    if row["digest"] != digest:
        return Refused(f"this is not what was asked for in {request_id!r}: the digest differs; ask for it anew")
    if status not in APPROVED:
        return Conflict(f"request {request_id!r} is {status}: there is nothing to redeem", status=status)
    if row["redeemed_at"] is not None:
        return Conflict(f"request {request_id!r} was redeemed already: ask anew", status=status)
    if now >= float(row["redeem_before"]):
        return Conflict(f"the approval of {request_id!r} was not used in time: ask anew", status=status)
    return None


def check_pending(row: DatabaseRow, now: float) -> None:
    """Nothing, if it waits for a person and is in time; Conflict with the state that it is in otherwise."""
    status = "expired" if row["status"] == "pending" and now >= float(row["expires_at"]) else row["status"]
    if status != "pending":
        raise Conflict(f"request {row['id']!r} is {status} already: nothing was changed", status=status)


def no_such_request(request_id: object) -> NotFound:
    """The same words for what is not there and for what is not yours."""
    return NotFound(f"there is no request {request_id!r}: see `seasoned confirm list`")
