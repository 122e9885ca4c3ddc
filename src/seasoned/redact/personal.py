"""Finds personal data: e-mail addresses, card numbers, bank accounts, and labelled telephone numbers."""

from __future__ import annotations

from collections.abc import Iterator

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.name import vocabulary
from seasoned.redact.value import Hit

PLAIN_LOCAL = "abcdefghijklmnopqrstuvwxyz0123456789.+_-"
DOMAIN = LazyRegex(r"(?:[a-z0-9](?:[a-z0-9\-]{0,61}[a-z0-9])?\.){1,6}([a-z]{2,18})(?![a-z0-9\-_(]|\.[a-z0-9]|:[/~])")
# `name@1.0.tgz` and `getty@tty1.service` look like addresses: these endings are files and units.
NOT_ENDINGS = vocabulary(
    "js ts py sh rs md go rb so cc jsx tsx json yaml yml toml png jpg jpeg gif svg css html htm tgz zip gz tar "
    "whl jar service socket target timer mount slice scope conf cfg ini txt log lock map vue php java kt swift "
    "cpp hpp local localhost internal invalid test example git exe dll bin sql csv xml lua ex exs ml hs pl ps"
)
# Senders and examples that do not identify a person.
IMPERSONAL = vocabulary(
    "git noreply no-reply donotreply do-not-reply hg svn user you your.email your-email name email me foo bar"
)
# Escapes of JSON end in letters and figures that do not belong to the number.
_ESCAPED = r"(?<=\\[nrt])|(?<=\\u00\w\w)"
CARD = LazyRegex(
    rf"(?:(?<![\w.])(?<!\w-)|{_ESCAPED})"
    r"(?:\d{14,19}|\d{4}([ \-])\d{4}\1\d{4}\1\d{1,7}|3\d{3}([ \-])\d{6}\2\d{5})(?![\w\-]|\.\d)"
)
IBAN = LazyRegex(
    rf"(?:(?<![A-Za-z0-9_\-/])|{_ESCAPED})[A-Z]{{2}}\d{{2}}"
    r"(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,4})?)(?![A-Za-z0-9_\-])"
)
PHONE = LazyRegex(
    r"""(?:phone|mobile|cell|tel|fax|whatsapp)[a-z_ ]{0,12}["'\\]{0,6}"""
    r"""[ ]?(?:[:=]{1,2}\s{0,3}|(?<=[ ])(?=\+))["'\\]{0,6}"""
    r"(\+?\(?\d[\d ().\-/]{5,22}\d)(?![\w])"
)


def find_emails(text: str, low: str, places: list[int]) -> Iterator[Hit]:
    """E-mail addresses of people, at these signs; not ssh targets, scoped packages or no-reply senders."""
    for at in places:
        domain = DOMAIN.compiled.match(low, at + 1)
        if domain is not None and domain[1] not in NOT_ENDINGS:
            left = low[max(0, at - 64) : at]
            local = left[len(left.rstrip(PLAIN_LOCAL)) :].lstrip(".-+")
            start = at - len(local)
            # In JSON a line end is written `\n` and `<` may be `\u003c`, which would become part of the name.
            if start and text[start - 1] == "\\":
                cut = 5 if local.startswith("u00") else 1 if local[:1] in "nrt" else 0
                local, start = local[cut:], start + cut
            if text[start - 1 : start] != "$" and _is_person(local, low, start):
                yield Hit("email", start, domain.end())


def _is_person(local: str, low: str, start: int) -> bool:
    if (
        not local
        or local in IMPERSONAL
        or not local.strip("x")  # masked
        or "noreply" in local
        or "no-reply" in local
        or not any(c.isalpha() for c in local)
    ):
        return False
    before = low[max(0, start - 60) : start]
    line = before[before.rfind("\n") + 1 :]
    return not (
        line.lstrip("$ ").startswith(("ssh ", "scp ", "rsync ", "sftp ", "ssh-copy-id ")) or line.endswith("://")
    )


def find_numbers(text: str, low: str, places: list[int]) -> Iterator[Hit]:
    """Numbers of cards and accounts that begin about here, with a valid check digit."""
    reached = 0
    for at in places:
        if at < reached:
            continue
        reached = at + 4
        card = CARD.compiled.search(text, max(0, at - 1), at + 36)
        if card is not None and _is_card(card[0]):
            yield Hit("card", card.start(), card.end())
        yield from find_iban(text, at)


def _is_card(written: str) -> bool:
    digits = "".join(c for c in written if c.isdigit())
    return len(set(digits)) > 1 and _in_range(digits) and _luhn(digits)


def _in_range(digits: str) -> bool:
    # One number in ten has a valid check digit, so the ranges of the networks must fit too.
    n, two, four = len(digits), int(digits[:2]), int(digits[:4])
    if digits[0] == "4":
        return n in (16, 19)
    if n == 15:
        return two in (34, 37)
    if n == 14:
        return two in (36, 38)
    return n == 16 and (
        51 <= two <= 55 or 2221 <= four <= 2720 or four == 6011 or two in (65, 62) or 3528 <= four <= 3589
    )


def _luhn(digits: str) -> bool:
    total = 0
    for i, c in enumerate(reversed(digits)):
        n = int(c) * (2 if i % 2 else 1)
        total += n - 9 if n > 9 else n
    return total % 10 == 0


def find_iban(text: str, at: int) -> Iterator[Hit]:
    """The account number around this place, with valid check digits (IBAN, ISO 13616)."""
    match = IBAN.compiled.search(text, max(0, at - 24), at + 48)
    if match is None:
        return
    end = match.end()
    while end - match.start() >= 15:
        whole = text[match.start() : end].replace(" ", "")
        if 15 <= len(whole) <= 34 and int("".join(str(int(c, 36)) for c in whole[4:] + whole[:4])) % 97 == 1:
            yield Hit("iban", match.start(), end)
            return
        # The match may include a following upper-case word.
        cut = text.rfind(" ", match.start(), end)
        end = cut if cut > 0 else 0


def find_phones(text: str, low: str, places: list[int]) -> Iterator[Hit]:
    """The numbers behind labels for telephone numbers."""
    for at in places:
        match = PHONE.compiled.match(low, at)
        if match is not None and 7 <= sum(c.isdigit() for c in match[1]) <= 15:
            yield Hit("phone", match.start(1), match.end(1))
