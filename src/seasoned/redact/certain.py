"""Places that leave no doubt: formats of files, calls and dialogs in which one part is a secret by definition.

Each row has a mark, and an expression that is tried where the mark stands. Its group is the secret, however plain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.hit import Hit, line_start
from seasoned.redact.literal import SENTENCE, is_made, is_placeholder, is_plain_password, is_said_of

_Q = r"""\\{0,4}["']"""
_TEXT = r"""([^"'\n\\]{4,80})"""
_EOL = r"(?:\r?\n|\\r\\n|\\n)"
_SECRET_NAME = r"[\w\-]{0,30}(?:password|passwd|pwd|passphrase)[\w\-]{0,10}"
_ASKED_FOR = r"[^\"'\n]{0,40}(?:kennwort|passwor[dt]|passcode|pin|code|mot de passe|contrase)[^\"'\n]{0,20}"
REACH = 800
MOST = 40


def is_any(word: str) -> bool:
    """Whatever stands there, but a placeholder."""
    return not is_placeholder(word) and not any(c in word for c in "{}<>$")


def is_word(word: str) -> bool:
    """One word that a person made up or took."""
    return is_any(word) and (is_made(word) or is_plain_password(word))


def is_words(word: str) -> bool:
    """One word or several; what is said of passwords is none."""
    if " " not in word:
        return is_word(word)
    return is_any(word) and not SENTENCE.compiled.search(word) and not any(map(is_said_of, word.split()))


def is_answer(word: str) -> bool:
    """What was typed at a prompt: a message of the program has capitals, figures or signs."""
    return word.replace(" ", "").isalpha() and word.islower() and is_words(word)


class Certain(NamedTuple):
    """One kind of place. `back`: how far before its mark the expression begins; `many`: rows that follow the mark."""

    kind: str
    pattern: LazyRegex
    fits: Callable[[str], bool] = is_any
    back: int = 0
    many: bool = False


PROMPTS = ("enter passphrase", "verify passphrase", "enter new password")
CRACKED = LazyRegex(r"(?:\n|\\n)([0-9a-f]{32,128}:[^\n\\]{3,80})(?=\n|\\n|$)")
SHOWN = LazyRegex(r"(?:\n|\\n)[\w.\-]{1,40}:([^:\n\\]{3,60}):\d{1,6}:\d{1,6}:")
# By the mark.
PLACES: dict[str, Certain] = {
    # Settings and key files.
    "securestring": Certain("secret", LazyRegex(
        r"""securestring\\{0,4}",\s{0,20}\\{0,4}"value\\{0,4}":\s?\\{0,4}"([^"\\\n]{4,4096})""")),
    ": psk ": Certain("password", LazyRegex(rf""": psk {_Q}([^"\n\\]{{6,128}}){_Q}""")),
    ": rsa ": Certain("password", LazyRegex(rf""": rsa [\w./\-]{{1,80}} {_Q}{_TEXT}{_Q}""")),
    "psk=": Certain("password", LazyRegex(rf"""psk={_Q}([^"\n\\]{{8,63}}){_Q}""")),
    "<auth-user-pass>": Certain("password", LazyRegex(rf"<auth-user-pass>{_EOL}\S{{1,80}}{_EOL}([^\s<\\]{{3,80}})")),
    "loginmodule required": Certain(
        "password", LazyRegex(rf"""\buser_\w{{1,40}}\s?=\s?{_Q}{_TEXT}{_Q}"""), many=True),
    "ap-secrets": Certain("password", LazyRegex(
        r"""(?:^|\n|\\n|:\d{1,4}:)[+\- ]?\\{0,4}"?[\w.@/\-]{2,60}\\{0,4}"?[ \t]{1,20}(?:\*|l2tpd|pptpd)[ \t]{1,20}"""
        r"""\\{0,4}"?([^\s"#\\]{4,80})\\{0,4}"?(?=[ \t]{0,20}(?:[*\d\-]|$|\n|\\n))"""), many=True),
    "user=": Certain("password", LazyRegex(r"(?:^|\n|\\n)user=(?!\w+:\d)[\w.\-]{1,40}:([^\s:\\\"']{4,80})(?=\s|\\n|$)"),
                     is_word, back=2),
    "login=": Certain("password", LazyRegex(r"login=[\w.\-@]{1,60}:([^\s:\"'&\\]{4,80})(?=\s|\\n|$)"), is_word),
    "basic_auth=": Certain("password", LazyRegex(r"basic_auth=[\"']?[\w.\-]{1,40}:([^\s\"'\\]{4,80})"), is_word),
    "set :": Certain("password", LazyRegex(rf"""set :{_SECRET_NAME}, {_Q}{_TEXT}{_Q}""")),
    # Code.
    "tochararray()": Certain("password", LazyRegex(
        r"""(?:load|keystore|pass|\.p12|\.jks|\.pfx|pbe)[^\n]{0,60}["']([^"'\s]{4,60})["']\.tochararray"""),
        is_word, back=140),
    "open(": Certain("password", LazyRegex(rf"""open\((?:{_Q}[^"'\n]{{1,80}}{_Q},\s?){{2}}{_Q}{_TEXT}{_Q},\s?{_Q}"""),
                     is_word),
    "credentials(": Certain("password", LazyRegex(
        rf"""credentials\((?:{_Q}[^"'\n]{{1,80}}{_Q},\s?){{3}}{_Q}{_TEXT}{_Q}\)"""), is_word),
    "mqtt.client(": Certain("password", LazyRegex(
        rf"""mqtt\.client\({_Q}[^"'\n]{{1,80}}{_Q},\s?\d{{1,5}},\s?{_Q}[^"'\n]{{1,80}}{_Q},\s?{_Q}{_TEXT}{_Q}"""),
        is_word),
    "mapnetworkdrive": Certain("password", LazyRegex(
        rf"""mapnetworkdrive[ (](?:[^,\n]{{1,120}},\s?){{4}}{_Q}{_TEXT}{_Q}"""), is_word),
    "derivebytes(": Certain("password", LazyRegex(rf"""derivebytes\({_Q}{_TEXT}{_Q}""")),
    "scryptsync(": Certain("password", LazyRegex(rf"""scryptsync\({_Q}{_TEXT}{_Q}""")),
    "pgp_sym_": Certain("password", LazyRegex(rf"""pgp_sym_(?:de|en)crypt\([^,\n]{{1,120}},\s?{_Q}{_TEXT}{_Q}""")),
    "pragma key": Certain("password", LazyRegex(rf"""pragma key\s?=\s?{_Q}{_TEXT}{_Q}""")),
    "sessid": Certain("cookie", LazyRegex(rf"""sessid{_Q},\s?{_Q}([\w%.\-]{{16,200}}){_Q}""")),
    "set_cookie(node()": Certain("cookie", LazyRegex(r"""set_cookie\(node\(\),\s?["']?(\w{8,80})"""), is_made),
    "inputbox(": Certain("password", LazyRegex(
        rf"""inputbox\(\s?{_Q}{_ASKED_FOR}{_Q}[^)\n]{{0,40}}\)\s?(?:<>|!=|={{1,3}})\s?{_Q}{_TEXT}{_Q}""")),
    "prompt(": Certain("password", LazyRegex(
        rf"""prompt\(\s?{_Q}{_ASKED_FOR}{_Q}\)\s?(?:!=|=){{1,2}}=?\s?{_Q}{_TEXT}{_Q}""")),
    'protect "': Certain("password", LazyRegex(r"""protect "([^"\n\\]{4,60})"(?=\s|,|$|\\)"""), is_word),
    " pic x(": Certain("password", LazyRegex(
        rf"""{_SECRET_NAME}\s{{1,20}}pic x\(\d{{1,3}}\)\s{{1,8}}value\s{{1,8}}{_Q}{_TEXT}{_Q}"""), back=50),
    "move '": Certain("password", LazyRegex(rf"""move '([^'\n]{{4,40}})'\s{{1,8}}to\s{{1,8}}{_SECRET_NAME}""")),
    "{tab}": Certain("password", LazyRegex(r"\{tab\}([^{}\s]{4,60})\{enter\}")),
    # Requests.
    "form-data; name=": Certain("password", LazyRegex(
        rf"""form-data; name=\\{{0,4}}"(?:pass\w{{0,12}}|pwd|pw|secret|token)\\{{0,4}}"{_EOL}{{2}}"""
        r"""([^\r\n\\]{4,200})""")),
    # Commands and dialogs.
    "impacket-": Certain("password", LazyRegex(
        r"""impacket-\w{2,30} (?:-\S{1,40} ){0,4}["']?[\w.\-]{1,40}/[\w.\-$]{1,40}:([^\s"']{4,80})@""")),
    " smb://": Certain("password", LazyRegex(r""" smb://[\w.\-]{1,40}/[\w.\-]{1,40}:([^\s/"'@]{3,80})@\w""")),
    "-pin ": Certain("code", LazyRegex(r"""-pin ["']?(\d{4,16}|[a-z][\w\-]{4,40}(?=[^\n]{0,80}-pin ))""")),
    "at+cpin=": Certain("code", LazyRegex(r"""at\+cpin=\\{0,4}"?(\d{4,8})""")),
    "[sudo] password for ": Certain("password", LazyRegex(
        r"\[sudo\] password for [\w.\-]{1,40}: ([a-z ]{6,60})(?=[\r\n\\]|$)"), is_answer),
    **dict.fromkeys(PROMPTS, Certain("password", LazyRegex(
        r"(?:enter|verify) (?:new )?pass(?:phrase|word)(?: for [^\n:]{1,60})?: "
        r"([a-z ]{6,60})(?=[\r\n\\]|$)"), is_answer)),
    # What was dumped or cracked.
    **dict.fromkeys(("* ntlm", "* sha1"), Certain("password-hash", LazyRegex(
        r"\* (?:ntlm|sha1)\s{0,8}:\s([0-9a-f]{32,40})(?![0-9a-f])"))),
    ":[u ": Certain("password-hash", LazyRegex(r":([0-9a-f]{32}):\[u "), back=34),
    "ntlmv2-ssp hash": Certain("password-hash", LazyRegex(r"ntlmv2-ssp hash\s{0,8}:\s(\S{60,2000})")),
    "hashcat ": Certain("password-hash", CRACKED, many=True),
    "john --show": Certain("password", SHOWN, many=True),
}  # fmt: skip
CERTAIN_MARKS = tuple(PLACES)
# `CREATE USER scott IDENTIFIED BY word`, not a sentence.
IDENTIFIED = LazyRegex(r"identified (?:with \w{1,40} )?by ([a-z][\w#$!\-]{3,60})(?=[;\s]|\\n|$)")
STATEMENT = LazyRegex(r"\b(?:create|alter)\s{1,4}(?:user|role)\b|\bgrant\b")


def find_certain(text: str, low: str, marks: Mapping[str, list[int]]) -> Iterator[Hit]:
    """Secrets in places that hold nothing else."""
    for mark in marks.keys() & PLACES.keys():
        place = PLACES[mark]
        done = 0
        for at in marks[mark]:
            if at < done:
                continue  # an earlier look went over it
            for start, end in _spans(place, low, at):
                done = end if place.many else done
                if place.fits(text[start:end]) and not text.startswith("[redacted:", start):
                    yield Hit(place.kind, start, end)
            if place.many:
                done = max(done, at + REACH)
    for at in marks.get("identified ", ()):
        match = IDENTIFIED.compiled.match(low, at)
        if match is not None and STATEMENT.compiled.search(low, line_start(low, at, 200), at):
            word = text[match.start(1) : match.end(1)]
            if is_any(word):
                yield Hit("password", match.start(1), match.end(1))


def _spans(place: Certain, low: str, at: int) -> Iterator[tuple[int, int]]:
    if place.many:
        for number, match in enumerate(place.pattern.compiled.finditer(low, at, at + REACH)):
            if number < MOST:
                yield match.span(1)
    elif place.back:
        found = place.pattern.compiled.search(low, max(0, at - place.back), at + 200)
        if found is not None and found.end() > at:
            yield found.span(1)
    elif (here := place.pattern.compiled.match(low, at)) is not None:
        yield here.span(1)
