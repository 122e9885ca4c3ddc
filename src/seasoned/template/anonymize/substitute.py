"""Placeholders for the words, numbers and addresses of one example, the same everywhere in it."""

from __future__ import annotations

import re
from collections.abc import Callable

from seasoned.command.parse import names
from seasoned.lazy_regex import LazyRegex
from seasoned.template.anonymize.shape import (
    HEX,
    PIECE,
    UUID,
    SeededDraw,
    is_hex,
    like_case,
    like_digits,
    like_hex,
    like_random,
    looks_random,
)
from seasoned.template.anonymize.words import (
    ANYONE,
    ENDINGS,
    EXTENSIONS,
    FAMILY,
    GIVEN,
    HOST_LABELS,
    KEPT,
    LONG,
    MAIL_HOSTS,
    MAILBOXES,
    MODULE_HOSTS,
    PERSON_NAMES,
    PUBLISHED,
    RUN_FROM,
    SHORT,
    VAGUE_ENDINGS,
    Vocabulary,
    is_name,
    is_public,
    system_depth,
)

POOLS = {"short": SHORT, "long": LONG, "given": GIVEN, "family": FAMILY}
LONG_FROM = 7
# Numbers with this many digits are ids; shorter ones are lines, limits and counts.
ID_DIGITS = 5
# If the name of an argument says that its numbers are personal, as in an address, shorter ones are replaced too.
SHORTEST_NUMBER = 3
# Codes of countries, currencies and airports have at most this many letters.
CODE_LETTERS = 3
SMALLEST_ID = 10 ** (ID_DIGITS - 1)
SPAN = LazyRegex(
    r"\[redacted:(?P<tag>[a-z0-9\-]{1,32}):[0-9a-f]{8}\]"
    r"|(?P<url>\b[a-zA-Z][a-zA-Z0-9+.]{1,15}://[^\s'\"`<>()\[\]{}|\\,;]+)"
    rf"|(?<![0-9A-Za-z])(?P<uuid>{UUID})(?![0-9A-Za-z])"
    r"|(?<![\d.])(?P<ymd>(?:19|20)\d\d(?P<gap>[-/.]?)(?:0[1-9]|1[0-2])(?P=gap)(?:0[1-9]|[12]\d|3[01]))(?![\d])"
    r"|(?<![\d.])(?P<dmy>(?:0[1-9]|[12]\d|3[01])(?P<point>[-/.])(?:0[1-9]|1[0-2])(?P=point)(?:19|20)\d\d)(?!\d)"
    r"|(?P<windows>\b[A-Za-z]:\\[\w\\.\-]+)"
    r"|(?P<token>[\w.@~$*/\-]+)"
)
PARTS = LazyRegex(
    rf"(?P<hex>(?<![0-9A-Za-z])(?:0x)?{HEX})|(?P<drawn>[A-Za-z0-9]{{12,}})|(?P<figures>\d+)|(?P<piece>{PIECE})"
)
LETTERS = LazyRegex(r"[^\W\d_]{2,}")
DIGITS = LazyRegex(r"\d+")
DECIMAL = LazyRegex(r"-?\d*(?:\.\d+)+\Z")
UNIT = LazyRegex(r" ?(?:ms|s|m|h|bytes?|[kKMGT]i?B|tokens?|lines?|char(?:acter)?s?|px|%|seconds?|minutes?)\b")
USER_ID = LazyRegex(r"([A-Za-z]+(?:[_-][A-Za-z]+)*[_-])(\d{3,})\Z")
TICKET = LazyRegex(r"([A-Z]{2,8}-)(\d{2,6})\Z")
NORM = names("UTF SHA ISO RFC GPT MD HTTP TLS IPV AES ES BASE X CP UTC GMT")
IPV4 = LazyRegex(r"\d{1,3}(?:\.\d{1,3}){3}\Z")
HOST = LazyRegex(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.([A-Za-z]{2,12})\Z")
TWO_WORDS = LazyRegex(r"[A-Za-z][a-z]+/[A-Za-z][a-z]+\Z")
SUBSTITUTION = LazyRegex(r"[sy]/.*/[gimp\d]*\Z")
INTRODUCED = LazyRegex(
    r"\b(?:(?:I['’]m|I am) (?=[A-Z][a-z]+ [A-Z])|[Mm]y name is |[Nn]ame['’]s )([A-Z][\w'’-]+)(?: ([A-Z][\w'’-]+))?"
)
PERSON = LazyRegex(rf"{PERSON_NAMES}\Z")
PLACE = LazyRegex(r"(?:street_?)?address(?:_?line)?_?\d?\Z|street\Z|line[12]\Z", re.IGNORECASE)
POST = LazyRegex(r"(?:zip|postal|post)_?(?:code)?\Z|last_?four\Z|phone\w*\Z", re.IGNORECASE)
QUANTITIES = names(
    "limit offset timeout max min count size line lines ms seconds minutes tokens width height depth port price amount"
    " budget total page top head tail yield delay interval percent seed temperature balance start end length chars"
)
IDS = names("id ids number key uuid")
# Names of arguments whose values come from a fixed set. Many codes and places are also names of people.
CODED = names(
    "country countries nationality currency currencies state province region market continent locale language lang"
    " airport origin destination station terminal carrier airline exchange ticker symbol unit units status type kind"
    " category class mode level priority severity format action operation method month weekday day season zone timezone"
    " cabin color colour size gender reason channel plan tier scope role iso abbreviation"
)
_SPELLED = names("code codes name iso type short")
CODED_VALUE = LazyRegex(r"[A-Za-z][A-Za-z0-9]{0,19}(?:[ _-][A-Za-z0-9]{1,15}){0,2}\Z")
NAME_PIECES = LazyRegex(PIECE)
FAMILY_NAMES = names("last_name lastName family_name familyName surname")
# Names of arguments whose values are often, but not always, names of people.
ACCOUNT_NAMES = names("user login recipient attendee reviewer sender owner username user_name")
# Names of arguments whose values are often names of firms.
FIRMS = names("customer client company company_name companyName organization organisation tenant vendor supplier")
# The dots between two revisions.
RANGE = LazyRegex(r"(?<=[^./])(\.{2,3})(?=[^./])")
COMMANDS = ("command", "cmd", "script", "commands", "CommandLine", "commandLine")
# Arguments that hold a command in one line, or else a patch or a program.
CODES = ("input", "code")
SUBCOMMAND = LazyRegex(r"[a-z][a-z-]{1,20}\Z")
# Arguments that hold code, in which quoted literals are values; contents of files do, too.
CODE = names("query sql statement patch diff expression") | {*COMMANDS, *CODES}
# Programs whose first argument is a value.
NO_SUBCOMMAND = names(
    "cd ls cat echo printf grep rg find psql mysql ssh scp su sudo chown mkdir touch cp mv rm less head tail python"
    " python3 node bash sh zsh source vim nano open code cut sort wc tee tree stat file export"
)
CUT = LazyRegex(r" … \[\d+ characters\]\Z")
CONTENTS = names("content contents file_text new_string old_string new_str old_str file_content text body description")
PARTS_OF_WORDS = LazyRegex(rf"(?P<figures>\d+)|(?P<piece>{PIECE})")


def is_own(text: str) -> bool:
    """Whether a part is an id: it is replaced even if it recurs."""
    return has_long_number(text) or is_hex(text) or looks_random(text)


def has_long_number(text: str) -> bool:
    return any(len(run) >= ID_DIGITS for run in DIGITS.compiled.findall(text))


def is_quantity(name: str) -> bool:
    """Whether an argument's name says how much, how long or where, so that its number is not an id."""
    pieces = [piece.lower() for piece in NAME_PIECES.compiled.findall(name)]
    return bool(pieces) and pieces[-1] not in IDS and not QUANTITIES.isdisjoint(pieces)


def is_coded(name: str) -> bool:
    """Whether an argument's name says that its value is a code, a unit or a fixed word: `country_code`, `currency`."""
    pieces = [piece.lower() for piece in NAME_PIECES.compiled.findall(name)]
    if len(pieces) > 1 and pieces[-1] in _SPELLED:
        pieces.pop()
    return bool(pieces) and (pieces[-1] in CODED or name.lower() in ("code", "codes"))


def like_ip(text: str, draw: SeededDraw) -> str:
    """Another address in the same network, with as many digits in every part; reserved addresses stay."""
    parts = text.split(".")
    if text.startswith(("127.", "0.", "255.", "192.0.2.")) or any(int(part) > 255 for part in parts):
        return text
    keep = 2 if text.startswith(("192.168.", "172.")) else 1
    return ".".join([*parts[:keep], *[_octet(part, draw) for part in parts[keep:]]])


def _octet(text: str, draw: SeededDraw) -> str:
    low, high = {1: (0, 9), 2: (10, 99), 3: (100, 254)}[len(text)]
    return str(low + draw.below(high - low + 1)) if text[0] != "0" else text


def whole_lines(text: str) -> str:
    """A text that was cut for the store, up to the end of its last whole line; structured text stays cut."""
    if text.lstrip()[:1] in ("{", "[", "<", "*"):
        return text
    kept = CUT.compiled.sub("", text)
    return kept[: kept.rfind("\n") + 1] or kept.rpartition(" ")[0]


class Substitutes:
    """Gives every value a placeholder, and remembers it."""

    def __init__(self, vocabulary: Vocabulary, seed: str) -> None:
        self.vocabulary = vocabulary
        self.seed = seed
        self.words: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        self.padded: set[str] = set()  # numbers that were met with leading zeros
        self._used: set[str] = set()
        self._mail: dict[str, str] = {}

    def word(self, text: str, kind: str = "") -> str:
        """The placeholder of a word, in the same case; no two words share one."""
        low = text.lower()
        known = self.words.get(low)
        if known is None:
            pool = POOLS[kind or ("long" if len(text) >= LONG_FROM else "short")]
            at = SeededDraw(self.seed, low).below(len(pool))
            # Two words never share a placeholder while the pool lasts, and no word is its own placeholder.
            for step in range(len(pool)):
                known = pool[(at + step) % len(pool)]
                if known not in self._used and known != low:
                    break
            assert known is not None
            self.words[low] = known
            self._used.add(known)
        return like_case(known, text)

    def person(self, value: str, first: str = "given") -> str:
        """A person's name: the first word becomes a given name, unless `first` says otherwise."""
        kinds = iter([first])
        return LETTERS.compiled.sub(
            lambda found: self.word(found.group(), next(kinds, "family")), self.with_other_digits(value)
        )

    def account(self, value: str) -> str:
        """A person's login; shared accounts stay."""
        low = value.lower()
        return value if low in ANYONE or low in KEPT else self.person(value)

    def with_other_digits(self, value: str) -> str:
        """The value with other digits; numbers of one or two digits stay."""
        return DIGITS.compiled.sub(
            lambda found: self.number(found.group()) if len(found.group()) >= SHORTEST_NUMBER else found.group(),
            value,
        )

    def number(self, text: str) -> str:
        """As many other digits. A number is the same with and without leading zeros: parcel 8 is `GX-000008`."""
        bare = text.lstrip("0")
        if not bare:
            return text
        if bare != text:
            self.padded.add(bare)
        return text[: -len(bare)] + self.id(bare, like_digits)

    def id(self, text: str, like: Callable[[str, SeededDraw], str]) -> str:
        """The placeholder of an id."""
        known = self.ids.get(text)
        if known is None:
            known = self.ids[text] = like(text, SeededDraw(self.seed, text))
        return known

    def address(self, tag: str) -> str:
        """An e-mail address at a documentation host, for one that was redacted."""
        known = self._mail.get(tag)
        if known is None:
            at = SeededDraw(self.seed, tag).below(len(MAILBOXES) * len(MAIL_HOSTS)) + len(self._mail)
            box, host = MAILBOXES[at % len(MAILBOXES)], MAIL_HOSTS[at // len(MAILBOXES) % len(MAIL_HOSTS)]
            known = self._mail[tag] = f"{box}@{host}"
        return known

    def is_person(self, low: str) -> bool:
        """Whether a word in lower case names a person: a session said so, or it is a common name."""
        return (is_name(low) or self.vocabulary.is_person(low)) and low not in KEPT


SHARED_LOGINS = ("git", "noreply", "no-reply")


class TextAnonymizer(Substitutes):
    """Replaces one word, host or path at a time."""

    def __init__(self, vocabulary: Vocabulary, seed: str) -> None:
        super().__init__(vocabulary, seed)
        self._kept: set[str] = set()

    def _mailbox(self, text: str) -> str:
        """`mona@build.acme.io`, or a package with its version."""
        local, _, host = text.rpartition("@")
        if "." not in host:
            return self._parts(text)
        is_host = IPV4.compiled.match(host) or HOST.compiled.match(host)
        return f"{self._login(local)}@{self._host(host)}" if is_host else text

    def _login(self, name: str) -> str:
        return name if name in SHARED_LOGINS else self.account(name)

    def _host(self, host: str) -> str:
        if IPV4.compiled.match(host):
            return self.id(host, like_ip)
        if "." not in host or is_public(host):
            return host
        labels = host.split(".")
        return ".".join(
            [*[label if label.lower() in HOST_LABELS else self._label(label) for label in labels[:-1]], labels[-1]]
        )

    def _label(self, text: str) -> str:
        """A part of a private host's name: it is replaced even if many lineages know it."""
        return PARTS.compiled.sub(
            lambda found: self._unless_kept(found) if found.lastgroup == "piece" else self._part(found), text
        )

    def _path(self, text: str, gap: str) -> str:
        segments = text.split(gap)
        depth = system_depth(segments)
        done = []
        is_published = False
        for at, segment in enumerate(segments):
            before = segments[at - 1] if at else ""
            # The folder of a person.
            if before in ("home", "Users") and at > 1 and segments[at - 2] in ("", "C:", "c:", "export"):
                done.append(segment if segment.lower() in ANYONE else self.person(segment))
            # Folders of the system and published packages keep their names.
            elif depth or is_published:
                done.append(segment if at < depth or before in RUN_FROM else self._common(segment))
            # Modules of Go begin with a host.
            elif (
                at < 2
                and (host := HOST.compiled.match(segment))
                and len(segments) > at + 1
                and self._is_host(segment, host)
            ):
                done.append(self._host(segment))
                is_published = segment.split(".")[-2] in MODULE_HOSTS
            else:
                done.append(self._segment(segment))
                is_published = segment in PUBLISHED
        return gap.join(done)

    def _is_host(self, text: str, found: re.Match[str]) -> bool:
        """Whether the front of a path is a host, as in the name of a module."""
        ending = found.group(1).lower()
        return is_public(text) or (ending in ENDINGS and ending not in EXTENSIONS and text.islower())

    def _common(self, text: str) -> str:
        """A part of a path that every machine has: only people, hosts and words of the session are replaced."""
        host = HOST.compiled.match(text)
        if host is not None and host.group(1) in ENDINGS and host.group(1) not in VAGUE_ENDINGS:
            return self._host(text)
        return LETTERS.compiled.sub(
            lambda found: self.word(found.group()) if self._is_met(found.group().lower()) else found.group(), text
        )

    def _is_met(self, low: str) -> bool:
        return (low in self.words or self.is_person(low)) and low not in KEPT

    def _segment(self, text: str) -> str:
        """One part of a path; the last one with its extension."""
        if not text or text in self._kept or text[0] in "$~*" or "*" in text:
            return text
        if text[0] == "." and not is_own(text):
            return text
        if self.vocabulary.is_account(text):
            return self.person(text, "given")
        low = text.lower()
        if low in KEPT or (self.vocabulary.recurs(text) and not is_own(text) and not self._names_person(low)):
            return text
        stem, point, extension = text.rpartition(".")
        if point and stem and len(extension) <= 8 and extension.isalnum() and not extension.isdigit():
            if extension.lower() not in EXTENSIONS and self._is_met(extension.lower()):
                extension = self.word(extension)
            return f"{self._parts(stem)}.{extension}"
        return self._parts(text)

    def _names_person(self, low: str) -> bool:
        return any(word in self.words or self.is_person(word) for word in LETTERS.compiled.findall(low))

    def _parts(self, text: str) -> str:
        """The words, numbers and digests of a name: words that recur stay, those of one session are replaced."""
        if (user := USER_ID.compiled.match(text)) is not None and not self._says_kind(user.group(1)):
            return self._plain(text)
        return PARTS.compiled.sub(self._part, text)

    def _part(self, found: re.Match[str]) -> str:
        kind, text = found.lastgroup, found.group()
        if kind == "hex":
            return f"0x{self.id(text[2:], like_hex)}" if text[:2] == "0x" else self.id(text, like_hex)
        if kind == "figures":
            return self.number(text) if len(text) >= ID_DIGITS else self._short(text)
        if kind == "drawn":
            if looks_random(text):
                return self.id(text, like_random)
            return PARTS_OF_WORDS.compiled.sub(self._part, text)
        low = text.lower()
        if low in self.words:
            return like_case(self.words[low], text)
        if len(text) < 3 or low in KEPT or text in self._kept or self._is_known(text, low):
            return text
        return self.word(text)

    def _is_known(self, text: str, low: str) -> bool:
        return (self.vocabulary.recurs(text) or self.vocabulary.recurs(low)) and not self.is_person(low)

    def _short(self, text: str) -> str:
        """Numbers that are too short for an id stay, unless they were part of one."""
        is_one = len(text) >= SHORTEST_NUMBER or text in self.padded
        return self.ids.get(text, text) if is_one else text

    def _says_kind(self, prefix: str) -> bool:
        """Whether the prefix of an id says what it identifies, as `credit_card_` does."""
        return self.vocabulary.is_prefix(prefix) or all(
            word.lower() in KEPT for word in LETTERS.compiled.findall(prefix)
        )

    def _plain(self, text: str) -> str:
        """A word outside paths: it is replaced only if it was used as a value, or is an id."""
        if text in self._kept:
            return text
        low = text.lower()
        known = self.words.get(low)
        if known is not None and (text == low or text.isupper() or text.istitle()):
            return like_case(known, text)
        if text.isalpha():
            if known is not None:
                return PARTS_OF_WORDS.compiled.sub(self._unless_kept, text)
            if text[0].isupper() and self.is_person(low) and not self._is_code(text):
                return self.word(text, "given")
            return self.id(text, like_random) if looks_random(text) else text
        if is_hex(text):
            return self.id(text, like_hex)
        # `ABC-123` is a ticket, `UTF-8` is a standard.
        if (ticket := TICKET.compiled.match(text)) is not None:
            return text if ticket.group(1)[:-1] in NORM else ticket.group(1) + self.number(ticket.group(2))
        if (user := USER_ID.compiled.match(text)) is not None and (
            len(user.group(2)) >= 4 or self.vocabulary.is_prefix(user.group(1))
        ):
            prefix = user.group(1)
            if not self._says_kind(prefix):
                prefix = self.person(prefix, "given")
            return prefix + self.number(user.group(2))
        return PARTS.compiled.sub(self._met, text)

    def _is_code(self, text: str) -> bool:
        """Whether capitals spell a code rather than a name: a few letters such as `KEN`, or letters that recur."""
        if not text.isupper() or self.vocabulary.is_person(text.lower()):
            return False
        return len(text) <= CODE_LETTERS or self.vocabulary.recurs(text)

    def _unless_kept(self, found: re.Match[str]) -> str:
        return found.group() if found.group().lower() in KEPT else self.word(found.group())

    def _met(self, found: re.Match[str]) -> str:
        kind, text = found.lastgroup, found.group()
        if kind == "drawn" and not looks_random(text):
            return PARTS_OF_WORDS.compiled.sub(self._met, text)
        if kind != "piece":
            return self._part(found)
        known = self.words.get(text.lower())
        return text if known is None or text in self._kept else like_case(known, text)
