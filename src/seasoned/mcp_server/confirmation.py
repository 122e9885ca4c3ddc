"""The tools with which an agent asks a person. There is none with which it could decide."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from seasoned.config import Config
from seasoned.confirm.client.http import CancellableCall, in_thread
from seasoned.confirm.client.sync import ConfirmClient, RequestView, check_approved, configured_client, digest_of
from seasoned.confirm.request.request import NewRequest
from seasoned.errors import SeasonedError

_T = TypeVar("_T")
# A model can simply wait again: the request stays open meanwhile.
_LONGEST_WAIT_SECONDS = 600.0
# Requests that are remembered; for older ones the service is asked what was requested.
REMEMBERED = 1000
Id = Annotated[str, Field(description="The id that request_confirmation returned.", min_length=1, max_length=64)]
Details = Annotated[dict[str, Any], Field(description="The exact values: targets, amounts, commands.")]


class ConfirmationTools:
    """Remembers what was requested, so that only that can be redeemed."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._asked: OrderedDict[str, NewRequest] = OrderedDict()

    def tools(self) -> tuple[Callable[..., Any], ...]:
        return self.request_confirmation, self.wait_confirmation, self.redeem_confirmation

    async def request_confirmation(
        self,
        action: Annotated[
            str, Field(description='What kind of action, such as "deploy_production", "delete_data", "send_email".')
        ],
        description: Annotated[str, Field(description="One sentence that lets a person decide.", min_length=1)],
        details: Details | None = None,
        timeout_seconds: Annotated[float | None, Field(description="How long a person may take, 30 to 3600.")] = None,
    ) -> dict[str, Any]:
        """Ask a person to agree to exactly this action. Returns an id at once; then call wait_confirmation."""
        asked = NewRequest(
            action=action,
            description=description,
            details=details or {},
            label="mcp",
            timeout_seconds=timeout_seconds,
        )
        seen = await self._with_service(lambda client, call: client.submit(asked, call=call))
        self._asked[seen.id] = asked
        # A server may run for months, so the oldest are dropped.
        while len(self._asked) > REMEMBERED:
            self._asked.popitem(last=False)
        return _answer(seen)

    async def wait_confirmation(
        self,
        id: Id,
        wait_seconds: Annotated[float, Field(description="The longest wait.", ge=0, le=_LONGEST_WAIT_SECONDS)] = 50,
    ) -> dict[str, Any]:
        """Wait until a person has decided: pending, approved, denied, expired or auto_approved, and the reason.

        When it is denied, tell the user why and do not try the same another way.
        """
        return _answer(await self._with_service(lambda client, call: client.wait(id, wait_seconds, call=call)))

    async def redeem_confirmation(self, id: Id, details: Details | None = None) -> dict[str, Any]:
        """Use an approval, once, right before you act. Give the details of what you are about to do.

        It fails when they are not the ones that were approved, when it was used before, or when it is too late.
        """

        def redeem(client: ConfirmClient, call: CancellableCall) -> dict[str, Any]:
            seen = client.look(id, call=call)
            check_approved(seen)
            # The digest is made of what is about to be done, so an approval for other details cannot be used.
            known = self._asked.get(id) or NewRequest(action=seen.action, description=seen.description)
            doing = NewRequest(action=known.action, description=known.description, details=details or {})
            grant = client.redeem(id, digest_of(doing, requester=seen.requester or ""), call=call)
            return {"id": grant.id, "granted": True, "redeemed_at": grant.redeemed_at}

        return await self._with_service(redeem)

    async def _with_service(self, work: Callable[[ConfirmClient, CancellableCall], _T]) -> _T:
        try:
            client = configured_client(self._config)
            # Off the event loop: a person may take minutes, and other tools must answer meanwhile.
            return await in_thread(lambda call: work(client, call))
        except SeasonedError as error:
            raise ToolError(str(error)) from error


def _answer(seen: RequestView) -> dict[str, Any]:
    return {
        "id": seen.id,
        "action": seen.action,
        "status": seen.status,
        "may_redeem": seen.is_approved and seen.redeemed_at is None,
        "reason": seen.reason,
        "resolved_by": seen.resolved_by,
        "timeout_seconds": seen.timeout_seconds,
    }
