"""Values as people read them on a page: a figure with its interval, a dash with its reason, a text made visible."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime

from seasoned.insight.words import share
from seasoned.stats.interval import Estimate

DASH = "–"
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
"""They belong to letters and pictures, and neither hide nor turn what stands around them."""
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def visible(text: str, most: int | None = None) -> str:
    """Text of a session with everything that would hide or turn letters written out, and with an end."""
    if most is not None and len(text) > most:
        text = text[: most - 1] + "…"
    if text.isprintable():
        return text
    return "".join([c if c in "\n\t" or not _is_hidden(c) else _written_out(c) for c in text])


def _is_hidden(char: str) -> bool:
    return char not in _JOINERS and unicodedata.category(char) in _HIDDEN


def _written_out(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def number(value: int | None) -> str:
    """`12 480`, and a dash for what is unknown."""
    return DASH if value is None else f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def short_number(value: int) -> str:
    """`980`, `1.2k`, `34k`, `1.2M`: for places with no room."""
    for unit, name in ((1_000_000, "M"), (1_000, "k")):
        # What would be rounded up to the next unit is written in that unit.
        if value >= unit * 0.9995 and value >= 1_000:
            return f"{value / unit:.1f}{name}" if value < 9.95 * unit else f"{value / unit:.0f}{name}"
    return str(value)


def plural(count: int, one: str, many: str | None = None) -> str:
    """`1 call`, `12 480 calls`, `2 copies`."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def date(time: float | None) -> str:
    """A day in UTC, so that a report of the same sessions is the same everywhere."""
    return DASH if time is None else datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d")


def moment(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M UTC")


def dollars(value: float | None) -> str:
    return DASH if value is None else f"${value:,.2f}"


def rate(estimate: Estimate) -> str:
    """`5.7 %`, or a dash with the reason."""
    return unknown(estimate.reason) if estimate.value is None else _kept_together(share(estimate.value))


def rate_between(estimate: Estimate) -> str:
    """`4.9–6.6 %`, or a dash with the reason."""
    if estimate.interval is None:
        return unknown(estimate.reason)
    return _kept_together(f"{100 * estimate.interval.low:.1f}–{100 * estimate.interval.high:.1f} %")


def change(estimate: Estimate) -> str:
    """`−1.2 points`, or a dash with the reason."""
    return unknown(estimate.reason) if estimate.value is None else _kept_together(f"{signed(estimate.value)} points")


def change_between(estimate: Estimate) -> str:
    """`−2.0 to −0.4`, or a dash with the reason."""
    if estimate.interval is None:
        return unknown(estimate.reason)
    return _kept_together(f"{signed(estimate.interval.low)} to {signed(estimate.interval.high)}")


def signed(value: float) -> str:
    """A difference of rates in points, with a minus that is as wide as a plus."""
    return f"{100 * value:+.1f}".replace("-", "\N{MINUS SIGN}")


def level(estimate: Estimate) -> str:
    """`95 %`; a dash where there is no interval to have one."""
    return DASH if estimate.interval is None else _kept_together(f"{100 * estimate.interval.level:g} %")


def unknown(reason: str | None) -> str:
    return f"{DASH} ({reason})" if reason else DASH


def _kept_together(text: str) -> str:
    """A figure and its unit stay on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")
