"""Values that look dangerous and are not: what coding agents read and write all day."""

from __future__ import annotations

import base64
import hashlib
import json
import string
import uuid
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tests.redact.corpus_secret import ALNUM, HEX, draw, words
from tests.redact.everyday import FOLDER

FIXED: list[Any] = [json.loads(line) for line in (FOLDER / "clean.jsonl").read_text(encoding="utf-8").splitlines()]


def _hex(n: int) -> Callable[[Random], str]:
    return lambda r: draw(r, HEX, n)


def _uuid(r: Random) -> str:
    return str(uuid.UUID(int=r.getrandbits(128), version=4))


def _b64(n: int) -> Callable[[Random], str]:
    return lambda r: base64.b64encode(r.randbytes(n)).decode()


WORD = words("user order parse render token key value index cache build config session model query layout button state")


def _camel(r: Random) -> str:
    return "".join(w.capitalize() for w in r.choices(WORD, k=r.randrange(3, 7)))


def _snake(r: Random) -> str:
    return "_".join(r.choices(WORD, k=r.randrange(2, 6)))


def _path(r: Random) -> str:
    return "/" + "/".join(_snake(r) for _ in range(r.randrange(2, 7))) + r.choice([".py", ".ts", ".json", ""])


def _minified(r: Random) -> str:
    a, b, c = (draw(r, string.ascii_lowercase, 1) for _ in range(3))
    body = f"{c}.password=function(e){{return n[e]=e.length>{r.randrange(9)}}};"
    return f"!function({a},{b}){{var {c}={a}.key||{b}.token,n={{}};{body}"


