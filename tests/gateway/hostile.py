"""Two hundred requests that mean no good, as the bytes that go over the line."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from typing import Any

CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"
PATHS = (CHAT, MESSAGES, RESPONSES)
VICTIM = "victim-session"
"""A conversation of somebody else."""
WRONG: tuple[Any, ...] = (None, True, 7, -1.5, "x", "", [], [None], [[]], {}, {"a": 1}, [{"role": {"x": 1}}], 10**400)
FIELDS = {
    CHAT: ("model", "messages", "tools", "stream", "stream_options", "metadata", "response_format", "max_tokens"),
    MESSAGES: ("model", "messages", "tools", "system", "metadata", "output_config", "stream", "max_tokens"),
    RESPONSES: ("model", "input", "tools", "instructions", "text", "conversation", "previous_response_id", "metadata"),
}


def good(path: str) -> dict[str, Any]:
    """A request that every reader understands."""
    said = [{"role": "user", "content": "Hello"}]
    return {"model": "m", "max_tokens": 9, ("input" if path == RESPONSES else "messages"): said}


def post(path: str, body: bytes, *headers: str | bytes, length: int | str | None = None) -> bytes:
    """One request; what it says of its length may be a lie."""
    lines = [h if isinstance(h, bytes) else h.encode() for h in headers]
    head = [f"POST {path} HTTP/1.1".encode(), b"host: localhost", b"connection: close", *lines]
    if length != "":
        head.append(f"content-length: {len(body) if length is None else length}".encode())
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def wrong_types() -> dict[str, bytes]:
    """Every field that is read, as something else."""
    chance = random.Random(3)
    found = {}
    for path, fields in FIELDS.items():
        for field in fields:
            for at in chance.sample(range(len(WRONG)), 3):
                body = json.dumps({**good(path), field: WRONG[at]}).encode()
                found[f"{path} {field} is no. {at}"] = post(path, body)
    return found


def broken_bodies() -> dict[str, bytes]:
    """No JSON, or JSON that nobody should write."""
    deep = 30_000
    bodies = {
        "nothing": b"",
        "no JSON": b"hello",
        "cut off": b'{"model":"m","messages":[{"role":"us',
        "broken UTF-8": b'{"model":"m","messages":[{"role":"user","content":"\xff\xfe\xc3"}]}',
        "half a surrogate": b'{"model":"m","messages":[{"role":"user","content":"\\ud800"}]}',
        "a byte order mark": b"\xef\xbb\xbf" + json.dumps(good(CHAT)).encode(),
        "UTF-16": json.dumps(good(CHAT)).encode("utf-16"),
        "zeros": b"\x00" * 5_000,
        "deep lists": b'{"model":"m","messages":' + b"[" * deep + b"]" * deep + b"}",
        "deep objects": b'{"model":"m","messages":[{"role":"user","content":'
        + b'{"a":' * deep
        + b"1"
        + b"}" * deep
        + b"}]}",
        "deep and open": b'{"a":' * deep,
        "fields twice": b'{"model":"a","model":"b","messages":[],"messages":[{"role":"user","content":"x"}]}',
        "a giant number": b'{"model":"m","max_tokens":' + b"9" * 50_000 + b',"messages":[]}',
        "not a number": b'{"model":"m","temperature":NaN,"messages":[{"role":"user","content":"x"}]}',
        "a giant name": b'{"' + b"k" * 150_000 + b'":1}',
        "many messages": json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}] * 4_000}).encode(),
        "many tools": json.dumps(
            {**good(CHAT), "tools": [{"type": "function", "function": {"name": "t"}}] * 2_000}
        ).encode(),
        "too large": b" " * 200_001,
    }
    return {f"{path}: {name}": post(path, body) for name, body in bodies.items() for path in PATHS}


def odd_heads() -> dict[str, bytes]:
    """Headers and first lines that try to be two requests, or none."""
    body = json.dumps(good(CHAT)).encode()
    second = b"GET /metrics HTTP/1.1\r\nhost: y\r\n\r\n"
    return {
        "a folded header": post(CHAT, body, "x-session-id: a\r\n b: c"),
        "a header after a bare line feed": post(CHAT, body, b"x-session-id: a\nx-evil: 1"),
        "a zero in a header": post(CHAT, body, b"x-session-id: a\x00b"),
        "a carriage return in a header": post(CHAT, body, b"x-session-id: a\rx-evil: 1"),
        "bytes in a header": post(CHAT, body, b"x-session-id: " + bytes(range(128, 256))),
        "an id with a new line in the body": post(
            CHAT, json.dumps({**good(CHAT), "prompt_cache_key": "a\r\nb: c"}).encode()
        ),
        "a name with a space": post(CHAT, body, "x session: a"),
        "no name": post(CHAT, body, ": a"),
        "a giant header": post(CHAT, body, "x-session-id: " + "a" * 300_000),
        "a thousand headers": post(CHAT, body, *[f"x-{n}: {n}" for n in range(1_000)]),
        "two lengths": post(CHAT, body, "content-length: 3"),
        "a negative length": post(CHAT, body, length=-5),
        "a length in words": post(CHAT, body, length="many"),
        "a length that is too long": post(CHAT, body, length=len(body) + 50),
        "a length that is too short": post(CHAT, body, length=10),
        "a giant length": post(CHAT, body, length=10**30),
        "a length and chunks": post(CHAT, b"0\r\n\r\n" + second, "transfer-encoding: chunked", length=5),
        "chunks twice": post(
            CHAT, b"0\r\n\r\n", "transfer-encoding: chunked", "transfer-encoding: identity", length=""
        ),
        "no such encoding": post(CHAT, body, "transfer-encoding: xchunked", length=""),
        "a chunk without a size": post(CHAT, b"zz\r\nhello\r\n", "transfer-encoding: chunked", length=""),
        "a chunk that is too long": post(
            CHAT, b"ffffffffffffffff\r\nhello\r\n", "transfer-encoding: chunked", length=""
        ),
        "good chunks": post(
            CHAT, b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body), "transfer-encoding: chunked", length=""
        ),
        "trailers": post(
            CHAT,
            b"%x\r\n%s\r\n0\r\nx-session-id: z\r\n\r\n" % (len(body), body),
            "transfer-encoding: chunked",
            length="",
        ),
        "waiting for leave": post(CHAT, body, "expect: 100-continue"),
        "an odd expectation": post(CHAT, body, "expect: the-best"),
        "hop by hop": post(CHAT, body, "connection: x-session-id, content-type", "x-session-id: a"),
        "no host": f"POST {CHAT} HTTP/1.1\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body,
        "another protocol": f"POST {CHAT} SPDY/3\r\nhost: localhost\r\n\r\n".encode() + body,
        "an old protocol": f"GET {CHAT}\r\n\r\n".encode(),
        "HTTP/2 at once": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "a TLS greeting": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 500,
        "no such method": post(CHAT, body).replace(b"POST", b"BREW", 1),
        "an odd method": post(CHAT, body).replace(b"POST", b"P\x00ST", 1),
        "a tunnel": b"CONNECT 127.0.0.1:1 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
        "a WebSocket": post(CHAT, b"", "upgrade: websocket", "connection: upgrade"),
        "another upgrade": post(CHAT, body, "upgrade: h2c", "http2-settings: x"),
        "a mirror": b"TRACE / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-session-id: a\r\n\r\n",
    }


def odd_paths() -> dict[str, bytes]:
    """Targets that could lead elsewhere."""
    body = json.dumps(good(CHAT)).encode()
    targets = ["/../../etc/passwd", "//127.0.0.1:1/v1", "/v1/%2e%2e/x", "/v1/chat/completions%00", "/v1/a%0d%0ax:%20y"]
    targets += ["/" + "a" * 60_000, "/v1/chat/completions?" + "q" * 20_000, "/v1/messages/../chat/completions", "/?#@x"]
    targets += ["http://127.0.0.1:1/v1/x", "@127.0.0.1:1/x", "\\\\127.0.0.1\\x", "/v1//chat//completions", "*"]
    found = {f"the path {target[:30]}": post(target, body) for target in targets}
    return {**found, "bytes in the path": post(CHAT, body).replace(b"/v1/", b"/v1/\xff\xfe", 1)}


def packed_bodies() -> dict[str, bytes]:
    """Bodies that are packed, or say so."""
    body = json.dumps(good(CHAT)).encode()
    bomb = gzip.compress(b"[" * 50_000_000)
    return {
        "gzip": post(CHAT, gzip.compress(body), "content-encoding: gzip"),
        "deflate": post(CHAT, zlib.compress(body), "content-encoding: deflate"),
        "a bomb": post(CHAT, bomb, "content-encoding: gzip"),
        "a lie": post(CHAT, body, "content-encoding: gzip"),
        "twice": post(CHAT, gzip.compress(gzip.compress(body)), "content-encoding: gzip, gzip"),
        "no such packing": post(CHAT, body, "content-encoding: zip-o-matic"),
        "another kind": post(CHAT, body, "content-type: application/x-www-form-urlencoded"),
        "parts": post(CHAT, b"--x\r\n\r\n" + body, "content-type: multipart/form-data; boundary=x"),
    }


def other_sessions() -> dict[str, bytes]:
    """Who names somebody else's conversation, in every way there is."""
    ids = ("x-session-id", "x-seasoned-session", "session-id", "session_id", "thread-id", "x-session-affinity")
    named = [*[f"{name}: {VICTIM}" for name in ids], f"x-claude-code-session-id: {VICTIM}"]
    named += [f"x-codex-parent-thread-id: {VICTIM}\r\nthread-id: mine", f"X-SESSION-ID:   {VICTIM}   "]
    found = {f"by {name[:24]}": post(CHAT, json.dumps(good(CHAT)).encode(), name) for name in named}
    fields: dict[str, Any] = {
        "prompt_cache_key": VICTIM,
        "metadata": {"user_id": json.dumps({"session_id": VICTIM})},
        "conversation": VICTIM,
        "previous_response_id": "chatcmpl-victim",
    }
    for name, value in fields.items():
        for path in PATHS:
            found[f"by {name} at {path}"] = post(path, json.dumps({**good(path), name: value}).encode())
    return found


def everything() -> dict[str, bytes]:
    return {
        **wrong_types(),
        **broken_bodies(),
        **odd_heads(),
        **odd_paths(),
        **packed_bodies(),
        **other_sessions(),
    }
