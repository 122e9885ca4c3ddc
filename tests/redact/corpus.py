"""A corpus by seed: planted secrets with what must not survive of them, and clean values that only look dangerous."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from tests.redact.corpus_carrier import CARRY_LABELLED, CARRY_TOKEN, WHOLE
from tests.redact.corpus_clean import clean_values
from tests.redact.corpus_secret import LABELLED, TOKENS

__all__ = ["Planted", "clean_values", "planted", "survives"]


class Planted(NamedTuple):
    """One value with a secret in it."""

    kind: str
    carrier: str
    value: Any
    parts: list[str]


def planted(seed: int = 1) -> Iterator[Planted]:
    """Every kind in every carrier that it is written in."""
    r = Random(seed)
    for kind, make in TOKENS.items():
        for carrier, carry in CARRY_TOKEN.items():
            for _ in range(2):
                secret = make(r)
                yield Planted(kind, carrier, carry(r, secret), [characteristic(kind, secret)])
    for kind, (names, make) in LABELLED.items():
        for name in names:
            for carrier, carry_named in CARRY_LABELLED.items():
                secret = make(r)
                yield Planted(kind, carrier, carry_named(r, name, secret), [secret])
    for kind, whole in WHOLE.items():
        for _ in range(40):
            value, parts = whole(r)
            yield Planted(kind, "whole", value, parts)


def characteristic(kind: str, secret: str) -> str:
    """The part of a secret that gives access: not its published prefix, host or payload."""
    if kind.endswith("webhook") and "/" in secret:
        return secret.rsplit("/", 1)[1]
    if kind in ("jwt", "discord", "sendgrid"):
        return secret.rsplit(".", 1)[1]
    return secret


RUN = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")


def survives(output: Any, part: str) -> bool:
    """Whether the part can still be read in the output, plainly or through an encoding."""
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    seen = [text, unquote(text), unquote(unquote(text))]
    for run in RUN.findall(text):
        for skip in range(4):
            piece = run[skip:].rstrip("=").replace("-", "+").replace("_", "/")
            try:
                data = base64.b64decode(
                    piece[: len(piece) // 4 * 4] if len(piece) % 4 == 1 else piece + "=" * (-len(piece) % 4)
                )
            except (ValueError, binascii.Error):
                continue
            seen += [data.decode("latin-1"), data.replace(b"\0", b"").decode("latin-1")]
    return any(form in place for form in {part, quote(part, safe="")} for place in seen)
