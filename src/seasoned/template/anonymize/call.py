"""Replaces paths, ids, hosts, digests, names and dates of one session by placeholders of the same shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Any

import msgspec

from seasoned.command.parse import Step, parse
from seasoned.lazy_regex import LazyRegex
from seasoned.template.admission.call import texts_in
from seasoned.template.admission.clean import shortened
from seasoned.template.admission.injection import holds_injection
from seasoned.template.anonymize.shape import PIECE, date_in_digits, day_of, like_uuid, other_day, replace_spoken_dates
from seasoned.template.anonymize.substitute import (
    ACCOUNT_NAMES,
    CODE,
    CODED_VALUE,
    CODES,
    COMMANDS,
    CONTENTS,
    DECIMAL,
    FAMILY_NAMES,
    FIRMS,
    HOST,
    INTRODUCED,
    IPV4,
    LETTERS,
    NO_SUBCOMMAND,
    PERSON,
    PLACE,
    POST,
    RANGE,
    SMALLEST_ID,
    SPAN,
    SUBCOMMAND,
    SUBSTITUTION,
    TWO_WORDS,
    UNIT,
    TextAnonymizer,
    has_long_number,
    is_coded,
    is_quantity,
    like_ip,
    whole_lines,
)
from seasoned.template.anonymize.words import (
    ANYONE,
    ENDINGS,
    EXTENSIONS,
    KEPT,
    STREETS,
    VAGUE_ENDINGS,
    Vocabulary,
    is_medium,
    is_name,
    is_public,
    pair_of_names,
    people_in,
)
from seasoned.template.example import INTENT_CHARS

# Shorter values would match inside other words; longer ones are hardly ever quoted.
WHOLE_FROM = 3
WHOLE_CHARS = 200
RANDOM_FROM = 12
# The day that Go uses to describe the format of dates.
GO_DATE = "20060102"
PIECES = LazyRegex(rf"{PIECE}|\d+|[^\W\d_]+")
_encode = msgspec.json.Encoder().encode


class CallAnonymizer(TextAnonymizer):
    """The placeholders of one example."""

    def __init__(self, vocabulary: Vocabulary, seed: str) -> None:
        super().__init__(vocabulary, seed)
        self._is_prose = False
        self._whole: dict[str, str] = {}
        self._days: dict[date, date] = {}

    def arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Anonymize the arguments of the call, and remember what each value became."""
        for name, value in _named_leaves(arguments):
            self.introduce(value, is_code=name in CODE or name in CONTENTS, is_command=name in COMMANDS)
        self._keep_programs(arguments)
        # Codes stay everywhere, unless they are also the name of a person in this call.
        for name, value in _named_leaves(arguments):
            if _holds_code(name, value) and (value.isupper() or value.lower() not in self.words):
                self._kept.add(value)
        before = len(self.words), len(self.ids)
        bound = self.pairs(arguments, is_top=True)
        if (len(self.words), len(self.ids)) != before and self._stands_elsewhere(bound, before):
            # A value that was found late may also occur before it was known.
            bound = self.pairs(arguments, is_top=True)
        self._remember(arguments, bound)
        return bound

    def _stands_elsewhere(self, bound: dict[str, Any], before: tuple[int, int]) -> bool:
        """Whether a value that was found late still occurs in the arguments."""
        late = {*list(self.words)[before[0] :], *list(self.ids)[before[1] :]}
        return any(piece.lower() in late for leaf in texts_in(bound) for piece in PIECES.compiled.findall(leaf))

    def _remember(self, value: Any, bound: Any) -> None:
        """Remember whole values and their placeholders, for the words about the call."""
        if isinstance(value, str):
            if value != bound and WHOLE_FROM <= len(value) <= WHOLE_CHARS:
                self._whole[value] = bound
        elif isinstance(value, dict):
            for one, other in zip(value.values(), bound.values(), strict=False):
                self._remember(one, other)
        elif isinstance(value, list | tuple):
            for one, other in zip(value, bound, strict=False):
                self._remember(one, other)

    def _keep_programs(self, arguments: dict[str, Any]) -> None:
        """Keep the names of programs everywhere in a command, so that it still runs the same ones."""
        for name in (*COMMANDS, *CODES):
            value = arguments.get(name)
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, str) and not (name in CODES and "\n" in text):
                    self._keep(parse(text))

    def _keep(self, steps: tuple[Step, ...]) -> None:
        for step in steps:
            self._kept.add(step.program)
            is_value = step.program in NO_SUBCOMMAND or step.sub in self.words or self.is_person(step.sub)
            if not is_value and SUBCOMMAND.compiled.match(step.sub):
                self._kept.add(step.sub)

    def introduce(self, text: str, *, is_code: bool = False, is_command: bool = False) -> None:
        """Register the people and firms that a text names."""
        for found in INTRODUCED.compiled.finditer(text):
            given, family = found.groups()
            if given.lower() not in KEPT:
                self.word(given, "given")
                if family and family.lower() not in KEPT:
                    self.word(family, "family")
        for word, kind in people_in(text, is_code=is_code, is_command=is_command):
            self.word(word, kind)

    def pairs(self, value: dict[str, Any], *, is_top: bool = False) -> dict[str, Any]:
        """Anonymize an object; its keys stay, except those that are ids."""
        return {
            (name if is_top or not has_long_number(name) else self.text(name)): self.value(inner, name)
            for name, inner in value.items()
        }

    def value(self, value: Any, name: str = "") -> Any:
        """Anonymize any JSON value; the name of its argument says what kind of value it is."""
        if isinstance(value, str):
            return self._named(name, value)
        if isinstance(value, dict):
            return self.pairs(value)
        if isinstance(value, list | tuple):
            return [self.value(item, name) for item in value]
        if isinstance(value, int) and not isinstance(value, bool):
            # Small and round numbers are counts and limits; a placeholder there would change what the call does.
            if (abs(value) < SMALLEST_ID and str(value) not in self.ids) or value % 1000 == 0 or is_quantity(name):
                return value
            return int(self.number(str(abs(value)))) * (1 if value > 0 else -1)
        return value

    def answer(self, text: str) -> str:
        """Anonymize a result; JSON by its structure, so that keys count there too."""
        if text[:1] in ("{", "["):
            try:
                return _encode(self.value(msgspec.json.decode(text))).decode("utf-8", "replace")
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
                pass
        return self.prose(text)

    def prose(self, text: str) -> str:
        """Anonymize prose: first the whole values of the arguments, then the rest."""
        self._is_prose = True
        there = sorted([value for value in self._whole if value in text], key=len, reverse=True)
        if not there:
            return self._said(text)
        # Only if the value stands alone: not inside a longer path, address or word.
        wholes = re.compile(rf"(?<![\w/@#.-])({'|'.join(map(re.escape, there))})(?![\w@-]|[/.]\w)")
        parts = enumerate(wholes.split(text))
        return "".join([self._whole[part] if at % 2 else self._said(part) for at, part in parts])

    def _said(self, text: str) -> str:
        """Anonymize prose, including dates written in words."""
        return self.text(replace_spoken_dates(text, self._days))

    def text(self, text: str) -> str:
        """A text with placeholders for what is found in it."""
        return SPAN.compiled.sub(self._span, text)

    def _named(self, name: str, value: str) -> str:
        if _holds_code(name, value):
            return value
        if value in self._whole:
            return self._whole[value]
        if name in CONTENTS and value.endswith(" characters]"):
            value = whole_lines(value)
        if PERSON.compiled.match(name) and len(value) <= 60 and "[" not in value:
            first = "family" if name in FAMILY_NAMES else "given"
            return value if value.lower() in ANYONE else self.person(value, first)
        if name in ACCOUNT_NAMES and value.isalpha() and value.lower() not in KEPT and value.lower() not in ANYONE:
            return self.word(value, "given")
        if name in FIRMS and len(value) <= 60 and value[:1].isupper():
            return LETTERS.compiled.sub(lambda found: self._street(found.group()), self.text(value))
        if PLACE.compiled.match(name):
            return LETTERS.compiled.sub(lambda found: self._street(found.group()), self.with_other_digits(value))
        if POST.compiled.match(name):
            return self.with_other_digits(value)
        if is_quantity(name) and value.isdigit():
            return value
        self._is_prose = " " in value and name not in COMMANDS
        return self.text(value)

    def _street(self, word: str) -> str:
        return word if word.lower() in STREETS or word.lower() in KEPT else self.word(word)

    def _span(self, found: re.Match[str]) -> str:
        kind, text = found.lastgroup, found.group()
        if text in self._kept:
            return text
        if kind == "token":
            if len(text) < RANDOM_FROM and text.islower() and text.isalpha() and text not in self.words:
                return text
            return self._token(text, found)
        if kind == "tag":
            return self.address(text) if found.group("tag") == "email" else text
        if kind == "url":
            return self._url(text)
        if kind == "windows":
            return self._path(text, "\\")
        if kind == "uuid":
            return self.id(text, like_uuid)
        # The last group of a date is the separator of its parts.
        if "".join([c for c in text if c.isdigit()]) == GO_DATE:
            return text
        order = "ymd" if found.group("ymd") else "dmy"
        day = day_of(text, order)
        if day is None:
            return text
        return date_in_digits(self._days.setdefault(day, other_day(day, self.seed)), text, order)

    def _token(self, text: str, found: re.Match[str]) -> str:
        # A closing tag such as `</div>`, not a path.
        if text[0] == "/" and found.start() and found.string[found.start() - 1] == "<":
            return text
        body = text.rstrip(".")
        after = text[len(body) :]
        if ".." in body and RANGE.compiled.search(body):
            # Every second part is the dots between two revisions.
            parts = RANGE.compiled.split(body)
            return "".join([part if at % 2 else self._piece(part) for at, part in enumerate(parts)]) + after
        if body[:1] == "-":
            option, slash, rest = body.partition("/")
            return option + (self._path(slash + rest, "/") if slash else "") + after
        if not body.isalnum() and ("/" in body or "@" in body[1:] or "." in body):
            is_called = found.string[found.end() : found.end() + 1] == "("
            return self._piece(body, is_called=is_called) + after
        # A port or a line number.
        if body.isdigit() and found.string[found.start() - 1 : found.start()] == ":":
            return text
        if body.isdigit() and (body.endswith("000") or UNIT.compiled.match(found.string, found.end())):
            return text
        return self._plain(body) + after

    def _piece(self, text: str, *, is_called: bool = False) -> str:
        """A path, an address, a file, a host, or a word."""
        if "/" in text:
            return self._slashed(text)
        if "@" in text[1:]:
            return self._mailbox(text)
        if "." in text:
            return self._dotted(text, is_called=is_called)
        return self._plain(text)

    def _slashed(self, text: str) -> str:
        """A path; but `loading/saving` in a sentence is two words, and `s/a/b/` is a command."""
        if SUBSTITUTION.compiled.match(text) or is_medium(text):
            return text
        if self._is_prose and TWO_WORDS.compiled.match(text):
            return "/".join(
                [self.word(word) if is_name(word.lower()) else self._plain(word) for word in text.split("/")]
            )
        return self._path(text, "/")

    def _dotted(self, text: str, *, is_called: bool = False) -> str:
        """A file, a host, a number, or names in code that are joined by dots."""
        if DECIMAL.compiled.match(text):
            return self.id(text, like_ip) if IPV4.compiled.match(text) else text
        extension = text.rpartition(".")[2].lower()
        if extension in EXTENSIONS and not text.startswith(("self.", "this.", "os.", "process.")):
            return self._segment(text)
        host = HOST.compiled.match(text)
        if host is not None and not is_called and text.lower() == text and _ends_as_host(text, host.group(1)):
            return self._host(text)
        return ".".join([self._plain(part) for part in text.split(".")])

    def _url(self, text: str) -> str:
        scheme, _, rest = text.partition("://")
        place, slash, path = rest.partition("/")
        if scheme == "file":
            return f"file://{self._path(rest, '/')}"
        login, at, host = place.rpartition("@")
        host, colon, port = host.partition(":")
        path, question, query = path.partition("?")
        done = f"{scheme}://{self._login(login) if login else ''}{at}{self._host(host)}{colon}{port}{slash}"
        # Dots, equal signs and the like keep a query's parts apart; each part is a token.
        return f"{done}{self._path(path, '/')}{question}{self.text(query) if query else ''}"


