"""The proxy: passes requests to their upstream and answers back unchanged, and reads both on the side."""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from starlette.types import Message, Receive, Scope, Send

from seasoned.confirm.service.listen import host_name, is_known_host
from seasoned.errors import Denied
from seasoned.gateway.accounting import PREFIX, Ended, GatewayKey, UsageJournal
from seasoned.gateway.provision import Provisioner
from seasoned.gateway.proxy.exchange import APIS, Exchange, find_api
from seasoned.gateway.proxy.exchange import WireApi as Wire
from seasoned.gateway.proxy.peer import is_own_connection
from seasoned.gateway.proxy.upstream import Headers, UpstreamReply, Upstreams, UpstreamUnreachable, request_headers
from seasoned.gateway.record.conversations import GatewayConversation
from seasoned.gateway.record.recorder import GatewayRecorder, StoreCache
from seasoned.gateway.settings import Api, Failures, GatewaySettings
from seasoned.gateway.wire.chat import ask_for_usage
from seasoned.gateway.wire.event_stream import fields_of
from seasoned.gateway.wire.request import ApiRequest
from seasoned.history.coerce import string

_KINDS = {400: "invalid_request_error", 401: "authentication_error", 408: "timeout_error"}
_KINDS |= {413: "request_too_large", 421: "misdirected_request", 426: "upgrade_not_supported", 429: "rate_limit_error"}


class RequestRefused(Denied):
    """A request that is refused, with the HTTP status to answer."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class ClientGone(Exception):
    """The client disconnected before its request was complete."""


async def read_body(receive: Receive, *, most: int, seconds: float) -> bytes:
    """The whole body; refused if it is too large, or stops for too long."""
    parts: list[bytes] = []
    size = 0
    clock = asyncio.get_running_loop().time
    try:
        # One limit that is moved on: a task for each of thousands of pieces would cost more than reading them.
        async with asyncio.timeout(seconds) as limit:
            while True:
                message = await receive()
                limit.reschedule(clock() + seconds)
                if message["type"] == "http.disconnect":
                    raise ClientGone
                part = message.get("body", b"")
                size += len(part)
                if size > most:
                    raise RequestRefused(
                        f"The request is larger than {most} bytes. Raise body_bytes in gateway.toml.", status=413
                    )
                parts.append(part)
                if not message.get("more_body"):
                    return b"".join(parts)
    except TimeoutError:
        raise RequestRefused(f"No data arrived for {seconds:g} seconds. Send the request again.", status=408) from None


async def run_while_there(receive: Receive, work: Coroutine[Any, Any, None]) -> None:
    """Run work for a client; if it disconnects the work is cancelled, and with it the upstream's."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_wait_for_disconnect(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
        # Also when the server itself stops.
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working


async def _wait_for_disconnect(receive: Receive) -> None:
    message: Message = await receive()
    while message["type"] != "http.disconnect":
        message = await receive()


async def refuse(send: Send, api: Api, status: int, text: str) -> None:
    """Answer an error in the form of the client's API, so that its library understands it."""
    kind = _KINDS.get(status, "api_error")
    error = {"type": kind, "message": text}
    body = (
        {"type": "error", "error": error} if api == "anthropic" else {"error": {**error, "code": f"gateway_{status}"}}
    )
    headers = [(b"x-seasoned-gateway", b"refused")]
    headers += [(b"connection", b"close")] if status in (408, 413) else []
    headers += [(b"www-authenticate", b'Bearer realm="seasoned"')] if status == 401 else []
    # Providers' libraries retry at once unless told that it would not help.
    headers += [(b"x-should-retry", b"false")] if status in (401, 413, 421, 429) else []
    await say(send, status, msgspec.json.encode(body), headers=headers)


async def say(send: Send, status: int, body: bytes, *, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
    """Answer a request from the gateway itself."""
    own = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*own, *headers]})
    await send({"type": "http.response.body", "body": body})


