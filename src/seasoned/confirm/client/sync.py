"""Asks a confirmation service, and goes on only with a grant. Whatever goes wrong on the way means no."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import msgspec

from seasoned.command.action import check_action
from seasoned.config import Config, load, secret
from seasoned.confirm.client.http import CallFailed, CancellableCall, ServiceReply, call, parse_address
from seasoned.confirm.request.light_canonical_json import digest_of_request
from seasoned.confirm.request.request import APPROVED, Grant, NewRequest, Status
from seasoned.errors import CannotDo, UsageError

_ANSWER_SECONDS = 30.0
"""How long an answer may take that waits for nobody."""
_POLL_SECONDS = 20.0
"""One stretch of waiting; proxies cut connections that are silent for longer."""
_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 5.0
_MOST_SECONDS = 3600.0
"""No request waits longer for a person."""
_SLACK_SECONDS = 5.0
"""So much longer than the request lives is waited for its end."""


class NotConfirmed(CannotDo):
    """Nobody confirmed the action: it must not be done. The message says why."""


class SaidNo(NotConfirmed):
    """A person said no; `reason` is what they gave for it."""

    exit_code = 1

    def __init__(self, seen: RequestView) -> None:
        said = f": {seen.reason}" if seen.reason else ", without a reason"
        super().__init__(f"{seen.resolved_by or 'Somebody'} denied {seen.action!r}{said}. Do not try it another way.")
        self.id, self.reason, self.by = seen.id, seen.reason, seen.resolved_by


class Expired(NotConfirmed):
    """Nobody decided in time."""

    exit_code = 1


class Unreachable(NotConfirmed):
    """The service could not be reached, or what it said cannot be relied on."""


class Rejected(NotConfirmed):
    """The service refuses to deal with the request; `status` is the one of HTTP."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(f"The confirmation service refused (HTTP {status}): {said}")
        self.status = status


class Changed(NotConfirmed):
    """What is to be done is no longer what was confirmed."""


class RequestView(msgspec.Struct, frozen=True, kw_only=True):
    """A request as the service shows it."""

    id: str
    action: str
    status: Status
    digest: str = ""
    description: str = ""
    details: dict[str, Any] = {}
    reason: str = ""
    message: str = ""
    requester: str | None = None
    timeout_seconds: float | None = None
    created_at: float | None = None
    expires_at: float | None = None
    resolved_by: str | None = None
    resolved_at: float | None = None
    redeemed_at: float | None = None
    approve_url: str | None = None
    deny_url: str | None = None

    @property
    def is_approved(self) -> bool:
        return self.status in APPROVED


