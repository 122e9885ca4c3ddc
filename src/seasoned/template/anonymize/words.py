"""Words of other sessions: names of people and firms, words that may stay, and placeholders for the rest.

The lists are in `word_lists.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from seasoned.command.parse import names
from seasoned.insight.track import Track
from seasoned.lazy_regex import LazyRegex

_LISTS = tomllib.loads(Path(__file__).with_name("word_lists.toml").read_text("utf-8"))


def _listed(*lists: str) -> frozenset[str]:
    return names(" ".join(_LISTS[one] for one in lists))


SHORT, LONG, GIVEN, FAMILY = (tuple(_LISTS[one].split()) for one in ("short", "long", "given", "family"))
STREETS = _listed("streets")
MAILBOXES = ("jane", "john", "info", "hello", "contact", "support")
# Hosts reserved for documentation: they reach no one, and a redactor leaves them alone.
MAIL_HOSTS = ("example.com", "example.org", "example.net")
# Words that say nothing about anyone: they always stay.
KEPT = _listed("tools", "common_folders", "languages", "programs", "function_words")
ANYONE = _listed("accounts")
HOST_LABELS = _listed("host_labels")
ENDINGS = _listed("endings")
VAGUE_ENDINGS = _listed("vague_endings")
EXTENSIONS = _listed("extensions")
GIVEN_NAMES = _listed("given_names")
PAIRED_GIVEN_NAMES = _listed("given_names", "given_names_in_pairs")
FAMILY_NAMES = _listed("family_names")
# Family names that are hardly ever anything else.
FAMILY_ONLY = FAMILY_NAMES - _listed("family_words", "given_names")
NOT_NAMES = _listed("not_names")
# Everything below these hosts and folders is a published package.
MODULE_HOSTS = names("golang gopkg k8s")
PUBLISHED = names("node_modules site-packages dist-packages gems bower_components")
RUN_FROM = names("bin sbin libexec")
_HOSTS = {ending: names(hosts) for ending, hosts in _LISTS["public_hosts"].items()}
_MEDIA = _listed("media")
_MEDIUM = LazyRegex(
    r"(?:x-|vnd\.|prs\.)[\w.-]+|\*|(?:json|xml|html|plain|css|csv|javascript|ecmascript|markdown|calendar|event-stream"
    r"|octet-stream|pdf|zip|gzip|tar|rtf|sql|yaml|toml|graphql|wasm|protobuf|msgpack|cbor|ld|manifest|problem|hal"
    r"|form-data|mixed|alternative|related|byteranges|digest|png|jpeg|jpg|gif|webp|svg|bmp|tiff|avif|heic|apng|mp4|mpeg"
    r"|ogg|webm|wav|flac|aac|midi|quicktime|woff2?|ttf|otf|collection|rfc822|partial|http|pkcs\d+|pgp-\w+|jwt|jose"
    r"|ndjson|jsonl?|geo|soap|atom|rss|xhtml|epub|msword|postscript|typescript|vtt|tab-separated-values|richtext)\Z"
)
_SYSTEM = _listed("system_folders")
_VARIABLE = _listed("var_folders")
_OPTIONAL = _listed("opt_folders")


def is_public(host: str) -> bool:
    """Whether a host is a public service, and not one of a firm or a person."""
    labels = host.lower().split(".")
    if len(labels) < 2:
        return labels[0] == "localhost"
    if len(labels) > 2 and labels[-2] == "co":
        return labels[-3] == "example"
    return labels[-2] in _HOSTS.get(labels[-1], ())


def is_medium(text: str) -> bool:
    """Whether a text such as `text/html` is a type of content and not a path."""
    kind, slash, sub = text.partition("/")
    return bool(slash) and kind.lower() in _MEDIA and _MEDIUM.compiled.match(sub.lower()) is not None


def system_depth(segments: list[str]) -> int:
    """How many segments lead into a folder that every machine of a system has; 0 where a path leads elsewhere."""
    if len(segments) < 2:
        return 0
    first, second, *rest = segments
    if first == "":
        if second in _SYSTEM:
            return 2
        if rest and ((second == "var" and rest[0] in _VARIABLE) or (second == "opt" and rest[0].lower() in _OPTIONAL)):
            return 3
    if first[1:] == ":" and (second.lower() in ("windows", "program files", "programdata")):
        return 2
    return 0


_PLACEHOLDERS = frozenset((*GIVEN, *FAMILY))
_SURE = GIVEN_NAMES | FAMILY_ONLY
# A capital and small letters, with an optional second half: `Anna`, `Meyer-Lund`.
_NAME = r"[A-ZÀ-ÖØ-Þ][^\W\d_A-Z]+(?:[-'’][A-ZÀ-ÖØ-Þ][^\W\d_]+)?"
_PAIR = LazyRegex(rf"(?<![\w/.-])({_NAME})(?: [A-Z]\.)? ({_NAME})(?![\w/])")
_TITLED = LazyRegex(rf"\b(?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau|Mme|Monsieur|Señora?)\.? ({_NAME})(?: ({_NAME}))?")
_FIRM = LazyRegex(
    rf"(?<![\w/.-])({_NAME})(?: ({_NAME}))?,? (?:Inc|GmbH|Ltd|LLC|Corp|Corporation|Limited|Pty|S\.A|B\.V|Oy|AB|AG|KG)\b"
    rf"|\b(?:[Cc]ustomer|[Cc]lient|[Cc]ompany|[Tt]enant|[Vv]endor|[Ss]upplier|[Ee]mployer)s? ({_NAME})\b"
)
_WHO = (
    r"(?:user(?:name|_name)?|login|author|committer|assignee|reviewer|owner|customer|client|company|tenant|vendor|supplier"
    r"|organi[sz]ation|contact|(?:first|last|full|given|family|customer|company|client|display)_?name|surname|name)"
)
# Up to three words, quoted or not; the closing quote must be the opening one.
_VALUE = r"(?P<quote>['\"]|\\\"|)(?P<who>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w'’-]+){0,2})(?P=quote)"
_OPTION = LazyRegex(
    r"(?:(?<=\s)|\A)(?:--(?:user(?:name)?|author|committer|assignee|reviewer|owner|login|customer|client|tenant"
    rf"|add-assignee|add-reviewer|mention)[= ]|(?:[A-Z]+_?)?USER(?:NAME)?=|user\.name[= ])(?:{_VALUE})(?![\w(/:@.])"
)
_FLAG = LazyRegex(
    r"\b(?:(?:psql|pg_\w+|createdb|dropdb|sqlcmd)\b[^|;&\n]{0,200}?\s-U ?"
    r"|(?:mysql\w*|mariadb|sudo)\b[^|;&\n]{0,80}?\s-u ?"
    rf"|ssh\b[^|;&\n]{{0,80}}?\s-l ?|\b(?:su -|passwd|chown) ?){_VALUE}(?![\w(/.])"
)
_HELD = LazyRegex(
    rf"(?<![A-Za-z0-9-]){_WHO}\\?[\"']?\s*(?:=|:|==|<>|!=|\bi?like\b)\s*(?P<quote>['\"]|\\\")%?"
    r"(?P<who>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w'’-]+){0,2})%?(?P=quote)",
    re.IGNORECASE,
)
# In SQL a quoted word is a value, so that even a single one may be a name.
_SQL = LazyRegex(
    r"\bselect\b.{1,400}\bfrom\b|\binsert\s+into\b|\bupdate\b.{1,80}\bset\b|\bdelete\s+from\b",
    re.IGNORECASE | re.DOTALL,
)
_LITERAL = LazyRegex(rf"(?<![\w'])'%?({_NAME}(?: {_NAME}){{0,2}})%?'(?!\w)")
_QUOTED = LazyRegex(rf"(?P<quote>['\"])({_NAME}(?: {_NAME}))(?P=quote)")
# A text without one of these words is not searched any further.
_TITLES = ("Mr", "Ms", "Dr", "Prof", "Herr", "Frau", "Mme", "Monsieur", "Señor")
_FORMS = (
    *("Inc", "GmbH", "Ltd", "LLC", "Corp", "Limited", "Pty", "S.A", "B.V", "Oy", "AB", "AG", "KG"),
    *("ustomer", "lient", "ompany", "enant", "endor", "upplier", "mployer"),
)
_ACCOUNTS = (
    *("user", "assignee", "reviewer", "--author", "--committer", "--owner", "--login", "--c", "--tenant", "--mention"),
)
_PROGRAMS = (
    *("psql", "pg_", "createdb", "dropdb", "sqlcmd", "mysql", "mariadb", "sudo", "ssh", "su -", "passwd", "chown"),
)
_HOLDERS = (
    *("name", "user", "login", "author", "committer", "assignee", "reviewer", "owner", "customer", "client", "company"),
    *("tenant", "vendor", "supplier", "organi", "contact"),
)
_LETTERS = LazyRegex(r"[^\W\d_]{2,}")


def is_name(low: str) -> bool:
    """Whether a word in lower case is a person's name and hardly ever anything else."""
    return low in _SURE


