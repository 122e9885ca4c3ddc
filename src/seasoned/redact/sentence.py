"""Secrets in sentences, labels and prompts: "the password for X is Y", "пароль: Y", "use Y as the token".

One grammar for all languages: a word for a secret, perhaps what it is for, a joint, the value. The surer the joint, the
less the value must look like a secret: behind a colon any word may be a password, without a joint it must be made up
beyond doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.below import find_below
from seasoned.redact.hit import Hit, line_end, line_start
from seasoned.redact.literal import (
    ALGORITHM,
    BASE32,
    HEXADECIMAL,
    MODEL,
    UUID,
    is_drawn,
    is_hex_key,
    is_joined,
    is_made_up,
    is_placeholder,
    is_plain_password,
    is_public,
    is_random,
    is_signed,
    is_typed,
)
from seasoned.redact.name import COMPOUND, ENGLISH, NOUNS, UNSPACED, WHOLE, Noun, vocabulary

LONGEST = 20_000  # people write short texts; a long one is a file or an output
WIDEST = 240
_OPEN = (
    r"(?:\\{0,4}[\"'`“„«「『‘*]{1,3}|<(?:b|code|strong|kbd|tt|em)>|\[(?=\S{4,}\])|\{\{|\((?=[^\s()]{5,}\)))[ \u00a0]?"
)
_CLOSE = r"[ \u00a0]?(?:\\{0,4}[\"'`”“»」』’*]|</|\]|\}\}|\))"
_BARE = r"[^\s\"'`“”„«»「」『』<>(){}\[\],;|，。、；）（\\*][^\s\"'`“”„«»「」『』<>{}\[\],;|，。、；）（\\]{2,200}"
_VALUE = rf"(?:(?P<open>{_OPEN})(?P<quoted>[^\"`”“»」』\n\\<]{{3,80}}?){_CLOSE}|(?P<bare>{_BARE}))"
_FOR = (
    r"(?:for|of|on|to|from|at|in|by|with|für|fuer|vom|von|beim|zum|zur|im|am|pour|du|de|des|d'|do|da|dos|das|del|della"
    r"|dello|di|per|van|voor|op|untuk|dla|z|od|k|ke|pro|від|до|от|для|к|у|на|para|en|till|för|til|i|için|của|cho)"
)
_IS = (
    r"is|was|are|reads|has been|ist|lautet|war|heißt|sind|wäre|est|c'est|était"
    r"|sera|es|era|será|son|é"
    r"|sera|è|sarà|är|er|var|je|jest|brzmi|este|là|hai|है|هو|هي|adalah|ialah|on|oli|είναι|היא|הוא|это|=|:"
)
_ADVERB = (
    r"(?:now|currently|still|just|simply|set to|called|again|jetzt|nun|aktuell|nur|désormais|ahora"
    r"|agora|ora|nu|теперь|sekarang)"
)
_TO = (
    r"to|as|into|typed|entered|used|be|will be|should be|must be|auf|zu|als|à|en|como|comme|a|para|per|na"
    r"|in|su|naar|till"
    r"|til|на|в|ke|menjadi|olarak"
    r"|set to|changed to|reset to"
)
# The words between a noun and its joint: what it is for.
_WHERE = rf"(?P<where>(?:\s?\([^()\n]{{1,40}}\))?(?:\s(?:{_FOR})\s?(?:[^\s:=：,;(]{{1,40}}\s?){{1,5}}?)?)"
_ENDING = r"(?:'s|’s|s|\w{0,4})"
# A sure joint behind the word and what it is for, or the value right beside the word.
JOINED = LazyRegex(
    rf"{_ENDING}{_WHERE}"
    rf"(?:(?P<colon>[*_`]{{0,2}}\s{{0,12}}(?:[:：=]{{1,2}}|:=|->|→|=>|⇒|~>)[*_]{{0,2}}\s{{0,12}}"
    rf"|\s[—–\-]{{1,2}}\s|\?\s)"
    rf"|(?P<verb>\s(?:{_ADVERB}\s)?(?:{_IS})(?:\s{_ADVERB})?\s?[:：]?\s{{1,3}}"
    rf"|\s?(?:是|为|為|改成了?|は、?|が|는|은|가|คือ)\s?[:：]?\s?)"
    rf"|(?P<to>\s(?:[^\s:=]{{2,14}}\s){{0,2}}?(?:{_TO})\s))" + _VALUE
)
BESIDE = LazyRegex(rf"{_ENDING}(?:\s{{1,3}}|(?=[\"'`“„«「『*]))" + _VALUE)
UNSPACED_BESIDE = LazyRegex(r"\s?(?P<bare>[!#-&(-+\--_a-~]{6,64})")
FROM_TO = LazyRegex(
    r"s?(?:\s(?:for|of|on)\s\S{1,30})?\s(?:from|von|de|da|z|с|van)\s[\"'`«„“]?([^\s\"'`»”“]{4,64})[\"'`»”“]?\s"
    r"(?:to|auf|à|a|na|на|naar|en)\s[\"'`«„“]?([^\s\"'`»”“]{4,64})"
)
BEFORE = LazyRegex(
    r"(?:^|[\s\"'`(“„«「‘])([^\s\"'`“”„«»「」()]{4,128})[\"'`”“»」’)]{0,2},?\s(?:as|for|als|como|comme"
    r"|come|jako|som|sebagai"
    r"|olarak|into|like|instead, (?:that's|it's|it is|that is)|(?:is|was|ist|est|es|è|é|är|jest) (?:your|the|my|our|das"
    r"|dein|ihr|le|la|su|tu|mein|unser|il|a|o|het|det))(?:\s[\w'\-]{1,14}){0,3}[\s\-]$"
)
QUOTED_BEFORE = LazyRegex(
    r"[\"'`“„«「]([^\"'`“”„«»「」\n]{5,60})[\"'`”“»」]\s(?:as|als|como|comme|come|jako|som|sebagai|olarak|"
    r"(?:is|ist|est|es|è|é) (?:the|my|our|your|das|le|la|il|o))(?:\s[\w'\-]{1,14}){0,3}[\s\-]$"
)
WORD = LazyRegex(r"""[^\s"'`“”„«»「」<>()\[\],，。]{5,512}""")
FIGURE = LazyRegex(r"[0-9]")
CODE = LazyRegex(r"\d{4,10}|\d{3}(?:[ \-]\d{3}){1,2}|[A-Z0-9]{4}-[A-Z0-9]{4}")
DOTTED = LazyRegex(r"[a-zA-Z_]\.[a-zA-Z_]|\d\.\d")
OPTION = LazyRegex(r"(?:^|\s)-{1,2}[a-z][\w\-]*[ =][\"']?$")
USER = LazyRegex(
    r"(?:user(?:name)?|login|account|as|with|benutzer\w*|utilisateur|identifiant|usuario|usuário|utente|gebruiker|логин"
    r"|kullanıcı adı|логін|adm[ií]n|root"
    r"|\w@[\w.\-]{3,40})[ :=\"'`,]{1,3}(?:[\w.@\-]{1,40}[ ,\"'`;/、]{1,3})?(?:and|und|et|y|e"
    r"|en|и|ve|with|mit|avec|con|com)?[ ,]?$"
)
# Words that mean something else more often.
SHORT = vocabulary("pass")
ENDED = LazyRegex(r"[^\s.,;]+(?:[.,;)\n\"]|\\n|\Z)")
GIVEN = LazyRegex(r"\b(?:with|use|mit|nimm|usa|avec|utilise|mis|met|con|try) [\"'`]?$")
FILE = LazyRegex(
    r"\.(?:py|[jt]sx?|json|ya?ml|md|txt|sh|go|rs|java|rb|php|html?|css|toml|lock|log|sql|csv|xml|cfg"
    r"|conf|ini|env|pem|key|crt|7z|zip|rar|pdf|docx?|xlsx?|kdbx?)$"
)
LAST = LazyRegex(
    r"\Z|\s(?:btw|please|pls|thanks|thx|jeje|haha|lol|bitte|です|입니다|है|است)|です|입니다|[\n\r),\"]"
    r"|\\[nr]|[.!](?:\s|\Z|\\[nr]|\")|\s\(|</"
)
IDS = vocabulary("toolu call msg req chatcmpl run thread step resp sess session evt event acc cus sub price item rs fc")


