"""Secrets near the word for them: on the line below it, before it ("use X as the password"), or a few words further on.

The less the place says, the more the word itself must look like a password or a drawn token.
"""

from __future__ import annotations

from collections.abc import Iterator

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.hit import Hit, line_start
from seasoned.redact.literal import (
    HEXADECIMAL,
    MODEL,
    TYPED_SIGNS,
    UUID,
    is_made_up,
    is_placeholder,
    is_random,
    is_strong,
    is_typed,
)
from seasoned.redact.name import vocabulary

LONGEST = 20_000  # longer texts are files and logs, where a line seldom speaks of the next one
WIDEST = 240  # a longer line is data
MOST_LINES = 20
# By the marks of names: the words to look around. `_is_noun` looks at what stands before them.
NOUNS = {
    "pass": LazyRegex(r"pass(?:word|phrase|code|wd|wort)?s?(?![a-z_(\-])"),
    "pw": LazyRegex(r"pwd?(?![a-z_(\-])"),
    "cred": LazyRegex(r"cre(?:ds?|dentials?|t)(?![a-z_(\-])"),
    "token": LazyRegex(r"ken(?![a-z_(\-])"),
    "key": LazyRegex(r"keys?(?![a-z_(\-])"),
    "login": LazyRegex(r"login(?![a-z_(\-])"),
}
# Rarer than the words themselves, so that most texts are not searched for them.
NOUN_MARKS = {
    "cred": ("cred", "secret"),
    "key": (
        "api key",
        "api_key",
        "api-key",
        "apikey",
        "ess key",
        "ess_key",
        "ate key",
        "ret key",
        "ing key",
        "new key",
        "ense key",
        "secret_key",
        "master.key",
        "setup key",
        "master key",
        "private_key",
        "private.key",
        "accesskey",
    ),
}
KEY_OWNERS = (
    "api",
    "access",
    "secret",
    "private",
    "signing",
    "encryption",
    "root",
    "account",
    "new",
    "service",
    "license",
    "master",
    "setup",
    "deploy",
    "host",
    "encrypt",
)
FIGURE = LazyRegex(r"[0-9]")
WORD = LazyRegex(r"""[^\s"'`“”„«»「」<>()\[\],，。]{5,512}""")
# What a text may put before a line: its number, the file, a mark of a quotation or a list.
_MARGIN = r"(?:[\w./\-]{1,80}:\d{1,6}:)?[ \t+>\-*|$]{0,12}(?:\d{1,6}→)?[ \t]{0,8}"
_LINE_END = r"[ \t]{0,4}(?:\r?\n|\\r\\n|\\n|\\r)"
# An empty line, a fence or a rule, and the line below.
BELOW = LazyRegex(
    rf"(?:{_MARGIN}(?:`{{3}}\w{{0,10}}|[=\-]{{3,40}})?{_LINE_END}){{0,2}}{_MARGIN}(?:\(?\d{{1,2}}[.)][ ])?"
    rf"\\{{0,4}}[\"'`]{{0,3}}(?:[\w.\-]{{1,40}}(?:\[\d{{1,4}}\])?:[ ]?[\"']?(?=\S))?"
    rf"([^\s\"'`\\<>|]{{6,512}})\\{{0,4}}[\"'`]{{0,3}}"
    rf"(?:{_LINE_END}|\"|$)"
)
# A user name may stand between them.
NAMED_BELOW = LazyRegex(rf"(?:{_MARGIN}{_LINE_END})?{_MARGIN}[\w.@\-]{{2,40}}{_LINE_END}")
# Commands that print a secret that nothing else names.
PRINTS = (
    "pwgen", "openssl rand", " genkey", " genpsk", "token_hex", "token_urlsafe", "urandom", "gen.secret",
    "rails secret", "key:generate", "auth:token", "auth token", "access-token", "identity-token", "get-login-password",
    "initial-password", "vault-token", "xkcdpass", "diceware", "makepasswd", "/secrets/", "acl bootstrap",
    "dumpprivkey", "pass show", "create-access-key", "get-secret-value", "versions access", "get-parameter",
    "getpass(",
)  # fmt: skip
ASKS = LazyRegex(r"[:?]\s*$|\b(?:is|are|below|following)\W*$")
JOINT = LazyRegex(
    r"(?:'s)?(?: from \S{1,60})?(?: (?:for|of|on|to|from|at) [^\s:=]{1,40}(?: [^\s:=]{1,40}){0,3}?)?"
    r"(?:(?:\s|,)(?:that|which|you|we|i|asked|need|wanted|will|has|have|had|been|should|must|was|is|are|be|now|it|it's|"
    r"currently|still|just|re)\b){0,6}"
    r"(?:[:=?]|\s(?:set|reset|changed|updated|rotated|to|is|be|was|as|=|->|→|typed|entered|tried|"
    r"\?|es|ist|lautet|est|er|je|jest|adalah)){1,3}[: ]\s{0,2}"
    r"(?:now )?[\"'`*(“«]{0,3}$"
)
BEFORE = LazyRegex(
    r"(?:^|[\s\"'`(“«])([^\s\"'`“”«»()]{5,128})[\"'`”»)]{0,2},? (?:as|for|als|como|comme|come|jako|som|sebagai|olarak|"
    r"into|instead, (?:that's|it's|it is|that is)|(?:is|was|ist|est|es) (?:your|the|my|our|das|dein|ihr|le|la|su|tu))"
    r"(?: [\w'\-]{1,14}){0,3} $"
)
USER = LazyRegex(r"(?:user(?:name)?|login|account|as)[ :=\"']{1,3}[\w.@\-]{1,40}[ ,\"';/]{1,3}$")
BASE32 = LazyRegex(
    r"(?=\D*\d\D*\d)(?:[A-Z2-7]{16}|[A-Z2-7]{24}|[A-Z2-7]{26}|[A-Z2-7]{32})"
)  # shared for one-time codes
OPTION = LazyRegex(r"(?:^|\s)-{1,2}[a-z][\w\-]*[ =][\"']?$")
DOTTED = LazyRegex(r"[a-zA-Z_]\.[a-zA-Z_]|\d\.\d")
IDS = vocabulary("toolu call msg req chatcmpl run thread step resp sess session evt event acc cus sub price item rs fc")


