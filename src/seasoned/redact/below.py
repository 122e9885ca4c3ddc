"""Secrets on the line below the word for them, as programs print them, and one-time codes beside their name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.hit import Hit, line_end
from seasoned.redact.literal import (
    HEXADECIMAL,
    MODEL,
    UUID,
    is_placeholder,
    is_plain_password,
    is_random,
    is_strong,
    is_typed,
)
from seasoned.redact.name import vocabulary

LONGEST = 20_000  # longer texts are files and logs, where a line seldom speaks of the next one
WIDEST = 240  # a longer line is data
MOST_LINES = 20
# What a text may put before a line: its number, the file, a mark of a quotation or a list.
_MARGIN = (
    r"(?:\[[^\]\n]{4,30}\] |<[\w.\-]{1,20}> ?"
    r"|\d{4}-\d\d-\d\d \d\d:\d\d - )?(?:[\w./\-]{1,80}:\d{1,6}:)?[ \t+>\-*|$]{0,12}(?:\d{1,6}→)?[ \t]{0,8}"
)
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
# A file and a line in it.
SETTING = LazyRegex(r"[a-z][a-z_.]{1,20}=[^=]")
LISTED = LazyRegex(r"\.\w{1,5}[:\-]\d")
# A prompt, and a command whose last word is what it prints.
SHOWN = LazyRegex(
    r"(?:^|[\s→+])[$#%>]\s.{0,100}(?:pass\w*|secrets?|pw|pwd|token|creds?)[\w./}'\"\-]{0,40}(?: [|].{0,40}| -[a-z])?$"
    r"|(?:what'?s?|which|cu[aá]l|wie|was|quel|qual|welk|какой)\b.{0,60}\?$|(?:whats|what is|was war)\b.{0,60}$"
)
ASKS = LazyRegex(r"[:?]\s*$|\b(?:is|are|below|following)\W*$")
IDS = vocabulary("toolu call msg req chatcmpl run thread step resp sess session evt event acc cus sub price item rs fc")


def find_below(text: str, low: str, line: tuple[int, int], is_key: bool, is_account: bool) -> list[Hit]:
    """Secrets on the lines below one that ends with, or asks for, what a word on it names."""
    first, last = line
    below_at = _next_line(low, last)
    if below_at < 0:
        return []
    hits = _below(text, low, first, last, below_at, is_key)
    if not hits and is_account:
        named = NAMED_BELOW.compiled.match(text, below_at)
        hits = _below(text, low, first, last, named.end(), False) if named is not None else []
    return hits


def _next_line(low: str, last: int) -> int:
    """Where the line behind this end begins; -1 if there is none."""
    for end in ("\r\n", "\n", "\\r\\n", "\\n"):
        if low.startswith(end, last):
            return last + len(end)
    return -1


def find_printed(text: str, low: str, marks: Mapping[str, list[int]]) -> Iterator[Hit]:
    """What a command printed that makes or shows secrets."""
    for mark in marks.keys() & frozenset(PRINTS) if len(text) <= LONGEST else ():
        for at in marks[mark]:
            last = line_end(low, at, WIDEST)
            below_at = _next_line(low, last)
            match = BELOW.compiled.match(text, below_at) if below_at >= 0 else None
            if match is not None and ">" not in low[at:last]:
                word = match[1]
                if is_random(word) or UUID.compiled.fullmatch(word) or is_strong(word):
                    yield Hit("secret", match.start(1), match.end(1))


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
    certain = SHOWN.compiled.search(low, first, last) is not None
    for _ in range(MOST_LINES):
        match = BELOW.compiled.match(text, at)
        if match is None or low.endswith("secure: ", at, match.start(1)):
            break  # the latter is encrypted
        if not _stands_alone(match[1], drawn, asks, certain):
            break
        hits.append(Hit("token" if drawn else "password", match.start(1), match.end(1)))
        at = match.end()
    return hits


def _stands_alone(word: str, drawn: bool, asks: bool, certain: bool) -> bool:
    """Whether a word that fills a line is the secret that the line above speaks of."""
    if is_placeholder(word) or word[0] in "/.~$<{-#%=" or "://" in word or _is_id(word) or "→" in word:
        return False
    if LISTED.compiled.search(word) or SETTING.compiled.match(word):
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
    if certain and is_plain_password(word):
        return True
    return is_strong(word) or (is_random(word) and ":" not in word) or (asks and is_typed(word))


SHOWS = LazyRegex(
    r"^[ +\-\d→]*(?:[\w./\-]{1,80}:\d{1,6}:)?[ ]*(?:[$>#%]+[ ]?|in \[\d+\]: )?(?:sudo )?(?:cat|echo|printenv|print"
    r"|base64|op|pass|gopass|vault|terraform|kubectl|read|bw|lpass|az|aws|gcloud|head|tail|less|security"
    r"|getpass\.getpass|doppler|chamber|heroku|flyctl|fly|railway|gh|glab|docker|oc|sops|ansible-vault"
    r"|gpg|age|pulumi|consul|etcdctl"
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


def find_codes(text: str, low: str, marks: Mapping[str, list[int]]) -> Iterator[Hit]:
    """One-time codes, PINs and recovery keys made of figures."""
    for mark in marks.keys() & frozenset((*CODE_MARKS, *OWNED_MARKS)) if len(text) <= LONGEST else ():
        for at in marks[mark]:
            end = at + len(mark)
            before = low[max(0, at - 40) : at]
            owned = before.rstrip(" _-").endswith(CODE_OWNERS)
            owned = owned or (" is your " in before and mark == " code")
            if (mark in OWNED_MARKS and not owned) or (mark in CODE_MARKS and before[-1:].isalnum()):
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