def pair_of_names(text: str) -> str | None:
    """The first pair of names that looks like a person and is not a placeholder; None without one."""
    for first, last in _pairs(text):
        if not {first.lower(), last.lower()} <= _PLACEHOLDERS:
            return f"{first} {last}"
    return None


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while (found := _PAIR.compiled.search(text, at)) is not None:
        first, last = found.groups()
        given, family = first.lower(), last.lower()
        is_given = given in PAIRED_GIVEN_NAMES or given in _PLACEHOLDERS
        if (is_given and _could_be(family)) or (family in FAMILY_NAMES and _could_be(given)):
            yield first, last
            at = found.end()
        else:
            # The second word may be the first one of the next pair.
            at = found.end(1)


def _could_be(low: str) -> bool:
    return low not in KEPT and low not in ANYONE and low not in NOT_NAMES


def people_in(text: str, *, is_code: bool = False, is_command: bool = False) -> Iterator[tuple[str, str]]:
    """The words of a text that name people or firms, each with the kind of its placeholder."""
    for first, last in _pairs(text):
        yield first, "given"
        yield last, "family"
    for pattern, signs in ((_TITLED, _TITLES), (_FIRM, _FORMS)):
        if not any(sign in text for sign in signs):
            continue
        for found in pattern.compiled.finditer(text):
            for word in found.groups():
                if word and _could_be(word.lower()):
                    yield word, "family" if pattern is _TITLED else ""
    if is_code or is_command:
        yield from _held_in_code(text, is_command)