def find_nearby(text: str, low: str, marks: set[str]) -> Iterator[Hit]:
    """Secrets around the words for them, in texts that people and programs write line by line."""
    if len(text) > LONGEST:
        return
    for mark, pattern in NOUNS.items():
        if marks.isdisjoint(NOUN_MARKS.get(mark, (mark,))):
            continue
        seen = -1
        for noun in pattern.compiled.finditer(low):
            if not _is_noun(low, noun.start(), noun[0]):
                continue
            last, below_at = _line_end(low, noun.end())
            first = _line_start(low, noun.start())
            # Every secret here has a figure in it, and most lines have none.
            if FIGURE.compiled.search(low, first, last + WIDEST) is None:
                continue
            drawn = mark in ("token", "key") or noun[0] == "cret"
            # `PASS` is what test runners print, and a first pass is none.
            short = noun[0] in ("pass", "pw", "pwd")
            if (
                short
                and text.startswith("PASS", noun.start())
                and text[noun.start() - 1 : noun.start()] != "_"
                and not _is_printed(low, first, last)
            ):
                continue
            # Beside a login stands a user, and most often nothing else.
            beside = noun[0] == "login"
            yield from _on_line(text, low, (noun.end() if beside else first, last), noun.span(), drawn, short or beside)
            if beside:
                continue
            # One look at the line below, whichever word of this one leads to it.
            if (
                below_at >= 0
                and last > seen
                and (not short or low[noun.start() - 1] != " " or _is_printed(low, first, last))
            ):
                seen = last
                below = _below(text, low, first, last, below_at, drawn)
                if not below and noun[0].startswith("cred"):
                    named = NAMED_BELOW.compiled.match(text, below_at)
                    below = _below(text, low, first, last, named.end(), drawn) if named is not None else []
                yield from below


def _line_start(low: str, at: int) -> int:
    first = line_start(low, at, WIDEST)
    return max(first, low.rfind("→", first, at) + 1)


def _line_end(low: str, at: int) -> tuple[int, int]:
    """Where the line ends, and where the next one begins: -1 if there is none."""
    most = min(len(low), at + WIDEST)
    plain = low.find("\n", at, most)
    escaped = low.find("\\n", at, most if plain < 0 else plain)
    if escaped >= 0:
        end = escaped - 2 if low.startswith("\\r", escaped - 2) else escaped
        return end, escaped + 2
    if plain < 0:
        return most, -1
    return plain - (low[plain - 1] == "\r"), plain + 1


def _is_noun(low: str, start: int, noun: str) -> bool:
    before = low[max(0, start - 12) : start]
    if "[redacted:" in before:
        return False
    if noun.startswith("key"):
        return before.rstrip(" _-.").endswith(KEY_OWNERS)
    if noun in ("ken", "cret"):
        return before.endswith("to" if noun == "ken" else "se")
    return noun not in ("pass", "pw", "pwd", "creds", "cred") or not before[-1:].isalpha()