def find_said(text: str, low: str, marks: Mapping[str, list[int]]) -> Iterator[Hit]:
    """Secrets around the words for them, in texts that people and programs write line by line."""
    # Longer texts are files and logs: only what is said outright counts there.
    is_long = len(text) > LONGEST
    below_done: set[int] = set()
    # In a fixed order, passwords first: only the first word of a line gets a look at the line below.
    found = sorted(NOUNS.keys() & marks.keys(), key=lambda word: (NOUNS[word] is not Noun.PASSWORD, word))
    for word in found:
        noun = NOUNS[word]
        for start in marks[word]:
            end = start + len(word)
            if not _is_noun(text, low, word, start, end):
                continue
            first, last = line_start(low, start, WIDEST), line_end(low, end, WIDEST)
            first = max(first, low.rfind("→", first, start) + 1)
            yield from _around(text, low, noun, (start, end), (first, last), is_long)
            if is_long:
                continue
            # One look at the line below, whichever word of this one leads to it.
            if (
                last not in below_done
                and noun is not Noun.CODE
                and (word not in ("pass", "pw") or low[start - 1 : start] == "_")
            ):
                below_done.add(last)
                yield from find_below(text, low, (first, last), noun is Noun.KEY, noun is Noun.ACCOUNT)


def _is_noun(text: str, low: str, word: str, start: int, end: int) -> bool:
    """Whether the word stands for itself, rather than in a longer word or a name of code."""
    before, after = low[start - 1 : start], low[end : end + 1]
    if low.startswith("redacted:", start - 9) or (word == "pass" and text.startswith("PASS", start) and before != "_"):
        return False
    if before.isalpha() and before < UNSPACED and word < UNSPACED and word not in COMPOUND:
        return False
    if after.isalpha():
        # Other languages put an ending to it.
        if word in ENGLISH:
            return low[end : end + 2] in ("s ", "s:", "s=")
        return word not in WHOLE or not word.isascii()
    return not (word.isascii() and (after in ("_", "(") or (after == "-" and low[end + 1 : end + 2].isalpha())))


