"""The last check before an example is kept: why it must not be shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.redactor import Redactor, is_clean
from seasoned.template.admission.call import admit_call
from seasoned.template.admission.hostile import speaks_to_reader
from seasoned.template.admission.neutral import approves
from seasoned.template.anonymize.people import pair_of_names
from seasoned.template.anonymize.shape import is_hex, is_stand_in, looks_drawn
from seasoned.template.anonymize.word_lists import MAIL_HOSTS
from seasoned.template.example import INTENT_CHARS, RESULT_CHARS, Example

ARGUMENTS_CHARS = 2000
_TOOL = LazyRegex(r"[\w.:/-]{1,120}\Z")
_WORDS = LazyRegex(r"[A-Za-z0-9]{20,}")
_DIGEST_CHARS = 32
_MAIL = LazyRegex(r"[\w.+-]+@((?:[\w-]+\.)+[A-Za-z]{2,18})\b")
_PHONE = LazyRegex(
    r"(?<![\w.:/#-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{2,4}\)[ .-]?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w-])"
    r"|(?<![\w.])\+\d{9,15}(?!\d)"
)
_CUT = LazyRegex(r" … \[\d+ characters\]|\A…\Z")
_NOBODY = ("git", "noreply", "no-reply")
_decode = msgspec.json.Decoder(dict[str, Any]).decode


def unclean(example: Example, redactor: Redactor, *, project: str = "") -> str | None:
    """Why an example must be dropped: a secret, a person, an order to the reader, a call that may not be shown.

    None when it may stay. `project` is the one whose real names it shows, if it does.
    """
    if not _TOOL.compiled.match(example.tool):
        return "the tool's name is not plain"
    if len(example.arguments) > ARGUMENTS_CHARS:
        return "the arguments are too long"
    if len(example.result) > RESULT_CHARS or len(example.intent) > INTENT_CHARS:
        return "the result or the intent is too long"
    try:
        arguments = _decode(example.arguments)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeEncodeError, RecursionError):
        return "the arguments are not an object"
    names: list[str] = []
    values = list(_texts(arguments, names))
    shown = [example.tool, *names, *values, example.result, example.intent]
    # A tag in place of a value teaches a session to write tags.
    if any("[redacted:" in text for text in shown):
        return "something was redacted in it"
    if any(_CUT.compiled.search(value) for value in values):
        return "an argument was cut off"
    whole = "\n".join(shown)
    # Where nothing is escaped, the arguments as they are shown hold all of their values, each beside its name.
    texts = [example.tool, example.arguments, example.result, example.intent]
    if "\\" in example.arguments:
        texts.append(whole)
    if not is_clean(redactor, texts, names) and _has_secret(texts, arguments, redactor):
        return "it looks as if it held a secret"
    return _personal(whole) or _spoken(example, shown) or admit_call(example.tool, arguments, project=project).why


def _texts(value: Any, names: list[str]) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            names.append(name)
            yield from _texts(inner, names)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, names)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def _has_secret(texts: list[str], arguments: dict[str, Any], redactor: Redactor) -> bool:
    """Whether a value under a name such as `token` is a secret."""
    return bool(redactor.find("\n".join(texts)) or redactor.value(arguments) != arguments)


def _personal(whole: str) -> str | None:
    for word in _WORDS.compiled.findall(whole):
        bare = word.removeprefix("0x")
        is_digest = len(bare) >= _DIGEST_CHARS and is_hex(bare)
        if (is_digest or looks_drawn(bare)) and not is_stand_in(bare):
            return "it holds a word that looks drawn"
    for found in _MAIL.compiled.finditer(whole):
        local = found.group().partition("@")[0]
        if found.group(1).lower() not in MAIL_HOSTS and local not in _NOBODY:
            return "it holds an e-mail address"
    if pair_of_names(whole) is not None:
        return "it holds a name of a person"
    return "it holds a telephone number" if _PHONE.compiled.search(whole) else None


def _spoken(example: Example, shown: list[str]) -> str | None:
    # Checking all of it at once is quicker; only what that finds is looked for in each part.
    if speaks_to_reader(" ;\n".join(shown)) and any(speaks_to_reader(text) for text in shown):
        return "it speaks to the reader"
    if approves(example.intent):
        return "its intent gives leave"
    return None