def _held_in_code(text: str, is_command: bool) -> Iterator[tuple[str, str]]:
    low = text.lower()
    if any(word in low for word in _ACCOUNTS):
        for found in _OPTION.compiled.finditer(text):
            yield from _words(found.group("who"), any_case=True)
    if any(word in low for word in _PROGRAMS):
        for found in _FLAG.compiled.finditer(text):
            yield from _words(found.group("who"), any_case=True)
    if "'" not in text and '"' not in text:
        return
    if any(word in low for word in _HOLDERS):
        for found in _HELD.compiled.finditer(text):
            yield from _words(found.group("who"), any_case=False)
    if ("select" in low or "insert" in low or "update" in low or "delete" in low) and _SQL.compiled.search(text):
        for found in _LITERAL.compiled.finditer(text):
            yield from _words(found.group(1), any_case=False)
    # In a command such a pair is a message or a title more often than a value.
    for found in () if is_command else _QUOTED.compiled.finditer(text):
        if all(_could_be(word.lower()) for word in found.group(2).split()):
            yield from _words(found.group(2), any_case=False)


def _words(value: str, *, any_case: bool) -> Iterator[tuple[str, str]]:
    found = [word for word in _LETTERS.compiled.findall(value) if word.istitle() or any_case or is_name(word.lower())]
    is_person = any_case or any(is_name(word.lower()) for word in found)
    for at, word in enumerate(found):
        if _could_be(word.lower()):
            yield word, ("family" if at else "given") if is_person else ""