def find_printed(text: str, low: str, marks: set[str]) -> Iterator[Hit]:
    """What a command printed that makes or shows secrets."""
    for mark in marks.intersection(PRINTS) if len(text) <= LONGEST else ():
        at = low.find(mark)
        while at >= 0:
            last, below_at = _line_end(low, at)
            match = BELOW.compiled.match(text, below_at) if below_at >= 0 else None
            if match is not None and ">" not in low[at:last]:
                word = match[1]
                if is_random(word) or UUID.compiled.fullmatch(word) or is_strong(word):
                    yield Hit("secret", match.start(1), match.end(1))
            at = low.find(mark, at + len(mark))


def _on_line(
    text: str, low: str, line: tuple[int, int], noun: tuple[int, int], drawn: bool, short: bool
) -> Iterator[Hit]:
    (first, last), (begin, after) = line, noun
    if FIGURE.compiled.search(low, max(first, begin - 120), min(last, after + 100)) is None:
        return
    before = BEFORE.compiled.search(low, max(first, begin - 120), begin)
    if before is not None:
        word = text[before.start(1) : before.end(1)].rstrip(",;.")
        if _fits(word, drawn, told=True):
            yield Hit("password", before.start(1), before.start(1) + len(word))
    beside_user = USER.compiled.search(low, max(first, begin - 60), begin) is not None
    for match in WORD.compiled.finditer(text, max(first, begin - 60), min(last, after + 100)):
        start = match.start()
        if start < after and match.end() > begin:
            continue
        word = match[0].rstrip(".;:!?*")
        name, colon, rest = word.partition(":")
        if colon and name.isalnum() and rest and not drawn:
            start, word = start + len(name) + 1, rest
        paired = start > match.start()
        told = start >= after and (
            (paired and match.start() - after < 12)
            or JOINT.compiled.fullmatch(low, after, start) is not None
            or (beside_user and not low[after:start].strip(" :=\"'`,"))
        )
        # The value of an option that is not secret itself: `token lookup -accessor ...`.
        optional = not told and OPTION.compiled.search(low, max(first, start - 24), start) is not None
        if (told or not short) and not optional and _fits(word, drawn, told):
            yield Hit("token" if drawn else "password", start, start + len(word))


def _fits(word: str, drawn: bool, told: bool) -> bool:
    if len(word) < 5 or word[0] in "/.~$<{-#@%" or is_placeholder(word) or "→" in word or _is_id(word):
        return False
    if any(c in word for c in "(){}[]<>=;|\\,") and not word.endswith("="):
        return False
    if UUID.compiled.fullmatch(word) and not drawn:
        return False
    if drawn:
        return (len(word) >= (20 if told else 24) and _is_drawn(word)) or BASE32.compiled.fullmatch(word) is not None
    if "/" in word or (DOTTED.compiled.search(word) and not any(c in TYPED_SIGNS for c in word)):
        return False
    if told:
        return is_typed(word) and not HEXADECIMAL.compiled.fullmatch(word) and len(word) > 5
    return is_made_up(word)


def _is_drawn(word: str) -> bool:
    """Letters of both cases and figures without order; ids and digests have fewer kinds."""
    if _is_id(word) or UUID.compiled.fullmatch(word) or ":" in word or "." in word or word.startswith("http"):
        return False
    figures = sum(c.isdigit() for c in word)
    return word.lower() != word and word.upper() != word and figures > 1 and is_random(word)


def _is_id(word: str) -> bool:
    return word.partition("_")[0].partition("-")[0].lower() in IDS


def _below(text: str, low: str, first: int, last: int, at: int, drawn: bool) -> list[Hit]:
    """The line below, and those below it as long as each is a secret too."""
    hits: list[Hit] = []
    if BELOW.compiled.match(text, at) is None:
        return hits
    asks = ASKS.compiled.search(low, max(first, last - 40), last) is not None or _is_printed(low, first, last)
    for _ in range(MOST_LINES):
        match = BELOW.compiled.match(text, at)
        if match is None or not _stands_alone(match[1], drawn, asks):
            break
        hits.append(Hit("token" if drawn else "password", match.start(1), match.end(1)))
        at = match.end()
    return hits


