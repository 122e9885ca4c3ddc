"""The redactor: replaces secrets in texts and JSON values by tags."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from seasoned.digest import blake2b
from seasoned.lazy_regex import LazyRegex
from seasoned.redact.detector import scan
from seasoned.redact.value import Hit, Promise, is_secret, kind_of, promise

__all__ = ["Hit", "Redactor"]

TAG = LazyRegex(r"\[redacted:[a-z0-9\-]{1,32}:[0-9a-f]{8}\]")
CARDS = (10**13, 10**19)  # numbers of cards
ROUNDS = 6  # the text around a tag can look secret again; a few rounds are always enough
MARGIN = 1024  # enough to recognise any secret by its beginning
PRIVATE_REACH = 16384  # so much of a private key is recognised by its first line
GENERIC = frozenset(
    ("password", "secret", "token", "api-key", "authorization", "cookie", "encoded", "bearer", "url-password")
)
PHONES = ("phone", "mobile", "fax", "whatsapp", "cell")


class Redactor:
    """Replaces secrets by keyed tags, so that equal secrets stay recognisable as equal."""

    def __init__(self, key: bytes, own: Sequence[str] = ()) -> None:
        self._key = key
        self._own = [_own_pattern(entry) for entry in own]

    def tag(self, kind: str, secret: str) -> str:
        """The tag that replaces a secret."""
        digest = blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=4, key=self._key[:64]).hexdigest()
        return f"[redacted:{kind}:{digest}]"

    def find(self, text: str) -> list[Hit]:
        """Hits in order and without overlap, none of them in a tag."""
        if "[redacted:" in text:
            # Stars are placeholders to all rules.
            text = TAG.compiled.sub(lambda tag: "*" * len(tag[0]), text)
        hits = scan(text)
        for pattern in self._own:
            hits += [Hit("own", m.start(), m.end()) for m in pattern.finditer(text) if m.end() > m.start()]
        return _settle(hits) if hits else hits

    def text(self, text: str) -> str:
        """The text without its secrets; JSON stays JSON."""
        done = self._rest(text)
        if done is text or text.lstrip()[:1] not in ("{", "[", '"') or _is_json(done) or not _is_json(text):
            return done
        import json

        # A bare number became a tag: it must become a text.
        return self._rest(json.dumps(self.value(json.loads(text)), ensure_ascii=False), stays=_is_json)

    def _rest(self, text: str, stays: Callable[[str], bool] = lambda _: True) -> str:
        """The text redacted until nothing is found, as long as it stays what it is."""
        for _ in range(ROUNDS):
            hits = self.find(text)
            if not hits or not stays(again := self._replace(text, hits)):
                break
            text = again
        return text

    def value(self, value: Any) -> Any:
        """The JSON value without its secrets, in strings and in values with suspicious names."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {
                (self.text(name) if isinstance(name, str) else name): self._named(name, inner)
                for name, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return self._items(value)
        if isinstance(value, int) and CARDS[0] <= value < CARDS[1]:
            return value if (done := self.text(str(value))) == str(value) else done
        return value

    def head(self, text: str, limit: int) -> str:
        """The redacted beginning, at most `limit` characters, without reading the whole text."""
        done = self._part(text[: limit + MARGIN], 0, min(limit, len(text)))
        cut = [tag.start() for tag in TAG.compiled.finditer(done) if tag.start() < limit < tag.end()]
        return done[: cut[0] if cut else limit]

    def tail(self, text: str, limit: int) -> str:
        """The redacted end, at most `limit` characters."""
        window = text[-limit - PRIVATE_REACH :]
        done = self._part(window, max(0, len(window) - limit), len(window))
        start = max(0, len(done) - limit)
        cut = [tag.end() for tag in TAG.compiled.finditer(done) if tag.start() < start < tag.end()]
        return done[cut[0] if cut else start :]

    def _part(self, window: str, start: int, end: int) -> str:
        """The redacted part of a window, extended over secrets that cross its ends."""
        hits = self.find(window)
        if not hits and start == 0 and end == len(window):
            # Nothing is cut off either, so looking again would find nothing again.
            return window
        for hit in hits:
            if hit.start < start < hit.end:
                start = hit.start
            if hit.start < end < hit.end:
                end = hit.end
        inside = [Hit(kind, first - start, last - start) for kind, first, last in hits if start <= first < last <= end]
        return self.text(self._replace(window[start:end], inside))

    def _replace(self, text: str, hits: list[Hit]) -> str:
        pieces = []
        at = 0
        for kind, start, end in hits:
            pieces += [text[at:start], self.tag(kind, text[start:end])]
            at = end
        pieces.append(text[at:])
        return "".join(pieces)

    def _items(self, items: Sequence[Any]) -> list[Any]:
        """A list of arguments: `--password` makes the next one secret."""
        done = []
        flag = ""
        for item in items:
            done.append(self._named(flag, item) if flag and isinstance(item, str) else self.value(item))
            flag = item[2:] if isinstance(item, str) and item.startswith("--") and "=" not in item else ""
        return done

    def _named(self, name: Any, value: Any) -> Any:
        if not isinstance(name, str):
            return self.value(value)
        if isinstance(value, str):
            return self._named_text(name, value)
        promised = promise(name)
        if promised is Promise.PASSWORD and isinstance(value, int) and not isinstance(value, bool) and value > 999:
            return self.tag("password", str(value))
        if isinstance(value, list) and promised >= Promise.TOKEN:
            return [self._named_text(name, item) if isinstance(item, str) else self.value(item) for item in value]
        return self.value(value)

    def _named_text(self, name: str, value: str) -> str:
        if name.lower().endswith(("authorization", "cookie")) or _is_phone(name):
            done = self.text(f"{name}: {value}")
            return done[len(name) + 2 :] if done.startswith(f"{name}: ") else self.text(value)
        promised = promise(name)
        if promised and not TAG.compiled.search(value) and is_secret(value, promised, True, True):
            return self.tag(kind_of(name), value)
        return self.text(value)


def _is_json(text: str) -> bool:
    import json

    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _own_pattern(entry: str) -> re.Pattern[str]:
    """An entry of the user's list: `/.../` is a regular expression, anything else a case-insensitive text."""
    if len(entry) > 2 and entry.startswith("/") and entry.endswith("/"):
        return re.compile(entry[1:-1])
    return re.compile(re.escape(entry), re.IGNORECASE)


def _settle(hits: list[Hit]) -> list[Hit]:
    """Merge overlapping hits into the widest."""
    hits.sort(key=lambda hit: (hit.start, -hit.end))
    kept: list[Hit] = []
    for hit in hits:
        if kept and hit.start < kept[-1].end:
            last = kept[-1]
            kept[-1] = Hit(max(last, hit, key=_weight).kind, last.start, max(last.end, hit.end))
        else:
            kept.append(hit)
    return kept


def _weight(hit: Hit) -> tuple[int, bool]:
    """The kind of merged hits: that of the wider one; of equal ones a known format outranks a name."""
    return hit.end - hit.start, hit.kind not in GENERIC


# Characters to read beyond a cut, so that a secret across it is recognised.
CUT_MARGIN = 160


@lru_cache(maxsize=4096)
def gives_away(name: str) -> bool:
    """Whether a name makes its value suspicious: `password`, `Authorization`, `phone`."""
    return bool(promise(name)) or _is_phone(name)


def _is_phone(name: str) -> bool:
    return any(word in name.lower() for word in PHONES)


class RedactingFormatter(logging.Formatter):
    """Redacts whole log lines, whatever a library puts into them."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S%z")
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.text(super().format(record))