# A prefix that this many ids share (`credit_card_…`) says what they identify; a person has one id.
_TAILS = 3
_PART = LazyRegex(r"[A-Za-z0-9_.@~+-]{2,80}")
_ID = LazyRegex(r"([A-Za-z][A-Za-z]*(?:[_-][A-Za-z]+)*[_-])(\d{3,})\Z")
# Names of arguments whose values are names of people.
PERSON_NAMES = (
    r"(?:(?:first|last|full|given|family|middle|display|customer|contact|author|passenger)_?[Nn]ame|surname|author"
    r"|assignee)"
)
_NAMED = LazyRegex(rf'"{PERSON_NAMES}"\s*:\s*"([^"\\]{{2,60}})"')
_HOME = LazyRegex(r"(?:/home/|/Users/|\\\\Users\\\\)([A-Za-z][\w.-]{1,40})")
_WORD = LazyRegex(r"[^\W\d_]{2,}")


class Vocabulary:
    """Counts in how many lineages each part of a value was seen; names of people never stay."""

    def __init__(self) -> None:
        self._parts: dict[str, set[str]] = {}
        self._named: set[str] = set()
        self._homes: set[str] = set()
        self._recurring: frozenset[str] | None = None
        self._prefixes: frozenset[str] = frozenset()

    def add(self, root: str, value: str) -> None:
        """Add a value that a lineage used: a text, or the arguments of a call as JSON."""
        self._recurring = None
        parts = self._parts.get(root)
        if parts is None:
            parts = self._parts[root] = set()
        parts.update(_PART.compiled.findall(value))
        if "ame" in value or "author" in value or "assignee" in value:
            self._named.update(_NAMED.compiled.findall(value))
        if "/home/" in value or "Users" in value:
            self._homes.update(_HOME.compiled.findall(value))

    def recurs(self, part: str) -> bool:
        """Whether a part was seen in at least two lineages."""
        if self._recurring is None:
            self._settle()
        assert self._recurring is not None
        return part in self._recurring

    def is_prefix(self, prefix: str) -> bool:
        """Whether several ids begin with this, so that it says what they identify."""
        if self._recurring is None:
            self._settle()
        return prefix in self._prefixes

    def is_person(self, word: str) -> bool:
        """Whether a word was used as a person's name."""
        if self._recurring is None:
            self._settle()
        return word.lower() in self._people

    def is_account(self, word: str) -> bool:
        """Whether a word was used as the name of a home folder."""
        return word in self._homes and word.lower() not in ANYONE

    def _settle(self) -> None:
        once: set[str] = set()
        twice: set[str] = set()
        for parts in self._parts.values():
            twice |= once & parts
            once |= parts
        self._recurring = frozenset(twice)
        tails: dict[str, set[str]] = {}
        for part in once:
            if part[-1].isdigit() and (found := _ID.compiled.match(part)):
                tails.setdefault(found.group(1), set()).add(found.group(2))
        self._prefixes = frozenset(prefix for prefix, known in tails.items() if len(known) >= _TAILS)
        words = {word.lower() for name in self._named for word in _WORD.compiled.findall(name)}
        self._people = frozenset(words - KEPT - ANYONE)

    _people: frozenset[str] = frozenset()


def vocabulary_of(tracks: Iterable[Track]) -> Vocabulary:
    """The vocabulary of sessions: their arguments, and the short answers that came back."""
    vocabulary = Vocabulary()
    for track in tracks:
        given = [call.raw_arguments for call in track.calls]
        told = [call.result for call in track.calls if call.result and "_name" in call.result]
        # One search over everything is quicker; no match crosses this separator.
        vocabulary.add(track.root, "\n\\\n".join(given + told))
    return vocabulary
