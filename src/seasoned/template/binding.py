"""The stand-ins of one example: what each path, id, host, name and date in it becomes."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from seasoned.outcome.command import Step, parse
from seasoned.template.shape import (
    Draw,
    is_hex,
    like_case,
    like_date,
    like_drawn,
    like_figures,
    like_hex,
    like_uuid,
    looks_drawn,
)
from seasoned.template.span import (
    CODES,
    COMMANDS,
    CONTENTS,
    DECIMAL,
    FAMILY_NAMES,
    FIGURES,
    HOST,
    ID_FIGURES,
    INTRODUCED,
    IPV4,
    LETTERS,
    LONG_FROM,
    NORM,
    PARTS,
    PARTS_OF_WORDS,
    PERSON,
    PLACE,
    POOLS,
    POST,
    SMALLEST_ID,
    SOMEBODY,
    SPAN,
    SUBCOMMAND,
    SUBSTITUTION,
    TICKET,
    TWO_WORDS,
    UNIT,
    USER_ID,
    has_figures,
    is_manner,
    is_own,
    like_ip,
    whole_lines,
)
from seasoned.template.stand_in import (
    ANYONE,
    ENDINGS,
    EXTENSIONS,
    HOST_LABELS,
    KEPT,
    KNOWN_HOSTS,
    MAIL_HOSTS,
    MAILBOXES,
    STREETS,
)
from seasoned.template.vocabulary import Vocabulary

_encode = msgspec.json.Encoder().encode


class Binding:
    """The stand-ins of one example."""

    def __init__(self, vocabulary: Vocabulary, seed: str) -> None:
        self.vocabulary = vocabulary
        self.seed = seed
        self._is_prose = False
        self._kept: set[str] = set()
        self._words: dict[str, str] = {}
        self._used: set[str] = set()
        self._ids: dict[str, str] = {}
        self._mail: dict[str, str] = {}

    @property
    def met(self) -> int:
        """How many words have a stand-in."""
        return len(self._words)

    def keep_programs(self, arguments: dict[str, Any]) -> None:
        """A command must run the same programs: their names stay, wherever else they stand in it."""
        for name in (*COMMANDS, *CODES):
            value = arguments.get(name)
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, str) and not (name in CODES and "\n" in text):
                    self._keep(parse(text))

    def _keep(self, steps: tuple[Step, ...]) -> None:
        for step in steps:
            self._kept.add(step.program)
            if SUBCOMMAND.compiled.match(step.sub):
                self._kept.add(step.sub)

    def introduce(self, text: str) -> None:
        """People who say their name."""
        for found in INTRODUCED.compiled.finditer(text):
            given, family = found.groups()
            if given.lower() not in KEPT:
                self._word(given, "given")
                if family and family.lower() not in KEPT:
                    self._word(family, "family")

    def pairs(self, value: dict[str, Any], *, is_top: bool = False) -> dict[str, Any]:
        """An object; names stay, except those that are ids themselves."""
        return {
            (name if is_top or not has_figures(name) else self.text(name)): self.value(inner, name)
            for name, inner in value.items()
        }

    def value(self, value: Any, name: str = "") -> Any:
        """Any JSON value, by the name that it is given under."""
        if isinstance(value, str):
            return self._named(name, value)
        if isinstance(value, dict):
            return self.pairs(value)
        if isinstance(value, list | tuple):
            return [self.value(item, name) for item in value]
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= SMALLEST_ID:
            if value % 1000 == 0 or is_manner(name):
                return value
            return int(self._figures(str(abs(value)))) * (1 if value > 0 else -1)
        return value

    def answer(self, text: str) -> str:
        """A result: JSON by its structure, so that names of values count there too."""
        if text[:1] in ("{", "["):
            try:
                return _encode(self.value(msgspec.json.decode(text))).decode("utf-8", "replace")
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
                pass
        return self.prose(text)

    def prose(self, text: str) -> str:
        """What somebody said."""
        self._is_prose = True
        return self.text(text)

    def text(self, text: str) -> str:
        """A text with stand-ins for what is found in it."""
        return SPAN.compiled.sub(self._span, text)

    def _named(self, name: str, value: str) -> str:
        if name in CONTENTS and value.endswith(" characters]"):
            value = whole_lines(value)
        if PERSON.compiled.match(name) and len(value) <= 60 and "[" not in value:
            first = "family" if name in FAMILY_NAMES else "given"
            return value if value.lower() in ANYONE else self._person(value, first)
        if name in SOMEBODY and value.isalpha() and value.lower() not in KEPT and value.lower() not in ANYONE:
            return self._word(value, "given")
        if PLACE.compiled.match(name):
            return LETTERS.compiled.sub(lambda found: self._street(found.group()), self._numbered(value))
        if POST.compiled.match(name):
            return self._numbered(value)
        if is_manner(name) and value.isdigit():
            return value
        self._is_prose = " " in value and name not in COMMANDS
        return self.text(value)

    def _person(self, value: str, first: str) -> str:
        """A name of one or several words: the first is a given name unless only the family's was asked for."""
        words = iter([first] if first == "family" else ["given"])
        return LETTERS.compiled.sub(
            lambda found: self._word(found.group(), next(words, "family")), self._numbered(value)
        )

    def _numbered(self, value: str) -> str:
        return FIGURES.compiled.sub(lambda found: self._figures(found.group()), value)

    def _street(self, word: str) -> str:
        return word if word.lower() in STREETS or word.lower() in KEPT else self._word(word)

    def _span(self, found: re.Match[str]) -> str:
        kind, text = found.lastgroup, found.group()
        if text in self._kept:
            return text
        if kind == "token":
            return self._token(text, found)
        if kind == "tag":
            return self._address(text) if found.group("tag") == "email" else text
        if kind == "url":
            return self._url(text)
        if kind == "windows":
            return self._path(text, "\\")
        if kind == "uuid":
            return self._id(text, like_uuid)
        # The last group of a date is what stands between its parts.
        order = "ymd" if found.group("ymd") else "dmy"
        known = self._ids.get(text)
        if known is None:
            known = self._ids[text] = like_date(text, order, Draw(self.seed, text))
        return known

    def _token(self, text: str, found: re.Match[str]) -> str:
        if text[0] == "/" and found.start() and found.string[found.start() - 1] == "<":
            return text
        body = text.rstrip(".")
        after = text[len(body) :]
        if body[:1] == "-":
            option, slash, rest = body.partition("/")
            return option + (self._path(slash + rest, "/") if slash else "") + after
        if "/" in body:
            return self._slashed(body) + after
        if "@" in body[1:]:
            local, _, host = body.rpartition("@")
            return (f"{local}@{self._host(host)}" if "." in host else self._parts(body)) + after
        if "." in body:
            return self._dotted(body) + after
        if body.isdigit() and found.string[found.start() - 1 : found.start()] == ":":
            return text
        if body.isdigit() and (body.endswith("000") or UNIT.compiled.match(found.string, found.end())):
            return text
        return self._plain(body) + after

    def _slashed(self, text: str) -> str:
        """A path; but `loading/saving` in a sentence is two words, and `s/a/b/` a command of its own."""
        if SUBSTITUTION.compiled.match(text):
            return text
        if self._is_prose and TWO_WORDS.compiled.match(text):
            return "/".join([self._plain(word) for word in text.split("/")])
        return self._path(text, "/")

    def _dotted(self, text: str) -> str:
        """A file, a host, a number, or names in code that are joined by dots."""
        if DECIMAL.compiled.match(text):
            return self._id(text, like_ip) if IPV4.compiled.match(text) else text
        extension = text.rpartition(".")[2].lower()
        if extension in EXTENSIONS and not text.startswith(("self.", "this.", "os.", "process.")):
            return self._segment(text)
        host = HOST.compiled.match(text)
        if host is not None and host.group(1).lower() in ENDINGS and text.lower() == text:
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
        done = f"{scheme}://{self._plain(login) if login else ''}{at}{self._host(host)}{colon}{port}{slash}"
        # Dots, equal signs and the like keep a query's parts apart; each part is a token of its own.
        return f"{done}{self._path(path, '/')}{question}{self.text(query) if query else ''}"

    def _host(self, host: str) -> str:
        low = host.lower()
        if low in KNOWN_HOSTS or IPV4.compiled.match(host):
            return self._id(host, like_ip) if IPV4.compiled.match(host) else host
        if self.vocabulary.recurs(host) or "." not in host:
            return host
        labels = host.split(".")
        done = [label if label.lower() in HOST_LABELS else self._parts(label) for label in labels[:-1]]
        return ".".join([*done, labels[-1]])

    def _path(self, text: str, gap: str) -> str:
        segments = text.split(gap)
        done = []
        for at, segment in enumerate(segments):
            before = segments[at - 1] if at else ""
            if before in ("home", "Users") and at > 1 and segments[at - 2] in ("", "C:", "c:", "export"):
                done.append(segment if segment.lower() in ANYONE else self._person(segment, "given"))
            else:
                done.append(self._segment(segment))
        return gap.join(done)

    def _segment(self, text: str) -> str:
        """One part of a path; the last one with its extension."""
        if not text or text in self._kept or text[0] in "$~*" or "*" in text:
            return text
        if text[0] == "." and not is_own(text):
            return text
        if self.vocabulary.is_account(text):
            return self._person(text, "given")
        if (text.lower() in KEPT or self.vocabulary.recurs(text)) and not is_own(text):
            return text
        stem, point, extension = text.rpartition(".")
        if point and stem and len(extension) <= 8 and extension.isalnum() and not extension.isdigit():
            return f"{self._parts(stem)}.{extension}"
        return self._parts(text)

    def _parts(self, text: str) -> str:
        """Words, figures and digests of a name; words that recur stay, those of one session are replaced."""
        if (user := USER_ID.compiled.match(text)) is not None and not self._says_kind(user.group(1)):
            return self._plain(text)
        return PARTS.compiled.sub(self._part, text)

    def _part(self, found: re.Match[str]) -> str:
        kind, text = found.lastgroup, found.group()
        if kind == "hex":
            return f"0x{self._id(text[2:], like_hex)}" if text[:2] == "0x" else self._id(text, like_hex)
        if kind == "figures":
            return self._figures(text) if len(text) >= ID_FIGURES else text
        if kind == "drawn":
            if looks_drawn(text):
                return self._id(text, like_drawn)
            return PARTS_OF_WORDS.compiled.sub(self._part, text)
        low = text.lower()
        if low in self._words:
            return like_case(self._words[low], text)
        if len(text) < 3 or low in KEPT or text in self._kept or self._is_known(text, low):
            return text
        return self._word(text)

    def _is_known(self, text: str, low: str) -> bool:
        return (self.vocabulary.recurs(text) or self.vocabulary.recurs(low)) and not self.vocabulary.is_person(low)

    def _says_kind(self, prefix: str) -> bool:
        """Whether the front of an id says what it is an id of, as `credit_card_` does."""
        return self.vocabulary.is_prefix(prefix) or all(
            word.lower() in KEPT for word in LETTERS.compiled.findall(prefix)
        )

    def _plain(self, text: str) -> str:
        """A word outside of paths: only what was met as a value is replaced, and what is an id."""
        if text in self._kept:
            return text
        low = text.lower()
        known = self._words.get(low)
        if known is not None and (text == low or text.isupper() or text.istitle()):
            return like_case(known, text)
        if text.isalpha():
            if known is not None:
                return PARTS_OF_WORDS.compiled.sub(lambda found: self._word(found.group()), text)
            if text[0].isupper() and self.vocabulary.is_person(low) and low not in KEPT:
                return self._word(text, "given")
            return self._id(text, like_drawn) if looks_drawn(text) else text
        if is_hex(text):
            return self._id(text, like_hex)
        if (ticket := TICKET.compiled.match(text)) is not None:
            return text if ticket.group(1)[:-1] in NORM else ticket.group(1) + self._figures(ticket.group(2))
        if (user := USER_ID.compiled.match(text)) is not None and (
            len(user.group(2)) >= 4 or self.vocabulary.is_prefix(user.group(1))
        ):
            prefix = user.group(1)
            if not self._says_kind(prefix):
                prefix = self._person(prefix, "given")
            return prefix + self._figures(user.group(2))
        return PARTS.compiled.sub(self._met, text)

    def _met(self, found: re.Match[str]) -> str:
        kind, text = found.lastgroup, found.group()
        if kind == "drawn" and not looks_drawn(text):
            return PARTS_OF_WORDS.compiled.sub(self._met, text)
        if kind != "piece":
            return self._part(found)
        known = self._words.get(text.lower())
        return text if known is None or text in self._kept else like_case(known, text)

    def _word(self, text: str, kind: str = "") -> str:
        """The stand-in of a word, in its case; another word has another one."""
        low = text.lower()
        known = self._words.get(low)
        if known is None:
            pool = POOLS[kind or ("long" if len(text) >= LONG_FROM else "short")]
            at = Draw(self.seed, low).below(len(pool))
            # Two words never share a stand-in while the pool lasts, and none stands for itself.
            for step in range(len(pool)):
                known = pool[(at + step) % len(pool)]
                if known not in self._used and known != low:
                    break
            assert known is not None
            self._words[low] = known
            self._used.add(known)
        return like_case(known, text)

    def _figures(self, text: str) -> str:
        return self._id(text, like_figures)

    def _id(self, text: str, like: Any) -> str:
        known = self._ids.get(text)
        if known is None:
            known = self._ids[text] = like(text, Draw(self.seed, text))
        return str(known)

    def _address(self, tag: str) -> str:
        """An e-mail address that reaches nobody, in the place of one that was redacted."""
        known = self._mail.get(tag)
        if known is None:
            at = Draw(self.seed, tag).below(len(MAILBOXES) * len(MAIL_HOSTS)) + len(self._mail)
            box, host = MAILBOXES[at % len(MAILBOXES)], MAIL_HOSTS[at // len(MAILBOXES) % len(MAIL_HOSTS)]
            known = self._mail[tag] = f"{box}@{host}"
        return known