_EMBEDDINGS = "/v1/embeddings"
# The longer path is for `seasoned serve`, where another service has the shorter one.
_HEALTH = ("/health", "/gateway/health")
_CHAT = APIS["/v1/chat/completions"]
# What agents use. A gateway key stands for the upstream's own key, with which files, batches and administration of the
# whole account could be reached too.
_KEY_PATHS = {
    "POST": re.compile(
        r"/v1/(?:chat/completions|completions|embeddings|moderations|messages(?:/count_tokens)?"
        r"|responses(?:/compact|/input_tokens|/[\w-]+/cancel)?)"
    ),
    "GET": re.compile(r"/v1/(?:models(?:/\w[\w.:@-]*){0,3}|responses/[\w-]+(?:/input_items)?)"),
    "DELETE": re.compile(r"/v1/responses/[\w-]+"),
    "HEAD": re.compile(r"/"),
}
_PAGES_NEED_A_KEY = (
    "Web pages from other sites may not use this gateway without a key. "
    "Make one with `seasoned gateway key --make NAME`."
)
_UNKNOWN_HOST = (
    "This gateway is not known as {}. Use 127.0.0.1 or the machine's own name, or add the name to `names` in "
    "gateway.toml."
)
_STRANGER = (
    "a request of another user or machine came without a gateway key: it passes, and is neither recorded nor begun"
    " warm; make a key with `seasoned gateway key --make NAME`"
)
_NO_WEBSOCKET = "The gateway does not support WebSocket here. Use HTTP with event streams."