MAKE: list[Callable[[Random], Any]] = [
    lambda r: f"commit {_hex(40)(r)}\nAuthor: octocat\nDate: 2024-01-0{r.randrange(1, 9)}",
    lambda r: f"{_hex(7)(r)} fix: {_snake(r)} handling of {_snake(r)}",
    lambda r: f"{_hex(40)(r)}\trefs/heads/{_snake(r)}",
    _uuid,
    lambda r: f"id: {_uuid(r)}",
    lambda r: f"{_uuid(r)}.jsonl",
    lambda r: hashlib.sha256(r.randbytes(8)).hexdigest() + f"  {_snake(r)}.tar.gz",
    lambda r: f'"integrity": "sha512-{_b64(64)(r)}"',
    lambda r: f'"resolved": "https://packages.acme.dev/npm/{_snake(r)}/-/{_snake(r)}-1.{r.randrange(99)}.0.tgz",',
    lambda r: f"sha256:{_hex(64)(r)}",
    lambda r: f"FROM node@sha256:{_hex(64)(r)}",
    _path,
    lambda r: "\n".join(_path(r) for _ in range(8)),
    _minified,
    lambda r: "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + r.randbytes(120)).decode(),
    lambda r: f"toolu_01{draw(r, ALNUM, 22)}",
    lambda r: {"tool_use_id": f"toolu_01{draw(r, ALNUM, 22)}", "type": "tool_result", "content": "ok"},
    lambda r: f"call_{draw(r, ALNUM, 24)}",
    lambda r: f"msg_01{draw(r, ALNUM, 22)}",
    lambda r: f"req_011{draw(r, ALNUM, 21)}",
    lambda r: f"chatcmpl-{draw(r, ALNUM, 29)}",
    lambda r: f'ETag: "{_hex(32)(r)}"',
    lambda r: f'etag: W/"{_hex(8)(r)}-{draw(r, ALNUM, 27)}"',
    lambda r: {"session_id": _uuid(r), "sessionId": _uuid(r), "cwd": _path(r)},
    lambda r: f"session {r.randrange(10**8)}_{draw(r, HEX, 6)} resumed",
    _camel,
    lambda r: f"class {_camel(r)}({_camel(r)}):",
    lambda r: f"{_snake(r)} = {_snake(r)}.{_snake(r)}({_snake(r)}={_snake(r)})",
    lambda r: f"{_snake(r)}_token = {_snake(r)}()",
    lambda r: f"self.{_snake(r)}_key = {_snake(r)}_key",
    lambda r: f"const {{ {_snake(r)}, token, apiKey }} = await {_camel(r)}.get{_camel(r)}();",
    lambda r: f"expect({_snake(r)}.token).toBe({_snake(r)});",
    lambda r: f"assert {_snake(r)}['key'] == {_snake(r)}['{_snake(r)}']",
    lambda r: f"#{_hex(6)(r)}",
    lambda r: f".{_snake(r)} {{ color: #{_hex(6)(r)}; margin: 0 {r.randrange(40)}px; }}",
    lambda r: f"2024-0{r.randrange(1, 9)}-1{r.randrange(9)}T0{r.randrange(9)}:11:12.{draw(r, '0123456789', 6)}Z",
    lambda r: f"v{r.randrange(9)}.{r.randrange(30)}.{r.randrange(90)}-rc.{r.randrange(9)}",
    lambda r: f"{_snake(r)}: {r.randrange(10**6)}",
    lambda r: {"tokens": r.randrange(10**5), "max_output_tokens": 8192, "key": _snake(r)},
    lambda r: json.dumps({"path": _path(r), "key": _snake(r), "sha": _hex(40)(r), "size": r.randrange(10**6)}),
    lambda r: f"-rw-r--r-- 1 root root {r.randrange(10**6)} Jan 1{r.randrange(9)} 12:00 {_snake(r)}.py",
    lambda r: f"index {_hex(7)(r)}..{_hex(7)(r)} 100644",
    lambda r: f"E       AssertionError: assert {r.randrange(10**13)} == {r.randrange(10**12)}",
    lambda r: f"0x{_hex(12)(r)} in {_snake(r)} ({_camel(r)}.cpp:{r.randrange(999)})",
    lambda r: f"<object {_camel(r)} at 0x7f{_hex(10)(r)}>",
    lambda r: f"build-{r.randrange(10**9)}-{_hex(12)(r)} finished in {r.randrange(99)}s",
    lambda r: f"https://github.com/acme/{_snake(r)}/commit/{_hex(40)(r)}",
    lambda r: f"https://cdn.acme.io/assets/{_snake(r)}-{draw(r, ALNUM, 8)}.js?v={_hex(16)(r)}",
    lambda r: f"sourceMappingURL={_snake(r)}.js.map",
    lambda r: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{draw(r, ALNUM, 43)} octocat",
    lambda r: f"        {_snake(r)}Token: {_camel(r)};",
    lambda r: f"type {_camel(r)} = {{ password: string; token: {_camel(r)}; apiKey?: string }}",
    lambda r: f"I need to look at how {_snake(r)} handles the token; the key point: the password is optional.",
    lambda r: f"The secret: {_snake(r).replace('_', ' ')} is simple to use with care.",
    lambda r: f"10.0.{r.randrange(256)}.{r.randrange(256)} - - \"GET /{_snake(r)} HTTP/1.1\" 200 {r.randrange(9999)}",
    lambda r: f"order {r.randrange(10**9)}-{r.randrange(10**6)} total {r.randrange(10**4)}.99",
    lambda r: f"cache-key: {_snake(r)}-{_hex(40)(r)}",
    lambda r: f"key: {_snake(r)}-${{{{ hashFiles('**/package-lock.json') }}}}",
    lambda r: f"{_snake(r)} = hashlib.sha256({_snake(r)}).hexdigest()",
    lambda r: f"def {_snake(r)}(self, token: str | None = None, *, api_key: SecretStr, key: bytes) -> None:",
]  # fmt: skip


def clean_values(seed: int = 1, count: int = 20_500) -> Iterator[Any]:
    """The fixed list first, then made ones in turn."""
    yield from FIXED
    r = Random(seed)
    for i in range(count - len(FIXED)):
        yield MAKE[i % len(MAKE)](r)
