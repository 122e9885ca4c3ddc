"""The shape of a value: how it is written, not what it says. A placeholder has the shape of what it replaces."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta

from seasoned.digest import blake2b
from seasoned.lazy_regex import LazyRegex

UUID = r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
# The look-aheads require a digit and a letter: `deadbeef` is a word, and `1234567` a number.
HEX = (
    r"(?:(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,}|(?=[0-9]*[A-F])(?=[A-F]*[0-9])[0-9A-F]{7,})"
    r"(?![0-9A-Za-z])"
)
EMAIL_TAG = r"\[redacted:email:[0-9a-f]{8}\]"
# Letters of one case, or a capital with the small letters after it: the words of `camelCase` and `snake_case`.
PIECE = r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+"
# Placeholders this long carry a checksum: they look random, as a secret would.
SEALED_FROM = 16
_SEAL = 4
_PARTS = LazyRegex(
    rf"(?P<mail>{EMAIL_TAG})|(?<![0-9A-Za-z])(?P<uuid>{UUID})(?![0-9A-Za-z])"
    rf"|(?<![0-9A-Za-z])(?P<hex>(?:0x)?{HEX})|(?P<figures>\d+)"
    rf"|(?P<letters>[^\W\d_]*[^\W\d_a-zA-Z][^\W\d_]*)|(?P<piece>{PIECE})"
)
_UUID = LazyRegex(UUID)
_HEX = LazyRegex(HEX)
_RUNS = LazyRegex(rf"{PIECE}|\d+")
_UNITS = "0123456789"
_SMALL = "abcdefghijklmnopqrstuvwxyz"
_LARGE = _SMALL.upper()
# Shorter ones are too often abbreviations. Below this mean length of a run the text looks random.
_RANDOM_FROM = 12
_RANDOM_RUN = 3.0
# Words seldom change between cases and digits; random strings do so every two or three characters.
_SCATTERED_RUN = 4.0


def shape(text: str) -> str:
    """How a text is written: `#W0052025` and `#W7731846` are `#A0000000`, `src/noteBook.md` is `a/aAa.a`."""
    return _PARTS.compiled.sub(_shape, text)


def _shape(found: re.Match[str]) -> str:
    kind, text = found.lastgroup, found.group()
    if kind == "figures":
        return "0" * len(text)
    if kind in ("piece", "letters"):
        return "a" if text.islower() else "A" if text.isupper() else "Aa"
    if kind == "hex":
        bare = text.removeprefix("0x")
        return f"{'0x' if bare != text else ''}{'h' if bare.islower() else 'H'}{len(bare)}"
    return "uuid" if kind == "uuid" else "a@a.a"


def looks_random(text: str) -> bool:
    """Whether letters and digits look random, as those of ids, keys and digests do."""
    if len(text) < _RANDOM_FROM or not text.isalnum():
        return False
    runs = _RUNS.compiled.findall(text)
    # Long random strings have digits in several places, even if letters happen to stand together.
    is_scattered = len(text) >= 20 and sum(run.isdigit() for run in runs) >= 3
    longest = _SCATTERED_RUN if is_scattered else _RANDOM_RUN
    return len(text) / max(1, len(runs)) < longest and len(set(text)) > 5


def is_hex(text: str) -> bool:
    """Whether a word is a digest or a part of one: both digits and letters up to f."""
    return _HEX.compiled.fullmatch(text) is not None


class SeededDraw:
    """Reproducible numbers: the same in every process for the same seed and value."""

    def __init__(self, *parts: str) -> None:
        self._key = "\0".join(parts).encode("utf-8", "surrogatepass")
        self._left = 0
        self._size = 1
        self._round = 0

    def below(self, limit: int) -> int:
        """A number from 0 to below the limit."""
        # With 16 spare bits the remainders are even enough that no placeholder is preferred.
        if self._size < limit << 16:
            digest = blake2b(self._key, digest_size=32, salt=self._round.to_bytes(4, "big")).digest()
            self._left, self._size = int.from_bytes(digest, "big"), 1 << 256
            self._round += 1
        self._left, number = divmod(self._left, limit)
        self._size //= limit
        return number


def like_digits(text: str, draw: SeededDraw) -> str:
    """As many other digits; leading zeros stay, because they are part of the notation."""
    bare = text.lstrip("0")
    if not bare:
        return text
    while True:
        made = _UNITS[1 + draw.below(9)] + "".join([_UNITS[draw.below(10)] for _ in bare[1:]])
        if made != bare:
            return text[: -len(bare)] + made


def like_hex(text: str, draw: SeededDraw) -> str:
    """Another digest of the same length and case."""
    signs = "0123456789ABCDEF" if text.upper() == text else "0123456789abcdef"
    while True:
        made = _sealed("".join([signs[draw.below(16)] for _ in text]), signs)
        if made != text and is_hex(made):
            return made


def like_uuid(text: str, draw: SeededDraw) -> str:
    """Another UUID of the same version."""
    signs = "0123456789ABCDEF" if text.upper() == text else "0123456789abcdef"
    made = [c if c == "-" else signs[draw.below(16)] for c in text]
    # The places of the version and the variant.
    made[14], made[19] = text[14], text[19]
    return _sealed("".join(made), signs)


def like_random(text: str, draw: SeededDraw) -> str:
    """Another id with letters of the same case and digits in the same places."""
    while True:
        made = _sealed("".join([_other(c, draw) for c in text]))
        if made != text and not is_hex(made):
            return made


def _other(sign: str, draw: SeededDraw) -> str:
    signs = _signs(sign)
    return signs[draw.below(len(signs))] if signs else sign


def _signs(sign: str) -> str:
    if not sign.isascii():
        return ""
    return _UNITS if sign.isdigit() else _SMALL if sign.islower() else _LARGE if sign.isupper() else ""


def _sealed(text: str, signs: str = "") -> str:
    """The text with a checksum as its last characters."""
    places = [at for at, c in enumerate(text) if c.isascii() and c.isalnum()]
    if len(places) < SEALED_FROM:
        return text
    done = list(text)
    draw = SeededDraw("seal", text[: places[-_SEAL]])
    for at in places[-_SEAL:]:
        of = signs or _signs(text[at])
        done[at] = of[draw.below(len(of))]
    return "".join(done)


def is_placeholder(text: str) -> bool:
    """Whether a word that looks random is a placeholder, by its checksum."""
    if is_hex(text) or _UUID.compiled.fullmatch(text):
        return _sealed(text, "0123456789ABCDEF" if text.upper() == text else "0123456789abcdef") == text
    return _sealed(text) == text


def like_case(word: str, text: str) -> str:
    """A word in the case of another one."""
    if text.isupper():
        return word.upper()
    return word.capitalize() if text[:1].isupper() else word


_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = "|".join(rf"{month}|{month[:3]}" if month != "may" else "may" for month in _MONTHS)
_NUMBER = r"(?:0?[1-9]|[12]\d|3[01])"
SPOKEN = LazyRegex(
    rf"\b(?:(?P<day>{_NUMBER})(?P<nth>st|nd|rd|th)?(?P<of> of |\. | )(?P<month>{_MONTH})"
    rf"|(?P<month_first>{_MONTH})\.? (?:the )?(?P<day_after>{_NUMBER})(?P<nth_after>st|nd|rd|th)?)"
    r"(?P<year>,? (?:19|20)\d\d)?\b",
    re.IGNORECASE,
)
_SIZE = {"y": 4, "m": 2, "d": 2}


def day_of(text: str, order: str) -> date | None:
    """The date that digits spell; `order` is `ymd` or `dmy`."""
    figures = "".join([c for c in text if c.isdigit()])
    at, found = 0, {}
    for part in order:
        found[part] = int(figures[at : at + _SIZE[part]])
        at += _SIZE[part]
    try:
        return date(found["y"], found["m"], found["d"])
    except ValueError:
        return None


def other_day(day: date, seed: str) -> date:
    """Another date of the same year, so that a version or a deadline stays about as old as it was."""
    first = date(day.year, 1, 1)
    other = first + timedelta(days=SeededDraw(seed, day.isoformat()).below(365))
    if other == day:
        other = first + timedelta(days=(day - first).days + 1 if day.month < 12 else 0)
    return other


def date_in_digits(day: date, text: str, order: str) -> str:
    """The date, written as the one in the text."""
    made = iter("".join({"y": f"{day.year:04}", "m": f"{day.month:02}", "d": f"{day.day:02}"}[p] for p in order))
    return "".join([next(made) if c.isdigit() else c for c in text])


def replace_spoken_dates(text: str, days: Mapping[date, date]) -> str:
    """The text with dates in words replaced; a date without a year matches any year."""

    def spoken(found: re.Match[str]) -> str:
        number = int(found["day"] or found["day_after"])
        name = found["month"] or found["month_first"]
        month = next(at for at, full in enumerate(_MONTHS, 1) if full.startswith(name.lower()))
        year = int(found["year"][-4:]) if found["year"] else None
        for day, other in days.items():
            if (day.day, day.month) == (number, month) and year in (None, day.year):
                return _spoken(found, other, name)
        return found.group()

    return SPOKEN.compiled.sub(spoken, text) if days else text


def _spoken(found: re.Match[str], day: date, name: str) -> str:
    full = _MONTHS[day.month - 1]
    month = like_case(full if len(name) > 3 or name.lower() == "may" else full[:3], name)
    nth = found["nth"] or found["nth_after"]
    number = f"{day.day}{_nth(day.day) if nth else ''}"
    year = f"{found['year'][:-4]}{day.year}" if found["year"] else ""
    if found["day"]:
        return f"{number}{found['of']}{month}{year}"
    between = found.group()[len(name) : found.start("day_after") - found.start()]
    return f"{month}{between}{number}{year}"


def _nth(number: int) -> str:
    return "th" if 10 < number < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
