"""Whether a call that needs a person may run: by an allowance, by a service, or by this machine's store alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from seasoned.app.confirm import open_book
from seasoned.command.action import action_words
from seasoned.config import Config, secret
from seasoned.confirm.client import Expired, SaidNo, Unreachable, configured_client
from seasoned.confirm.request.request import NewRequest
from seasoned.errors import CannotDo, Unauthorised

if TYPE_CHECKING:
    from seasoned.confirm.audit.chain import Allowance
    from seasoned.confirm.client import CancellableCall, RequestView

# `pass`: it needs no person, and the agent's own rules decide. `ask`: the agent asks with its own question.
Decision = Literal["allow", "pass", "ask"]


def decide_call(
    config: Config,
    asked: NewRequest,
    *,
    folder: str,
    has_question: bool,
    wait_seconds: float,
    call: CancellableCall | None = None,
    on_submitted: Callable[[RequestView], None] = lambda seen: None,
) -> tuple[Decision, str]:
    """What may be done with a call that needs one of the ten, and why; raises with what a person can do.

    `folder` is the session's project; `details["host"]` is the other machine, if the call is for one.
    `has_question`: the agent can ask by itself, which it does where no service is configured.
    """
    allowance = find_allowance(config, asked, folder=folder)
    if allowance is not None:
        return "pass", f"{allowance.by} allowed it; `seasoned confirm allow --end {allowance.number}` ends that."
    if config.confirm_url is None:
        return ("ask", "") if has_question else ("allow", _ask_store(config, asked))
    client = configured_client(config)
    try:
        grant = client.confirm(
            asked.action,
            asked.description,
            asked.details,
            label=asked.label,
            session_key=asked.session_key,
            wait_seconds=wait_seconds,
            call=call,
            on_submitted=on_submitted,
        )
    except Unreachable as unreachable:
        if not client.is_local:
            raise
        try:
            # A person at this machine can still decide, if the requests are in its store.
            return "allow", _ask_store(config, asked)
        except CannotDo as error:
            raise (error if isinstance(error, Expired | SaidNo) else unreachable) from error
    return "allow", f"A person confirmed {asked.action} (request {grant.id})."


def find_allowance(config: Config, asked: NewRequest, *, folder: str) -> Allowance | None:
    """The allowance in this machine's store that covers a call; None if there is none, or no store."""
    if config.database_url is None and not config.store_path.exists():
        return None
    host = asked.details.get("host")
    try:
        # Agreed: a program that can change the policy file could take an action out of `always_ask`.
        with open_book(config, agreed=True) as book:
            now = book.clock()
            if asked.action in book.policy.always_ask:
                return None
            known = book.recorded().allowances.values()
            return next((one for one in known if one.covers(asked.action, folder=folder, host=host, now=now)), None)
    except CannotDo:
        # Without the store a person is asked in the usual way.
        return None


def _ask_store(config: Config, asked: NewRequest) -> str:
    """The sentence that says which request was approved; otherwise raises with the command that approves it.

    The same call takes up its request again: once it is approved at a terminal, the next attempt redeems it.
    """
    from seasoned.confirm.people.credential import active_admins, authenticate

    with open_book(config) as book:
        if not active_admins(book.database):
            raise CannotDo(
                "No person can be asked yet. Set it up once, at a terminal: `seasoned confirm token make YOUR_NAME"
                " --role admin --alone`."
            )
        try:
            who = authenticate(book.database, secret("confirm_token", config.home) or "")
        except Unauthorised as error:
            raise CannotDo(
                "No person can be asked, because confirm_token is not set or unknown here. At a terminal: `seasoned"
                f" confirm token make NAME --role agent --out {config.home / 'secrets' / 'confirm_token'}`."
            ) from error
        request = book.open_request(who, asked) or book.submit(who, asked).request
        if request.is_unused:
            book.redeem(who, request.id, digest=request.digest)
            return f"A person confirmed {request.action} (request {request.id})."
        if request.status == "denied":
            raise SaidNo(request)
        raise Expired(
            f"A person must agree before it may {action_words(request.action)}. At a terminal, within"
            f" {request.timeout_seconds / 60:g} minutes, `seasoned confirm approve {request.id}` allows exactly this"
            " call; then try it again."
        )
