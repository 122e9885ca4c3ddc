"""Private keys that span lines: PEM, OpenSSH, PGP, PuTTY; whole, cut off, escaped, numbered or in a diff."""

from __future__ import annotations

from collections.abc import Iterator

from seasoned.redact.hit import Hit
from seasoned.redact.pattern import Pattern

FURTHEST = 65536
BEGIN = Pattern(r"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----")
END = Pattern(r"-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----")
BODY = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/= \t\r\n\\-:,→|>.()"
LINES = Pattern(r"Private-Lines: \d{1,4}")
MAC = Pattern(r"Private-(?:MAC|Hash): [0-9a-f]{40,64}")


def find_blocks(text: str) -> Iterator[Hit]:
    """Each block from its first line to its last; without an end, as far as its letters reach."""
    if "PRIVATE KEY" in text:
        yield from _pem(text)
    if "Private-Lines" in text:
        done = 0
        for match in LINES.re.finditer(text):
            if match.start() >= done:
                mac = MAC.re.search(text, match.end(), match.end() + FURTHEST)
                done = mac.end() if mac else _body_end(text, match.end())
                yield Hit("private-key", match.start(), done)


def _pem(text: str) -> Iterator[Hit]:
    done = 0
    for begin in BEGIN.re.finditer(text):
        if begin.start() < done:
            continue
        end = END.re.search(text, begin.end(), begin.end() + FURTHEST)
        following = text.find("-----BEGIN ", begin.end(), end.end() if end else begin.end() + FURTHEST)
        if end is not None and following < 0:
            done = end.end()
        else:
            done = _body_end(text, begin.end())
            if done - begin.end() < 24:
                continue
        if done - begin.start() > 96:
            yield Hit("private-key", begin.start(), done)
    for end in END.re.finditer(text, done):
        # The beginning was cut away: go back as far as the letters reach.
        kept = text[max(done, end.start() - FURTHEST) : end.start()]
        start = end.start() - (len(kept) - len(kept.rstrip(BODY)))
        if end.start() - start >= 24:
            yield Hit("private-key", start, end.end())
        done = end.end()


def _body_end(text: str, start: int) -> int:
    stretch = text[start : start + FURTHEST]
    return start + len(stretch) - len(stretch.lstrip(BODY))
