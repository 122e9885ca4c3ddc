"""Passwords and tokens in the address itself: `scheme://user:password@host`."""

from __future__ import annotations

from collections.abc import Iterator

from seasoned.redact.hit import Hit
from seasoned.redact.literal import is_placeholder, is_random
from seasoned.redact.pattern import Pattern

USERINFO = Pattern(r"""://([^\s/?#@:"'<>\\`]{0,256}):([^\s/"'<>\\`]{1,512})@""")
ALONE = Pattern(r"""://([^\s/?#@:"'<>\\`.]{20,512})@""")
CODED = Pattern(r"""(?i)%3a(?:%2f|/){2}([^\s/?#@:"'<>\\`&]{0,256}?)%3a([^\s/@"'<>\\`&]{1,512}?)%40""")
TWICE = Pattern(r"""(?i)%253a(?:%252f){2}([^\s/?#@:"'<>\\`&]{0,256}?)%253a([^\s/@"'<>\\`&]{1,512}?)%2540""")


def find_in_urls(text: str) -> Iterator[Hit]:
    """The secret half of what stands before the host."""
    if "@" in text and "://" in text:
        for match in USERINFO.re.finditer(text):
            if not is_placeholder(match[2]):
                yield Hit("url-password", match.start(2), match.end(2))
        for match in ALONE.re.finditer(text):
            if is_random(match[1]):
                yield Hit("url-password", match.start(1), match.end(1))
    if "%40" in text or "%2540" in text:
        for pattern in (CODED, TWICE):
            for match in pattern.re.finditer(text):
                if not is_placeholder(match[2]):
                    yield Hit("url-password", match.start(2), match.end(2))
