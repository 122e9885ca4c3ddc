"""Asks a confirmation service, and continues only with a grant. Any failure on the way means no.

HTTP with the standard library alone: hooks and agents start often and may have nothing
else installed.
"""

from __future__ import annotations

import asyncio
import http.client
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar
from urllib.parse import SplitResult, quote, urlsplit

import msgspec

from seasoned.command.action import check_action
from seasoned.config import Config, load, secret
from seasoned.confirm.request.request import APPROVED, Grant, NewRequest, Request, Status, request_digest
from seasoned.errors import CannotDo, UsageError

# Bounds what a wrong address can send; one request has at most 1 MB.
MOST_BYTES = 4_000_000
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_T = TypeVar("_T")


def parse_address(url: str) -> SplitResult:
    """The parts of a service's URL. Plain http to another machine is refused."""
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"{url!r} is not a valid address: {error}.") from error
    if parts.scheme not in ("http", "https") or not host or parts.username is not None or parts.query or parts.fragment:
        raise UsageError(f"{url!r} is not the address of a server: use http://127.0.0.1:7327 or https://…")
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise UsageError(
            f"{url!r} would send the token unencrypted, and others on the network could forge an approval: use https://."
        )
    return parts


class CancellableCall:
    """A wait that another thread can cancel; what is under way ends first."""

    def __init__(self) -> None:
        self.is_cancelled = False

    def cancel(self) -> None:
        """End the wait from another thread."""
        self.is_cancelled = True


async def in_thread(work: Callable[[CancellableCall], _T]) -> _T:
    """Run blocking calls in a thread. Cancelling the task cancels the call, so no thread is left behind."""
    call = CancellableCall()
    # A separate thread: a wait can take an hour, and the program's shared threads are few.
    thread = ThreadPoolExecutor(1, thread_name_prefix="seasoned-confirm")
    try:
        return await asyncio.get_running_loop().run_in_executor(thread, copy_context().run, work, call)
    except asyncio.CancelledError:
        call.cancel()
        raise
    finally:
        thread.shutdown(wait=False)


_ANSWER_SECONDS = 30.0
# One stretch of waiting: proxies cut connections that are silent for longer, and a wait may be cancelled.
_POLL_SECONDS = 5.0
_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 5.0
# No request waits longer for a person; the end of its life is awaited a little longer than that.
_MOST_SECONDS = 3600.0
_SLACK_SECONDS = 5.0
_NOT_JSON = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)


class NotConfirmed(CannotDo):
    """The action was not confirmed and must not be done. The message says why."""


class SaidNo(NotConfirmed):
    """A person denied the action; `reason` is the one they gave."""

    exit_code = 1

    def __init__(self, seen: RequestView | Request) -> None:
        text = f": {seen.reason}" if seen.reason else ", without a reason"
        super().__init__(f"{seen.resolved_by or 'A person'} denied {seen.action!r}{text}. Do not try it another way.")
        self.id, self.reason, self.by = seen.id, seen.reason, seen.resolved_by


class Expired(NotConfirmed):
    """No person decided in time."""

    exit_code = 1


class Unreachable(NotConfirmed):
    """The service could not be reached, or its answer cannot be trusted."""