def _around(
    text: str, low: str, noun: Noun, place: tuple[int, int], line: tuple[int, int], is_long: bool
) -> Iterator[Hit]:
    (start, end), (first, last) = place, line
    short = low[start:end] in SHORT
    for pattern in (JOINED, BESIDE) if noun is not Noun.ACCOUNT else ():
        match = pattern.compiled.match(low, end, last)
        # A test passes, and code passes arguments: a short word needs a joint, and a value that looks made up.
        if (
            match is not None
            and short
            and (match["to"] if pattern is JOINED else not is_beside_user(low, first, start))
        ):
            match = None
        hit = _after(text, low, noun, match, first, start) if match is not None else None
        if hit is not None:
            yield hit
            return
    if noun is Noun.CODE or short or is_long:
        return
    changed = FROM_TO.compiled.match(low, end, last)
    if changed is not None and all(
        is_typed(text[slice(*changed.span(i))]) or is_joined(text[slice(*changed.span(i))]) for i in (1, 2)
    ):
        yield from (Hit("password", *changed.span(group)) for group in (1, 2))
        return
    if noun is not Noun.ACCOUNT:
        yield from _before(text, low, noun, start, first)
    if FIGURE.compiled.search(low, first, last) is not None:
        yield from _near(text, low, noun, place, line)


class ValuePlace(NamedTuple):
    """Where a value stands, and so how sure it is that it is secret."""

    joint: str  # colon, verb, to, beside
    opened: str  # the quote before it
    is_last: bool  # nothing follows in its sentence
    is_aimed: bool  # what the secret is for was said
    is_short: bool  # the word for it often means something else
    beside_user: bool
    is_plural: bool
    is_foreign: bool  # a language in which a value may follow the word without a joint