def _stands_alone(word: str, drawn: bool, asks: bool) -> bool:
    """Whether a word that fills a line is the secret that the line above speaks of."""
    if is_placeholder(word) or word[0] in "/.~$<{-#%=" or "://" in word or _is_id(word) or "→" in word:
        return False
    if not asks and (HEXADECIMAL.compiled.fullmatch(word) or MODEL.compiled.fullmatch(word)):
        return False
    if not asks and any(c in word for c in "()[]{},;=") and not word.endswith("="):
        return False
    bare = word.removeprefix("0x")
    if len(bare) in (32, 36, 40, 64) and not bare.strip("0123456789abcdefABCDEF-"):
        return asks or len(word) == 66  # a digest below a line with such a word is mostly a commit
    if drawn:
        return len(word) >= 16 and (_is_drawn(word) or (is_random(word) and asks))
    return is_strong(word) or (is_random(word) and ":" not in word) or (asks and is_typed(word))


SHOWS = LazyRegex(
    r"^[ +\-\d→]*(?:[\w./\-]{1,80}:\d{1,6}:)?[ ]*(?:[$>#%]+[ ]?|in \[\d+\]: )?(?:sudo )?(?:cat|echo|printenv|print"
    r"|base64|op|pass|gopass|vault|terraform|kubectl|read|bw|lpass|az|aws|gcloud|head|tail|less|security"
    r"|getpass\.getpass|doppler|chamber|heroku|flyctl|fly|railway|gh|glab|docker|oc|sops|ansible-vault|gpg|age|pulumi|consul|etcdctl"
    r"|keyring|secret-tool|rbw|keepassxc-cli|dcli|infisical|supabase|wrangler|ssh|cut|grep|awk|jq|yq)[ (]"
    r"|\| ?(?:base64|jq|pbcopy)|<<|^[ +\-\d→]*(?:[$%#]|>>>) "
)


def _is_printed(low: str, first: int, last: int) -> bool:
    """Whether the line is a command that shows what it names."""
    return SHOWS.compiled.search(low[first:last]) is not None


# One-time codes and numbers that open something: figures alone, so only right beside their name.
CODE_MARKS = ("otp", "puk", "2fa", "mfa", "recovery key")
# Parts of so many words that they are looked for with what stands before them.
OWNED_MARKS = (" code", "_code", "-code", " pin", "_pin", '"pin')
# What makes a code or a PIN a secret: the word before it.
CODE_OWNERS = (
    "verification", "authentication", "authenticator", "confirmation", "security", "access", "login", "sms", "time",
    "2fa", "mfa", "otp", "alarm", "door", "gate", "unlock", "entry", "pairing", "token", "auth", "backup", "reset",
    "sim", "pin", "debugger", "card", "parental", "voicemail", "wps", "your", "device", "the", "use", "enter", "with",
)  # fmt: skip
CODE = LazyRegex(
    r"(?: code| for the \w{1,20}| password)?[\"']?(?:\s(?:is|was))?\s{0,2}[:=]?\s{0,2}[\"'`]?"
    r"(\d{4,10}|\d{3}(?:[ -]\d{3}){1,2}|\d{6}(?:-\d{6}){7}|[a-z0-9]{4}-[a-z0-9]{4})(?!\w|[.\-:,/]\w)"
)
CODE_BEFORE = LazyRegex(r"(?:^|[\s\"'(]|g-)(\d{4,8})(?: is | as )(?:your|the|my) (?:\w{1,14} ){0,3}$")


def find_codes(text: str, low: str, marks: set[str]) -> Iterator[Hit]:
    """One-time codes, PINs and recovery keys made of figures."""
    for mark in marks.intersection((*CODE_MARKS, *OWNED_MARKS)) if len(text) <= LONGEST else ():
        at = low.find(mark)
        while at >= 0:
            end = at + len(mark)
            before = low[max(0, at - 40) : at]
            owned = before.rstrip(" _-").endswith(CODE_OWNERS)
            owned = owned or (" is your " in before and mark == " code")
            if (mark in OWNED_MARKS and not owned) or (mark in CODE_MARKS and before[-1:].isalnum()):
                at = low.find(mark, end)
                continue
            match = CODE.compiled.match(low, end) or (
                CODE_BEFORE.compiled.search(before + " ") if mark != "recovery key" else None
            )
            if match is not None:
                shift = 0 if match.string is low else at - len(before)
                word = text[match.start(1) + shift : match.end(1) + shift]
                # Codes with letters are drawn in capitals.
                if word.upper() == word and any(c.isdigit() for c in word):
                    yield Hit("code", match.start(1) + shift, match.end(1) + shift)
            at = low.find(mark, end)
