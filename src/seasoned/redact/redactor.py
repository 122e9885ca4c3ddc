"""The redactor: replaces secrets in texts and JSON values by tags."""

from __future__ import annotations

import logging
import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from seasoned.digest import blake2b
from seasoned.lazy_regex import LazyRegex
from seasoned.redact.detector import scan
from seasoned.redact.key import Secrecy
from seasoned.redact.name import Promise, kind_of, promise
from seasoned.redact.value import Hit, is_secret

__all__ = ["Hit", "Redactor"]

TAG = LazyRegex(r"\[redacted:[a-z0-9\-]{1,32}:[0-9a-f]{8}\]")
ROUNDS = 6  # the text around a tag can look secret again; a few rounds are always enough
MARGIN = 1024  # enough to recognise any secret by its beginning
PRIVATE_REACH = 16384
GENERIC = frozenset(
    ("password", "secret", "token", "api-key", "authorization", "cookie", "encoded", "bearer", "url-password")
)
PHONES = ("phone", "mobile", "telephone", "fax", "whatsapp", "cell")


class Redactor:
    """Replaces secrets by keyed tags, so that equal secrets stay recognisable as equal."""

    def __init__(self, key: bytes, own: Sequence[str] = ()) -> None:
        self._key = key
        self._own = tuple(own)
        self._own_patterns = [_own_pattern(entry) for entry in self._own]

    def __reduce__(self) -> tuple[type[Redactor], tuple[bytes, tuple[str, ...]]]:
        return Redactor, (self._key, self._own)

    def tag(self, kind: str, secret: str) -> str:
        """The tag that replaces a secret."""
        digest = blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=4, key=self._key[:64]).hexdigest()
        return f"[redacted:{kind}:{digest}]"

    def find(self, text: str) -> list[Hit]:
        """Hits in order and without overlap, ignoring existing tags."""
        hits = scan(text)
        for pattern in self._own_patterns:
            hits += [Hit("own", m.start(), m.end()) for m in pattern.finditer(text) if m.end() > m.start()]
        return _settle(text, hits) if hits else hits

    def text(self, text: str) -> str:
        """The text without its secrets; JSON stays JSON."""
        hits = self.find(text)
        if not hits:
            return text
        return self._redact_parsed(text, self._rest(self._replace(text, hits), False))

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
        return value

    def head(self, text: str, limit: int) -> str:
        """The redacted beginning, at most `limit` characters, without reading the whole text."""
        size = limit + MARGIN
        while True:
            whole = size >= len(text)
            window = text if whole else text[:size]
            done = self._trusted(window, 0, len(window) if whole else size - MARGIN)
            if whole or len(done) >= limit or size > 8 * limit + PRIVATE_REACH:
                return _cut_end(done, limit)
            size *= 2

    def tail(self, text: str, limit: int) -> str:
        """The redacted end, at most `limit` characters."""
        size = limit + MARGIN
        while True:
            start = _open_block(text, len(text) - size)
            window = text if start <= 0 else text[start:]
            done = self._trusted(window, 0 if start <= 0 else MARGIN, len(window))
            if start <= 0 or len(done) >= limit or size > 8 * limit + PRIVATE_REACH:
                return _cut_start(done, limit)
            size *= 2

    def _replace(self, text: str, hits: list[Hit], start: int = 0, end: int | None = None) -> str:
        pieces = []
        at = start
        for hit in hits:
            pieces += [text[at : hit.start], self.tag(hit.kind, text[hit.start : hit.end])]
            at = hit.end
        pieces.append(text[at:end])
        return "".join(pieces)

    def _trusted(self, window: str, start: int, end: int) -> str:
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
        inside = [hit for hit in hits if hit.start >= start and hit.end <= end]
        return self.text(self._replace(window, inside, start, end))

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
        low = name.lower()
        if low.endswith(("authorization", "cookie")):
            done = self.text(f"{name}: {value}")
            return done[len(name) + 2 :] if done.startswith(f"{name}: ") else self.text(value)
        if any(word in low for word in PHONES) and 7 <= sum(c.isdigit() for c in value) <= 15 and len(value) < 25:
            return self.tag("phone", value)
        promised = promise(name)
        if promised and not TAG.compiled.search(value) and is_secret(value, promised, True, True):
            return self.tag(kind_of(name), value)
        return self.text(value)

    def _redact_parsed(self, text: str, done: str) -> str:
        """Redact the parsed JSON instead of the text if a bare number would have to become a tag."""
        if text.lstrip()[:1] not in ("{", "[", '"'):
            return done
        import json

        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            return done
        try:
            json.loads(done)
        except ValueError:
            return self._rest(json.dumps(self.value(self._numbers(parsed)), ensure_ascii=False), True)
        return done

    def _rest(self, text: str, parsed: bool) -> str:
        """The text redacted until nothing is found; what was parsed must stay JSON."""
        import json

        for _ in range(ROUNDS):
            hits = self.find(text)
            if not hits:
                break
            again = self._replace(text, hits)
            if parsed:
                try:
                    json.loads(again)
                except ValueError:
                    break
            text = again
        return text

    def _numbers(self, value: Any) -> Any:
        """Turn secret numbers into texts, so that they can be replaced."""
        if isinstance(value, dict):
            return {name: self._numbers(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._numbers(inner) for inner in value]
        if isinstance(value, int) and not isinstance(value, bool) and self.find(str(value)):
            return str(value)
        return value


def _own_pattern(entry: str) -> re.Pattern[str]:
    """An entry of the user's list: `/.../` is a regular expression, anything else a case-insensitive text."""
    if len(entry) > 2 and entry.startswith("/") and entry.endswith("/"):
        return re.compile(entry[1:-1])
    return re.compile(re.escape(entry), re.IGNORECASE)


def _settle(text: str, hits: list[Hit]) -> list[Hit]:
    """Merge overlapping hits into the widest; drop those inside a tag."""
    tags = [m.span() for m in TAG.compiled.finditer(text)] if "[redacted:" in text else []
    hits.sort(key=lambda hit: (hit.start, -hit.end))
    kept: list[Hit] = []
    for hit in hits:
        found = _beside_tags(hit, tags) if tags else hit
        if found is None:
            continue
        if kept and found.start < kept[-1].end:
            last = kept[-1]
            kind = max(last, found, key=_weight).kind
            kept[-1] = Hit(kind, last.start, max(last.end, found.end))
        else:
            kept.append(found)
    return kept


def _weight(hit: Hit) -> tuple[int, bool]:
    """The kind of merged hits: that of the wider one; of equal ones a known format outranks a name."""
    return hit.end - hit.start, hit.kind not in GENERIC


def _beside_tags(hit: Hit, tags: list[tuple[int, int]]) -> Hit | None:
    """The hit widened over the tags that it cuts; None if it lies in one. Tags are in order, so two look-ups do."""
    kind, start, end = hit
    first, last = _tag_around(tags, start), _tag_around(tags, end)
    if first is not None and first[0] <= start and end <= first[1]:
        return None
    if first is not None and first[0] < start:
        start = first[0]
    if last is not None and last[0] < end < last[1]:
        end = last[1]
    return Hit(kind, start, end)


def _tag_around(tags: list[tuple[int, int]], place: int) -> tuple[int, int] | None:
    """The tag that begins at or before this place and ends after it."""
    at = bisect_right(tags, (place, sys.maxsize)) - 1
    return tags[at] if at >= 0 and place < tags[at][1] else None


def _open_block(text: str, start: int) -> int:
    """Where to begin so that the window does not start inside a private key."""
    if start <= 0:
        return start
    begin = text.rfind("-----BEGIN", max(0, start - PRIVATE_REACH), start)
    if begin >= 0 and text.find("-----END", begin, start) < 0:
        return max(0, begin - MARGIN)
    return start


def _cut_end(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    for tag in TAG.compiled.finditer(text):
        if tag.start() < limit < tag.end():
            return text[: tag.start()]
    return text[:limit]


def _cut_start(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    start = len(text) - limit
    for tag in TAG.compiled.finditer(text):
        if tag.start() < start < tag.end():
            return text[tag.end() :]
    return text[start:]


# Characters to read beyond a cut, so that a secret across it is recognised.
CUT_MARGIN = 160


def is_clean(redactor: Redactor, texts: Iterable[str], common: Iterable[str] = ()) -> bool:
    """Whether neither the texts nor the names around them contain a secret, and no name indicates one."""
    names = tuple(common)
    return not any(map(gives_away, names)) and not redactor.find("\n".join((*texts, *names)))


@lru_cache(maxsize=4096)
def gives_away(name: str) -> bool:
    """Whether a name makes its value suspicious: `password`, `Authorization`, `phone`."""
    low = name.lower()
    return bool(promise(name)) or low.endswith(("authorization", "cookie")) or any(word in low for word in PHONES)


class RedactingFormatter(logging.Formatter):
    """Redacts whole log lines, whatever a library puts into them."""

    def __init__(self, secrecy: Secrecy) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S%z")
        self._redactor = secrecy.redactor()

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.text(super().format(record))