class ConfirmClient:
    """A confirmation service, seen by one who asks, or by one who decides: the token says which."""

    def __init__(
        self,
        url: str,
        token: str | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = url
        self._place = parse_address(url)
        # On a Unix socket the service may know who asks by the user id at the other end.
        is_known = token is None and self._place.socket_path is not None
        if not is_known and (not token or not token.isascii() or not token.isprintable() or " " in token):
            raise UsageError(
                "The token for the confirmation service is none: make one with `seasoned confirm token make`."
            )
        self._token = token
        self._clock = clock
        self._pause = pause

    def submit(self, asked: NewRequest, *, line: CancellableCall | None = None) -> RequestView:
        """Hand over a request. With the idempotency key it may be handed over again, and is asked once."""
        key = asked.idempotency_key or secrets.token_urlsafe(24)
        body: dict[str, Any] = {
            "action": asked.action,
            "description": asked.description,
            "details": asked.details,
            "session_key": asked.session_key,
        }
        if asked.label:
            body["requester"] = asked.label
        if asked.timeout_seconds is not None:
            body["timeout_seconds"] = asked.timeout_seconds
        headers = {"Idempotency-Key": key}

        def once() -> ServiceReply:
            return self._call("POST", "/confirm", body=body, headers=headers, line=line)

        try:
            reply = once()
        except Unreachable:
            if line is not None and line.is_cut:
                raise
            # Whether the service took it is not known; the key makes the second try the same request.
            reply = once()
        return _seen(reply)

    def look(self, request_id: str, *, wait_seconds: float = 0.0, line: CancellableCall | None = None) -> RequestView:
        """How a request stands; with `wait_seconds`, as soon as it is decided or when they are over."""
        path = _path(request_id) + (f"?wait={wait_seconds:g}" if wait_seconds > 0 else "")
        seen = _seen(self._call("GET", path, timeout=_ANSWER_SECONDS + wait_seconds, line=line))
        if seen.id != request_id:
            raise Unreachable("The confirmation service answered about another request: nothing may be done.")
        return seen

    def wait(self, request_id: str, seconds: float, *, line: CancellableCall | None = None) -> RequestView:
        """The request once it is decided, or as it stands when the seconds are over; a restart is waited for."""
        until = self._clock() + seconds
        pause = _PAUSE_SECONDS
        while True:
            begun = self._clock()
            left = until - begun
            try:
                seen = self.look(request_id, wait_seconds=max(0.0, min(left, _POLL_SECONDS)), line=line)
            except Unreachable:
                if left <= pause or (line is not None and line.is_cut):
                    raise
                self._pause(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
                continue
            if seen.status != "pending" or until <= self._clock():
                return seen
            pause = _PAUSE_SECONDS
            if self._clock() - begun < pause:
                # A service that is shutting down, or a proxy, may answer at once.
                self._pause(min(pause, max(0.0, until - self._clock())))

    def redeem(self, request_id: str, digest: str, *, line: CancellableCall | None = None) -> Grant:
        """Use an approval, once, for what has this digest. Where the answer is lost, so is the approval."""
        reply = self._call("POST", f"{_path(request_id)}/redeem", body={"digest": digest}, line=line)
        try:
            grant = msgspec.convert(reply.body, Grant)
        except msgspec.ValidationError as error:
            raise _senseless(error) from error
        if grant.id != request_id or not secrets.compare_digest(grant.digest.encode(), digest.encode()):
            raise Unreachable("The confirmation service granted something else than what was asked: do nothing.")
        return grant

    def decide(self, request_id: str, *, approve: bool, reason: str = "") -> RequestView:
        """Approve or deny, with the token of an approver."""
        verb = "approve" if approve else "deny"
        return _seen(self._call("POST", f"{_path(request_id)}/{verb}", body={"reason": reason}))

    def read_request(self, request_id: str) -> dict[str, Any]:
        """A request with all that the service shows of it."""
        return self.read(_path(request_id))

    def read(self, path: str) -> dict[str, Any]:
        """What a reading address answers, such as `/confirm?status=pending` or `/audit`."""
        return self._call("GET", path).body

    def confirm(
        self,
        action: str,
        description: str,
        details: dict[str, Any] | None = None,
        *,
        label: str = "",
        session_key: str = "",
        timeout_seconds: float | None = None,
        wait_seconds: float | None = None,
        line: CancellableCall | None = None,
        on_submitted: Callable[[RequestView], None] = lambda seen: None,
    ) -> Grant:
        """Ask, wait for a person, redeem: a grant for exactly this, or one of the errors of `NotConfirmed`."""
        asked = NewRequest(
            action=check_action(action),
            description=description,
            # What the caller does to its own copy later changes nothing here.
            details=_copied(details or {}),
            label=label,
            session_key=session_key,
            timeout_seconds=timeout_seconds,
        )
        begun = self._clock()
        seen = self.submit(asked, line=line)
        on_submitted(seen)
        lives = (seen.timeout_seconds if seen.timeout_seconds is not None else _MOST_SECONDS) + _SLACK_SECONDS
        most = lives if wait_seconds is None else min(wait_seconds, lives)
        decided = self.wait(seen.id, max(0.0, most - (self._clock() - begun)), line=line)
        check_approved(decided)
        # Made anew from what is about to be done, never taken from what the service says.
        digest = digest_of(asked, requester=decided.requester or "")
        if decided.action != asked.action or {seen.digest, decided.digest} != {digest}:
            raise Unreachable("The confirmation service took down something else than what was asked: do nothing.")
        return self.redeem(seen.id, digest, line=line)

    def _call(
        self,
        method: str,
        path: str,
        *,
        body: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        timeout: float = _ANSWER_SECONDS,
        line: CancellableCall | None = None,
    ) -> ServiceReply:
        try:
            reply = call(
                self._place, method, path, token=self._token, body=body, headers=headers, timeout=timeout, line=line
            )
        except CallFailed as error:
            raise Unreachable(
                f"The confirmation service at {self.url} did not answer ({error}), so nothing may be done: see that it"
                " runs (`seasoned confirm serve`), and that confirm_url names it."
            ) from error
        except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
            raise UsageError(
                f"The request cannot be written as JSON ({error}): give texts, numbers, lists and objects."
            ) from error
        if reply.status >= 500 or reply.status < 200 or 300 <= reply.status < 400:
            raise Unreachable(
                f"The confirmation service at {self.url} failed (HTTP {reply.status}): nothing may be done."
            )
        if reply.status >= 400:
            raise Rejected(reply.status, _said(reply))
        return reply


def configured_client(config: Config | None = None) -> ConfirmClient:
    """The client of the service that the configuration names, with the token of this agent."""
    config = config or load()
    token = secret("confirm_token", config.home)
    by_user_id = config.confirm_url is not None and config.confirm_url.startswith("unix:")
    if config.confirm_url is None or (token is None and not by_user_id):
        missing = "confirm_url" if config.confirm_url is None else "confirm_token"
        raise CannotDo(
            f"No person can be asked, because {missing} is not set: start `seasoned confirm serve`, make a token with"
            " `seasoned confirm token make NAME --role agent`, and set both."
        )
    return ConfirmClient(config.confirm_url, token)


def digest_of(asked: NewRequest, *, requester: str) -> str:
    """The digest that an approval of this must have; `requester` is the name of the credential that asked."""
    return digest_of_request(
        action=check_action(asked.action),
        description=asked.description,
        details=asked.details,
        session_key=asked.session_key,
        requester=requester,
    )


def check_approved(seen: RequestView) -> None:
    """Nothing where a request was approved; else the error that says why it may not be done."""
    if seen.is_approved:
        return
    if seen.status == "denied":
        raise SaidNo(seen)
    over = "expired before anybody decided" if seen.status == "expired" else "was not decided in the time there was"
    raise Expired(f"The request {seen.id} for {seen.action!r} {over}: ask again when a person can answer.")


def _copied(details: dict[str, Any]) -> dict[str, Any]:
    try:
        copied = msgspec.json.decode(msgspec.json.encode(details))
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise UsageError(
            f"The details cannot be written as JSON ({error}): give texts, numbers, lists and objects."
        ) from error
    if not isinstance(copied, dict):
        raise UsageError(f"Details are names with values, not {details!r}.")
    return copied


def _path(request_id: str) -> str:
    return f"/confirm/{quote(request_id, safe='')}"


def _seen(reply: ServiceReply) -> RequestView:
    try:
        return msgspec.convert(reply.body, RequestView)
    except msgspec.ValidationError as error:
        raise _senseless(error) from error


def _senseless(error: Exception) -> Unreachable:
    return Unreachable(f"The confirmation service gave an answer that makes no sense ({error}): nothing may be done.")


def _said(reply: ServiceReply) -> str:
    """The service's own sentence, where it has one."""
    for name in ("error", "detail", "message"):
        if isinstance(said := reply.body.get(name), str) and said:
            field = reply.body.get("field")
            return f"{said[:1000]}{f' (field {field!r})' if isinstance(field, str) and repr(field) not in said else ''}"
    return "it does not say why."
