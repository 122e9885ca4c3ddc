"""What is replaced in a text: ids, paths, hosts, dates; and names of arguments that say what a value is."""

from __future__ import annotations

import re

from seasoned.command.parse import names
from seasoned.lazy_regex import LazyRegex
from seasoned.template.anonymize.shape import HEX, PIECE, UUID, SeededDraw, is_hex, looks_drawn
from seasoned.template.anonymize.vocabulary import PERSON_NAMES
from seasoned.template.anonymize.word_lists import FAMILY, GIVEN, LONG, SHORT

POOLS = {"short": SHORT, "long": LONG, "given": GIVEN, "family": FAMILY}
LONG_FROM = 7
# Numbers with so many digits are ids; shorter ones are lines, limits and counts.
ID_FIGURES = 5
# Where the name of an argument says that figures are personal, as in an address, shorter numbers are replaced, too.
SHORTEST_FIGURES = 3
SMALLEST_ID = 10 ** (ID_FIGURES - 1)
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
FIGURES = LazyRegex(r"\d+")
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
    """Whether a part is an id, however often it recurs."""
    return has_figures(text) or is_hex(text) or looks_drawn(text)


def has_figures(text: str) -> bool:
    return any(len(run) >= ID_FIGURES for run in FIGURES.compiled.findall(text))


def is_quantity(name: str) -> bool:
    """Whether a name says how much, how long or where, so that its number is not an id."""
    pieces = [piece.lower() for piece in NAME_PIECES.compiled.findall(name)]
    return bool(pieces) and pieces[-1] not in IDS and not QUANTITIES.isdisjoint(pieces)


def like_ip(text: str, draw: SeededDraw) -> str:
    """Another address in the same net, with as many figures in every part; reserved ones stay."""
    parts = text.split(".")
    if text.startswith(("127.", "0.", "255.", "192.0.2.")) or any(int(part) > 255 for part in parts):
        return text
    keep = 2 if text.startswith(("192.168.", "172.")) else 1
    return ".".join([*parts[:keep], *[_octet(part, draw) for part in parts[keep:]]])


def _octet(text: str, draw: SeededDraw) -> str:
    low, high = {1: (0, 9), 2: (10, 99), 3: (100, 254)}[len(text)]
    return str(low + draw.below(high - low + 1)) if text[0] != "0" else text


def whole_lines(text: str) -> str:
    """A text that was cut for the store, ended where its last whole line ends; structured text stays cut."""
    if text.lstrip()[:1] in ("{", "[", "<", "*"):
        return text
    kept = CUT.compiled.sub("", text)
    return kept[: kept.rfind("\n") + 1] or kept.rpartition(" ")[0]