def _after(text: str, low: str, noun: Noun, match: re.Match[str], first: int, start: int) -> Hit | None:
    """The value behind the joint, if it looks as much like a secret as the joint demands."""
    group = "quoted" if match["quoted"] is not None else "bare"
    begin, end = match.span(group)
    word = text[begin:end]
    if group == "bare":
        if text[begin - 1] > UNSPACED or text[match.start() - 1] > UNSPACED:
            word = word[: next((i for i, c in enumerate(word) if c > UNSPACED), len(word))]
        if ")" in word and "(" not in word:
            word = word.partition(")")[0]
        word = word.rstrip(".:?" if is_typed(word) else ".:?!*")
        end = begin + len(word)
    if len(word) < 4 or is_placeholder(word) or word[0] in "/~$<{-#%=." or word.startswith(("http", "[redacted")):
        return None
    if text[end : end + 1] in ("[", "(") or FILE.compiled.search(word):
        return None
    if text.endswith("ENC(", 0, begin) or "encrypteddata" in low[max(0, begin - 400) : begin]:
        return None
    found = match.groupdict()
    if _is_variable(word, match["open"] or "", found.get("colon") or "") or (match["open"] == "(" and word.isalpha()):
        return None
    if (found.get("verb") or "").strip() == "on" and low[start : match.start()] in ENGLISH:
        return None  # a verb in Finnish
    joint = next((name for name in ("colon", "verb", "to") if found.get(name) is not None), "beside")
    if noun is Noun.CODE:
        sure = joint in ("colon", "verb") or group == "quoted"
        return Hit("code", begin, end) if sure and CODE.compiled.fullmatch(word) else None
    if noun is Noun.KEY:
        return Hit("token", begin, end) if _is_key(word, joint in ("colon", "verb")) else None
    slot = ValuePlace(
        joint,
        match["open"] or "",
        LAST.compiled.match(text, end) is not None,
        bool(found.get("where")),
        low[start : match.start()] in SHORT,
        is_beside_user(low, first, start),
        low.startswith("s ", match.start()),
        not low[start : match.start()].isascii(),
    )
    return Hit("password", begin, end) if _is_password(word, slot) else None


IDENTIFIER = LazyRegex(r"[a-z][a-z_]*")


def _is_variable(word: str, opened: str, colon: str) -> bool:
    """`{{ db_pw }}` of a template, `:'db_pw'` of psql."""
    named = opened.startswith("{{") or (colon == " :" and opened == "'")
    return named and IDENTIFIER.compiled.fullmatch(word) is not None


def is_beside_user(low: str, first: int, start: int) -> bool:
    """Whether a user was named right before."""
    return USER.compiled.search(low, max(first, start - 80), start) is not None


def _is_password(word: str, slot: ValuePlace) -> bool:
    """Whether a word may be a password there: the surer the joint, the plainer the word may be."""
    if any(c in word for c in "()[]{}<>=;|") or "://" in word or "→" in word:
        return False
    sure = slot.joint in ("colon", "verb")
    if " " in word:
        # A phrase in quotes that is not a sentence and no code.
        plain = word.replace(" ", "").isalpha() and word.islower() and word.count(" ") < 6
        return bool(slot.opened) and plain and not slot.is_short and (sure or not slot.opened.isascii())
    made = is_typed(word) or is_signed(word) or (is_joined(word) and not slot.is_short)
    if slot.is_plural and not made:
        return False
    if sure:
        if made or (slot.is_short and not slot.beside_user and not slot.is_aimed):
            return made and not (HEXADECIMAL.compiled.fullmatch(word) and len(word) < 9)
        if not is_plain_password(word):
            return False
        # A plain word: in quotes, or the last one of its sentence.
        return bool(slot.opened) or slot.is_last
    if slot.joint == "to":
        return is_typed(word) or is_signed(word) or (is_joined(word) and bool(slot.opened or slot.is_last))
    if (slot.beside_user or slot.is_foreign) and slot.is_last and len(word) > 5 and is_plain_password(word):
        return True
    if slot.beside_user or slot.opened:
        return made and not HEXADECIMAL.compiled.fullmatch(word)
    return is_made_up(word) or (is_signed(word) and is_joined(word))


def _is_key(word: str, sure: bool) -> bool:
    """A key or token: drawn, in hexadecimal, or shared for one-time codes."""
    if any(c in word for c in "()[]{}<>;|,") or "://" in word or _is_id(word) or KEY_PATH.compiled.search(word):
        return False
    if UUID.compiled.fullmatch(word):
        return sure
    if sure and (is_hex_key(word) or (len(word) == 40 and HEXADECIMAL_DIGITS.compiled.fullmatch(word))):
        return True
    return (len(word) >= (16 if sure else 24) and _is_unordered(word)) or BASE32.compiled.fullmatch(word) is not None


KEY_PATH = LazyRegex(r"/[A-Z_]{6,}$")  # the name of an object that holds a key
HEXADECIMAL_DIGITS = LazyRegex(r"[0-9a-f]+")


def _is_unordered(word: str) -> bool:
    """Letters of both cases and figures without order; ids and digests have fewer kinds."""
    if UUID.compiled.fullmatch(word) or ":" in word or "." in word or word.startswith("http"):
        return False
    figures = sum(c.isdigit() for c in word)
    return word.lower() != word and word.upper() != word and figures > 1 and is_random(word)