def _holds_code(name: str, value: str) -> bool:
    """Whether a value is one of a fixed set, judged by the name of its argument and by how it is written."""
    return (
        is_coded(name)
        and CODED_VALUE.compiled.match(value) is not None
        and not has_long_number(value)
        and pair_of_names(value) is None
    )


def _ends_as_host(text: str, ending: str) -> bool:
    """Whether a name with dots is a host: names in code end with words, too."""
    return ending in ENDINGS and (ending not in VAGUE_ENDINGS or text.count(".") > 1 or is_public(text))


def names_people(arguments: dict[str, Any], *said: str) -> bool:
    """Whether a call, or what was said about it, names a person. Such a call is never shown as written."""
    if any(kind for text in said for _, kind in people_in(text)) or any(
        INTRODUCED.compiled.search(one) for one in said
    ):
        return True
    return any(_is_personal(name, value) for name, value in _named_leaves(arguments))


def _is_personal(name: str, value: str) -> bool:
    low = value.lower()
    if low in ANYONE or low in KEPT:
        return False
    if PERSON.compiled.match(name) or PLACE.compiled.match(name) or POST.compiled.match(name):
        return True
    # An owner or a user may also be a firm, a team or a machine.
    if name in ACCOUNT_NAMES and is_name(low):
        return True
    found = people_in(value, is_code=name in CODE or name in CONTENTS, is_command=name in COMMANDS)
    return any(kind for _, kind in found)


def _named_leaves(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a value, with the name of the argument or key that holds it."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for inner_name, inner in value.items():
            yield from _named_leaves(inner, inner_name)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _named_leaves(item, name)


class AnonymizedCall(msgspec.Struct, frozen=True):
    """What is shown of a call, with placeholders for what belonged to one session."""

    arguments: dict[str, Any]
    result: str
    intent: str


def anonymize(
    arguments: dict[str, Any], result: str, intent: str, *, vocabulary: Vocabulary, seed: str
) -> AnonymizedCall:
    """The call with placeholders: the same for the same value, and for the same seed in every process."""
    if holds_injection(arguments):
        # Placeholders could hide the injection from the check that drops it.
        return AnonymizedCall(arguments, result, intent)
    anonymizer = CallAnonymizer(vocabulary, seed)
    anonymizer.introduce(intent)
    bound = anonymizer.arguments(arguments)
    return AnonymizedCall(
        bound, anonymizer.answer(result), shortened(anonymizer.prose(intent), max(len(intent), INTENT_CHARS))
    )
