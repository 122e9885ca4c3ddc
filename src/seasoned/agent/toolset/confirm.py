"""Tools by which an agent asks a person, and reads the decision. The agent can never decide."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from pydantic_ai import RunContext

from seasoned.agent.loop.context import Context
from seasoned.confirm.client import (
    CancellableCall,
    Changed,
    ConfirmClient,
    RequestView,
    check_approved,
    configured_client,
    digest_of,
    in_thread,
)
from seasoned.confirm.request.request import NewRequest
from seasoned.errors import Refused, SeasonedError

Answer = dict[str, Any]
# Waiting longer would use up the turn's time; the model can call again.
_LONGEST_WAIT_SECONDS = 120.0


async def request_confirmation(
    ctx: RunContext[Context],
    action: str,
    description: str,
    details: dict[str, Any] | None = None,
    timeout_seconds: float | None = None,
) -> Answer:
    """Ask a person to agree to an action before you go on with it. Returns the id of the request at once.

    Ask before anything that cannot be undone or that others will notice, unless the tool you call asks by itself, as
    the terminal does. Say exactly what will be done: only that is agreed to. Then look with confirmation_status.

    Args:
        action: What kind of action it is, in lower case, for example "deploy_production", "delete_data", "send_email".
        description: One sentence that lets a person decide without asking back.
        details: The exact values: targets, amounts, commands.
        timeout_seconds: How long a person may take, 30 to 3600; 300 if you leave it out.
    """

    def ask(client: ConfirmClient, call: CancellableCall) -> RequestView:
        asked = NewRequest(
            action=action,
            description=description,
            details=details or {},
            label="seasoned",
            session_key=ctx.deps.session or "",
            timeout_seconds=timeout_seconds,
        )
        seen = client.submit(asked, call=call)
        # A copy: what the model does with its own values afterwards is not what a person is shown.
        ctx.deps.asked[seen.id] = copy.deepcopy(asked)
        return seen

    return await _answered(ctx, ask)


async def confirmation_status(
    ctx: RunContext[Context], id: str, wait_seconds: float = 0.0, begin: bool = False
) -> Answer:
    """Get the status of a request for confirmation: pending, approved, denied, expired or auto_approved.

    Go on only when it is approved or auto_approved, and then only with exactly what was asked. When it is denied,
    `reason` says why: tell the user, and do not try the same another way.

    Args:
        id: The id that request_confirmation returned.
        wait_seconds: Wait this many seconds for a decision, at most 120.
        begin: Set it right before you do what was approved. It uses the approval up, which works once.
    """
    seconds = min(max(wait_seconds, 0.0), _LONGEST_WAIT_SECONDS)

    def look(client: ConfirmClient, call: CancellableCall) -> RequestView:
        seen = client.wait(id, seconds, call=call)
        if begin:
            check_approved(seen)
            asked = ctx.deps.asked.get(seen.id)
            if asked is None:
                raise Refused(f"{seen.id!r} was not requested in this conversation. Request what you want to do again.")
            # Computed here, not taken from the service: what was approved must be what was asked for here.
            digest = digest_of(asked, requester=seen.requester or "")
            if digest != seen.digest:
                raise Changed("What was approved is not what was requested in this conversation. Request it again.")
            client.redeem(seen.id, digest, call=call)
        return seen

    return await _answered(ctx, look)


async def _answered(ctx: RunContext[Context], work: Callable[[ConfirmClient, CancellableCall], RequestView]) -> Answer:
    try:
        client = configured_client(ctx.deps.config)
        seen = await in_thread(lambda call: work(client, call))
    except SeasonedError as error:
        return {"success": False, "error": str(error)}
    return {
        "success": True,
        "id": seen.id,
        "action": seen.action,
        "status": seen.status,
        "may_go_on": seen.is_approved,
        "resolved_by": seen.resolved_by,
        "reason": seen.reason,
        "timeout_seconds": seen.timeout_seconds,
    }


CONFIRM = (request_confirmation, confirmation_status)