class Rejected(NotConfirmed):
    """The service refused the request; `status` is the HTTP status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"The confirmation service refused (HTTP {status}): {text}")
        self.status = status


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
    """A confirmation service, for an agent that asks or a person who decides: the token says which.

    `call` lets another thread cancel a request that is under way.
    """

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self._address = parse_address(url)
        # Other characters could add a header to the request.
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise UsageError(
                "The token for the confirmation service is not valid: make one with `seasoned confirm token make`."
            )
        self._token = token

    @property
    def is_local(self) -> bool:
        """Whether the service is on this machine."""
        return self._address.hostname in _LOOPBACK

    def submit(self, asked: NewRequest, *, call: CancellableCall | None = None) -> RequestView:
        """Submit a request. It is retried once after a lost answer; the idempotency key keeps it one request."""
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
        headers = {"Idempotency-Key": asked.idempotency_key or secrets.token_urlsafe(24)}
        try:
            found = self._send("POST", "/confirm", body=body, headers=headers, call=call)
        except Unreachable:
            if call is not None and call.is_cancelled:
                raise
            found = self._send("POST", "/confirm", body=body, headers=headers, call=call)
        return _converted(found, RequestView)

    def look(self, request_id: str, *, wait_seconds: float = 0.0, call: CancellableCall | None = None) -> RequestView:
        """The request as it is now; with `wait_seconds`, as soon as it is decided or when they are over."""
        path = _path(request_id) + (f"?wait={wait_seconds:g}" if wait_seconds > 0 else "")
        seen = _converted(self._send("GET", path, timeout=_ANSWER_SECONDS + wait_seconds, call=call), RequestView)
        if seen.id != request_id:
            raise Unreachable("The confirmation service answered about another request: nothing may be done.")
        return seen

    def wait(self, request_id: str, seconds: float, *, call: CancellableCall | None = None) -> RequestView:
        """The request once it is decided, or as it is when the seconds are over. Outlasts a restart of the service."""
        until = time.monotonic() + seconds
        pause = _PAUSE_SECONDS
        while True:
            begun = time.monotonic()
            left = until - begun
            try:
                seen = self.look(request_id, wait_seconds=max(0.0, min(left, _POLL_SECONDS)), call=call)
            except Unreachable:
                if left <= pause or (call is not None and call.is_cancelled):
                    raise
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
                continue
            if seen.status != "pending" or until <= time.monotonic():
                return seen
            pause = _PAUSE_SECONDS
            if time.monotonic() - begun < pause:
                # A service that is shutting down, or a proxy, may answer at once.
                time.sleep(min(pause, max(0.0, until - time.monotonic())))

    def redeem(self, request_id: str, digest: str, *, call: CancellableCall | None = None) -> Grant:
        """Use an approval, once, for the action with this digest. If the answer is lost, so is the approval."""
        path = f"{_path(request_id)}/redeem"
        # Not repeated after a lost answer: the approval may be used up, and the action must not run twice.
        grant = _converted(self._send("POST", path, body={"digest": digest}, call=call), Grant)
        if grant.id != request_id or not secrets.compare_digest(grant.digest.encode(), digest.encode()):
            raise Unreachable("The confirmation service granted something other than what was asked: do nothing.")
        return grant

    def decide(self, request_id: str, *, approve: bool, passphrase: str, reason: str = "") -> RequestView:
        """Approve or deny, with the token of an approver and the passphrase that belongs to it."""
        path = f"{_path(request_id)}/{'approve' if approve else 'deny'}"
        return _converted(self._send("POST", path, body={"reason": reason, "passphrase": passphrase}), RequestView)

    def unlock_phone(self, passphrase: str, *, seconds: float | None = None) -> dict[str, Any]:
        """Let the phone of the token's person decide for a time."""
        return self._send("POST", "/confirm/phone", body={"passphrase": passphrase, "seconds": seconds})

    def read_request(self, request_id: str) -> dict[str, Any]:
        """A request with everything that the service shows of it."""
        return self.read(_path(request_id))

    def read(self, path: str) -> dict[str, Any]:
        """The answer to a GET, such as `/confirm?status=pending` or `/audit`."""
        return self._send("GET", path)

    def confirm(
        self,
        action: str,
        description: str,
        details: dict[str, Any] | None = None,
        *,
        wait_seconds: float | None = None,
        call: CancellableCall | None = None,
        on_submitted: Callable[[RequestView], None] = lambda seen: None,
        **more: Any,
    ) -> Grant:
        """Ask, wait for a person, redeem: a grant for exactly this, or an error that derives from `NotConfirmed`.

        `more` are other fields of the request, such as `timeout_seconds`.
        """
        # A copy: what the caller does to its own later changes nothing here.
        kept = _copied(details or {})
        asked = NewRequest(action=check_action(action), description=description, details=kept, **more)
        begun = time.monotonic()
        seen = self.submit(asked, call=call)
        on_submitted(seen)
        lives = (seen.timeout_seconds if seen.timeout_seconds is not None else _MOST_SECONDS) + _SLACK_SECONDS
        most = lives if wait_seconds is None else min(wait_seconds, lives)
        decided = self.wait(seen.id, max(0.0, most - (time.monotonic() - begun)), call=call)
        check_approved(decided)
        # Computed from what is about to be done, never taken from what the service says.
        digest = request_digest(asked, decided.requester or "")
        if decided.action != asked.action or {seen.digest, decided.digest} != {digest}:
            raise Unreachable("The confirmation service recorded something other than what was asked: do nothing.")
        return self.redeem(seen.id, digest, call=call)

    def _send(
        self,
        method: str,
        path: str,
        *,
        body: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        timeout: float = _ANSWER_SECONDS,
        call: CancellableCall | None = None,
    ) -> dict[str, Any]:
        """The JSON object of the answer. Redirects are not followed: the token goes to this address only."""
        sent = {"Accept": "application/json", "Authorization": f"Bearer {self._token}", **(headers or {})}
        data = None
        if body is not None:
            sent["Content-Type"] = "application/json"
            try:
                data = msgspec.json.encode(body)
            except _NOT_JSON as error:
                raise _not_json("request", error) from error
        # Over TLS with the certificates that this system trusts.
        kind = http.client.HTTPSConnection if self._address.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._address.hostname or "", self._address.port, timeout=timeout)
        if call is not None and call.is_cancelled:
            raise Unreachable("The call was cancelled: nothing may be done.")
        try:
            connection.request(method, self._address.path.rstrip("/") + path, body=data, headers=sent)
            answer = connection.getresponse()
            content, status = answer.read(MOST_BYTES + 1), answer.status
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(f"{type(error).__name__}: {error}".rstrip(": ")) from error
        finally:
            connection.close()
        if len(content) > MOST_BYTES:
            raise self._unreachable(f"an answer of more than {MOST_BYTES:,} bytes (HTTP {status})")
        try:
            found = msgspec.json.decode(content, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._unreachable(f"an answer that is not a JSON object (HTTP {status})") from error
        if 400 <= status < 500:
            raise Rejected(status, _message(found))
        if not 200 <= status < 300:
            raise Unreachable(f"The confirmation service at {self.url} failed (HTTP {status}): nothing may be done.")
        return found

    def _unreachable(self, why: str) -> Unreachable:
        return Unreachable(
            f"The confirmation service at {self.url} did not answer ({why}), so nothing may be done: check that"
            " it runs (`seasoned confirm serve`) and that confirm_url is its address."
        )


def configured_client(config: Config | None = None) -> ConfirmClient:
    """The client of the configured service, with this agent's token."""
    config = config or load()
    token = secret("confirm_token", config.home)
    if config.confirm_url is None or token is None:
        missing = "confirm_url" if config.confirm_url is None else "confirm_token"
        raise CannotDo(
            f"No person can be asked, because {missing} is not set: start `seasoned confirm serve`, make a token with"
            " `seasoned confirm token make NAME --role agent`, and set both."
        )
    return ConfirmClient(config.confirm_url, token)


def check_approved(seen: RequestView) -> None:
    """Return if the request was approved; otherwise raise the error that says why it may not be done."""
    if seen.is_approved:
        return
    if seen.status == "denied":
        raise SaidNo(seen)
    over = "expired before anyone decided" if seen.status == "expired" else "was not decided in the time available"
    raise Expired(f"The request {seen.id} for {seen.action!r} {over}: ask again when a person can answer.")


def _copied(details: dict[str, Any]) -> dict[str, Any]:
    try:
        return msgspec.json.decode(msgspec.json.encode(details), type=dict[str, Any])
    except _NOT_JSON as error:
        raise _not_json("details", error) from error


def _not_json(what: str, error: Exception) -> UsageError:
    return UsageError(f"The {what} cannot be written as a JSON object ({error}): use strings, numbers, lists, objects.")


def _path(request_id: str) -> str:
    return f"/confirm/{quote(request_id, safe='')}"


def _converted(found: dict[str, Any], kind: type[_T]) -> _T:
    try:
        return msgspec.convert(found, kind)
    except msgspec.ValidationError as error:
        raise Unreachable(f"The confirmation service sent an invalid answer ({error}): nothing may be done.") from error


def _message(found: dict[str, Any]) -> str:
    """The service's own message, if there is one."""
    text = found.get("error")
    return text[:1000] if isinstance(text, str) and text else "no reason given."