def _is_id(word: str) -> bool:
    return word.partition("_")[0].partition("-")[0].lower() in IDS


def _before(text: str, low: str, noun: Noun, start: int, first: int) -> Iterator[Hit]:
    """ "Use X as the password", "Nimm X als Passwort"."""
    least = max(first, start - 120)
    quoted = QUOTED_BEFORE.compiled.search(low, least, start)
    if quoted is not None and noun is Noun.PASSWORD:
        word = text[quoted.start(1) : quoted.end(1)]
        if (
            is_typed(word)
            or is_joined(word)
            or is_signed(word)
            or (" " in word and word.islower() and word.replace(" ", "").isalpha())
        ):
            yield Hit("password", *quoted.span(1))
            return
    match = BEFORE.compiled.search(low, least, start)
    if match is None:
        return
    word = text[match.start(1) : match.end(1)].rstrip(",;.*")
    if is_placeholder(word) or word[0] in "/.~$<{-#@%" or any(c in word for c in "(){}[]<>=;|\\,"):
        return
    told = GIVEN.compiled.search(low, max(first, match.start(1) - 20), match.start(1)) is not None
    told = told and len(word) > 5 and ENDED.compiled.match(low, start) is not None
    made = is_typed(word) or is_signed(word) or is_joined(word) or (told and is_plain_password(word))
    fits = _is_key(word, True) if noun is Noun.KEY else made
    if fits and "/" not in word and not HEXADECIMAL.compiled.fullmatch(word) and not MODEL.compiled.fullmatch(word):
        yield Hit("password", match.start(1), match.start(1) + len(word))


# The number of a message or a ticket, or a commit, at the beginning of a line.
MESSAGE = LazyRegex(r"[A-Z]{3,6}-?\d{3,8}[A-Z]?|\^?[0-9a-f]{7,40}")
OWNED_BY = (" for ", " connect ", " ssid ")
# Public keys of SSH; what a service for keys has encrypted.
NO_SECRET = ("AAAAB3Nza", "AAAAC3Nza", "AAAAE2Vj", "AAAAG", "AQICAH")


def _near(text: str, low: str, noun: Noun, place: tuple[int, int], line: tuple[int, int]) -> Iterator[Hit]:
    """Words on the same line that can hardly be anything but a password or a drawn token."""
    (begin, after), (first, last) = place, line
    least = after if noun is Noun.ACCOUNT else max(first, begin - 60)
    for match in WORD.compiled.finditer(text, least, min(last, after + 100)):
        start = match.start()
        if start < after and match.end() > begin:
            continue
        word = match[0].rstrip(".;:!?*")
        if start == least > first and WORD.compiled.match(text[start - 1] * 5) is not None:
            continue  # the rest of a longer word
        if text.startswith("'s", match.end()) or low[first:start].rstrip("\"'").endswith(OWNED_BY):
            continue  # whose password it is
        if start == first and MESSAGE.compiled.fullmatch(word):
            continue
        if OPTION.compiled.search(low, max(first, start - 24), start) is not None:
            continue  # the value of an option that is not secret itself: `token lookup -accessor ...`
        coded = (
            text.endswith("ENC(", 0, start)
            or "enc[" in low[first:start]
            or "encrypteddata" in low[max(0, start - 400) : start]
        )
        if _is_beyond_doubt(word, noun) and not coded and not is_public(text[max(0, start - 60) : start]):
            yield Hit("token" if noun is Noun.KEY else "password", start, start + len(word))


def _is_beyond_doubt(word: str, noun: Noun) -> bool:
    if len(word) < 6 or word[0] in "/.~$<{-#@%" or is_placeholder(word) or "→" in word or _is_id(word):
        return False
    if word.startswith(NO_SECRET) or HEXADECIMAL.compiled.fullmatch(word) or ALGORITHM.compiled.fullmatch(word):
        return False
    if any(c in word for c in "(){}[]<>=;|\\,:") and not word.endswith("="):
        return False
    if noun is Noun.KEY:
        return (len(word) >= 24 and _is_unordered(word)) or BASE32.compiled.fullmatch(word) is not None
    if "/" in word or UUID.compiled.fullmatch(word):
        return False
    return not (DOTTED.compiled.search(word) and not is_signed(word)) and (is_made_up(word) or is_drawn(word))