class Gateway:
    """The ASGI application of the gateway."""

    def __init__(
        self,
        settings: GatewaySettings,
        *,
        upstreams: Upstreams,
        cache: StoreCache,
        journal: UsageJournal,
        failures: Failures,
        recording: GatewayRecorder,
        warming: Provisioner | None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._upstreams = upstreams
        self._keys, self._budgets, self._conversations = cache.keys, cache.budgets, cache.conversations
        self._journal = journal
        self._failures = failures
        self._open = 0
        self._recording = recording
        self._warming = warming
        self._clock = clock
        self._names = (socket.gethostname().lower(), *(name.lower() for name in settings.names))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        api: Api = "anthropic" if _speaks_anthropic(scope) else "openai"
        if (stranger := self._unknown_host(scope)) is not None:
            await refuse(send, api, 421, _UNKNOWN_HOST.format(stranger))
            return
        if scope["method"] == "GET" and scope["path"] in _HEALTH:
            await say(send, 200, msgspec.json.encode(self._health()))
            return
        self._open += 1
        try:
            await self._pass(scope, receive, send, api)
        except RequestRefused as error:
            await refuse(send, api, error.status, str(error))
        except ClientGone:
            pass  # there is no one to answer
        finally:
            self._open -= 1

    def _health(self) -> dict[str, object]:
        """What this gateway has done since it started, without names of people or parts of conversations."""
        return {
            "schema": "seasoned/gateway-health/1",
            "status": "ok",
            "failed_open": dict(self._failures.counts),
            "open": self._open,
            "unwritten": self._recording.waiting,
            "keys_over_budget": self._budgets.over,
        }

    def _unknown_host(self, scope: Scope) -> str | None:
        """The host that a request asks for, if it is not this gateway's. With TLS the certificate proves the name."""
        asked = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1")
        name = host_name(f"//{asked}")
        # A request without a host cannot come from a browser.
        if not asked or scope.get("scheme") == "https" or is_known_host(name, self._names):
            return None
        return ascii(name[:80])

    async def _pass(self, scope: Scope, receive: Receive, send: Send, api: Api) -> None:
        headers: Headers = scope["headers"]
        if any(name == b"upgrade" and b"websocket" in value.lower() for name, value in headers):
            raise RequestRefused(_NO_WEBSOCKET, status=426)
        target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        if not target.startswith(b"/") or not target.isascii():
            # Anything else appended to the upstream's address could change its host.
            raise RequestRefused("The request path must begin with a slash. Check the base URL.", status=400)
        # Before the body is read: a client without a key must not make us hold megabytes.
        key = self._admit(headers)
        if key is not None:
            self._check_key_path(scope["method"], scope["raw_path"].decode("ascii"))
        body = await read_body(receive, most=self._settings.body_bytes, seconds=self._settings.client_seconds)
        await run_while_there(receive, self._exchange(scope, target, headers, body, send, api, key))

    def _admit(self, headers: Headers) -> GatewayKey | None:
        """The gateway key of a request; None if the client uses the provider's own key."""
        token = _token(headers)
        if token is None or not token.startswith(PREFIX):
            if self._settings.mode == "keys":
                raise RequestRefused(
                    "This gateway accepts only gateway keys. Make one with `seasoned gateway key --make NAME`.",
                    status=401,
                )
            if _is_from_a_page(headers):
                raise RequestRefused(_PAGES_NEED_A_KEY, status=403)
            return None
        key = self._keys.find(token)
        if key is None:
            raise RequestRefused(
                "This gateway key is unknown or was revoked. Make one with `seasoned gateway key --make NAME`.",
                status=401,
            )
        why = self._budgets.refusal(key, now=self._clock())
        if why is not None:
            raise RequestRefused(f"{why} Try again tomorrow, or raise the budget.", status=429)
        return key

    def _check_key_path(self, method: str, path: str) -> None:
        """Refuse a gateway key where agents have no business, unless the settings name the path."""
        known = _KEY_PATHS.get(method)
        named = any(path.startswith(one[:-1]) if one.endswith("*") else path == one for one in self._settings.key_paths)
        # An upstream could take a path with dots or escapes for another one.
        is_plain = ".." not in path and "%" not in path and "//" not in path
        if not is_plain or not (named or (known is not None and known.fullmatch(path))):
            raise RequestRefused(
                f"Gateway keys do not reach {method} {path[:200]!a}. To allow it, add the path to key_paths in "
                "gateway.toml.",
                status=403,
            )

    async def _exchange(
        self, scope: Scope, target: bytes, headers: Headers, body: bytes, send: Send, api: Api, key: GatewayKey | None
    ) -> None:
        began = time.perf_counter()
        wire = _wire(scope)
        owner = "" if key is None else key.name
        asked, conversation = self._parse_request(scope["path"], wire, headers, body, owner)
        if key is None and conversation is not None and not is_own_connection(scope):
            # Whoever has no key is known by nothing else: others must not write this user's history, or read of it.
            conversation = None
            self._failures.tell("stranger", _STRANGER)
        upstream = self._upstreams.choose(api, _model(asked, body) if scope["method"] == "POST" else None)
        exchange = None
        if wire is not None:
            exchange = Exchange(
                api=wire,
                at=self._clock(),
                upstream=upstream.name,
                key_name=owner,
                failures=self._failures,
                purpose="embedding" if scope["path"] == _EMBEDDINGS else "unread",
            )
            exchange.size, exchange.asked, exchange.conversation = len(body), asked, conversation
            body = await self._change_body(exchange, body, headers)
        sent = request_headers(
            headers,
            api=upstream.api,
            is_ours=key is not None,
            key=self._upstreams.own_key(upstream),
            is_read=wire is not None,
        )
        try:
            reply = await self._upstreams.send(upstream, scope["method"], target, sent, body)
            try:
                await self._forward_answer(reply, exchange, send, began)
            finally:
                await reply.close()
        except UpstreamUnreachable as error:
            await refuse(send, api, error.status, str(error))

    def _parse_request(
        self, path: str, wire: Wire | None, headers: Headers, body: bytes, owner: str
    ) -> tuple[ApiRequest | None, GatewayConversation | None]:
        if wire is None or path == _EMBEDDINGS:
            return None, None
        asked = conversation = None
        with self._failures.shield("read"):
            asked = wire.read_request(body)
        if asked is not None:
            with self._failures.shield("identity"):
                conversation = self._conversations.recognise(asked, headers, path=path, owner=owner)
        return asked, conversation

    async def _change_body(self, exchange: Exchange, body: bytes, headers: Headers) -> bytes:
        """The body to send: with its block, and asking for the usage if the stream would not report it."""
        asked = exchange.asked
        if asked is None:
            return body
        if self._warming is not None and exchange.conversation is not None:
            with self._failures.shield("provision"):
                body = await self._warming.warm(exchange, body, headers)
        if asked.is_stream and not asked.wants_usage:
            with self._failures.shield("read"):
                asking = ask_for_usage(body)
                if asking is not None:
                    body, exchange.takes_usage_out = asking, True
        return body

    async def _forward_answer(self, reply: UpstreamReply, exchange: Exchange | None, send: Send, began: float) -> None:
        """Pass the answer on as it arrives. An answer that breaks off also breaks off for the client."""
        headers = reply.headers
        if exchange is not None:
            with self._failures.shield("read"):
                exchange.begin(reply.status, headers)
            if exchange.takes_usage_out:
                # The answer becomes shorter when the usage event is removed.
                headers = [pair for pair in headers if pair[0] != b"content-length"]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        ended: Ended = "cancelled"
        try:
            while (chunk := await reply.next_chunk()) is not None:
                out = chunk
                if exchange is not None:
                    out = exchange.feed(chunk)
                    # A client may leave right after the last event, so the usage is written before that is sent.
                    if exchange.is_ending(chunk):
                        self._write_journal(exchange, "complete", began)
                if out:
                    await send({"type": "http.response.body", "body": out, "more_body": True})
            ended = "complete"
            rest = b""
            if exchange is not None:
                rest = exchange.end()
                self._write_journal(exchange, ended, began)
            await send({"type": "http.response.body", "body": rest})
        except UpstreamUnreachable:
            ended = "broken"
            if exchange is not None and (held := exchange.end()):
                await send({"type": "http.response.body", "body": held, "more_body": True})
        finally:
            if exchange is not None:
                self._finish(exchange, ended, began)

    def _write_journal(self, exchange: Exchange, ended: Ended, began: float) -> None:
        """Write what an answer used to the journal, before its end is passed on, unless it is there already."""
        if not exchange.is_accounted:
            return
        with self._failures.shield("journal"):
            if exchange.settle(ended, time.perf_counter() - began):
                assert exchange.entry is not None
                self._journal.append(exchange.entry)

    def _finish(self, exchange: Exchange, ended: Ended, began: float) -> None:
        self._write_journal(exchange, ended, began)
        if exchange.entry is None:
            return
        with self._failures.shield("identity"):
            self._conversations.answered(exchange.conversation, exchange.answer)
        with self._failures.shield("record"):
            self._recording.give(exchange)


def _wire(scope: Scope) -> Wire | None:
    """The API of a request; None if it passes unread."""
    if scope["method"] != "POST":
        return None
    return _CHAT if scope["path"] == _EMBEDDINGS else find_api(scope["path"])


def _speaks_anthropic(scope: Scope) -> bool:
    path: str = scope["path"]
    return path.startswith("/v1/messages") or any(name == b"anthropic-version" for name, _ in scope["headers"])


def _token(headers: Headers) -> str | None:
    """The client's token, from either API's header; a gateway key is preferred."""
    found = []
    for name, value in headers:
        text = value.decode("latin-1").strip()
        if name == b"x-api-key" and text:
            found.append(text)
        elif name == b"authorization" and text[:7].lower() == "bearer ":
            found.append(text[7:].strip())
    # Some clients send both headers, with a provider key in one of them.
    return max(found, key=lambda text: text.startswith(PREFIX), default=None)


def _model(asked: ApiRequest | None, body: bytes) -> str | None:
    if asked is not None:
        return asked.model
    return string((fields_of(body) or {}).get("model"))


def _is_from_a_page(headers: Headers) -> bool:
    """Whether a browser sends this for another site: any page could reach a service on loopback."""
    known = {name: value for name, value in headers if name in (b"origin", b"host", b"sec-fetch-site")}
    # Browsers set these headers themselves, and a page cannot forge them. `none` is an address typed by the user.
    if known.get(b"sec-fetch-site", b"same-origin") not in (b"same-origin", b"none"):
        return True
    origin = known.get(b"origin")
    return origin is not None and origin.rpartition(b"//")[2] != known.get(b"host")
