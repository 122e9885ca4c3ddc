"""A learned score for words that may be a secret: what rules cannot say one by one, counted over thousands of texts.

Rules know names, formats and programs. What is left are words near a cue (`pw`, `login`, `clave`, a column named
`pass`) that look like any other word: `Luftpumpe`, `tortilla88`. Whether such a word is a secret depends on many small
things at once: how rare the word is, what separates it from the cue, which words stand around it. Each of them is a
feature with a weight; a word whose weights add up to more than a threshold is a secret.
`tools/train_redactor.py` finds the weights.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.hit import Hit, line_start
from seasoned.redact.literal import EMPTY, LABELS, PLACEHOLDER
from seasoned.redact.name import vocabulary

HERE = Path(__file__).parent
NEVER = -99.0
LONGEST_TEXT = 4_000  # longer texts are files and logs, which rules read faster
LONGEST_LINE = 1_200
SHORT_TEXT = 600  # a short text is read whole, a longer one only around its cues
LEAST, MOST = 4, 160  # characters of a secret
FAR = 3  # in a short text, as a chat, so many lines below a cue are read
MOST_ROWS = 40
GRAM = "g3:"  # what the names of such features begin with while they are trained
MOST_GRAMS = 14  # characters of a value whose triples count
COMMON = 3  # a word that is more common than this is a secret nowhere

# Words for a secret, and for what has one, in many languages: a text without any of them is not read at all. A word
# with a bar at an end counts only if no letter or digit stands there.
# What is said of tests and arguments.
TEST_WORDS = (
    "--- pass", "tests pass", "to pass", "will pass", "all pass", "must pass", "should pass",
    "pass the", "pass a ", "pass it", "pass:\n", "pass\n", "bypass", "passthrough", "passport", "compass",
    "pass through", "pass in",
)  # fmt: skip
CUES = (
    *vocabulary(
        "pass pwd |pw _pw psw secret token credential |creds| |cred| login logon signin auth apikey api-key "
        "api_key access-key accesskey private-key privatekey |key| licence license serial activation |pin| "
        "|otp| |code| cookie bearer |psk| |wpa wifi wi-fi wlan tokens author passed passes passing mnemonic "
        "recovery seed community unlock identified sasl ntlm jdbc |dsn| connect |user| |username| |usr| |uid| "
        "|root| |admin| keystore key-store hmac encrypt decrypt vault |vpn| :// --pw |u: mysql mongo redis "
        "psql postgres benutzer gebruiker |konta| |comptes| |utenti| учётк |tan| mailbox |pdo| smtp imap "
        "|ftp| |ssh| ldap snmp radius ipmi gopass sequelize |account| |nutzer| |usuario| |utente| kennwort "
        "geheim zugang schlüssel anmeld |mdp| contrase |contra| |clave| código |codigo| senha wachtwoord |ww| "
        "lösen passord adgangskode kodeord |kode salasana haslo hasło heslo jelsz parol sifre şifre geslo "
        "lozink šifra slapta parool fjalë zapork pasahitz nenosiri wagwoord |sandi| lykilor |mk| лозинк парол "
        "пасс |пас| |код| κωδικ συνθημ 密码 密碼 口令 暗号 パスワード パス 暗証 비밀번호 비번 암호 "
        "รหัส पासवर्ड পাসওয়ার্ড கடவு گذرواژه پاس رمز كلمة باسورد סיסמ գաղտն zaloguj přihlas accede "
    ),
    "log in", "sign in", "api key", "access key", "private key", "mot de passe",
    "mật khẩu", " /rp ", " -u ", " -p", "entra con",
    *TEST_WORDS,
)  # fmt: skip
# A run of characters between white space, quotes and brackets.
RUN = LazyRegex(r"""[^\s"'`“”„«»‘’「」『』<>(){}\[\]|,;，。、；：\\]+""")
QUOTED = LazyRegex(
    r'"([^"\n]{4,160})"|\'([^\'\n]{4,160})\'|`([^`\n]{4,160})`|“([^”\n]{4,160})”|«([^»\n]{4,160})»|„([^“”\n]{4,160})[“”]'
)
# The rest of a line behind a separator or a verb: where phrases of several words stand.
REST = LazyRegex(
    r"(?:[:=：]\s*|\b(?:is|it's|ist|lautet|es|est|è|é|är|er|on|jest|je|este)\s+)([^\s(].{4,88}?)\s*(?:[.(,]\s|[.)]?\s*$)"
)
# Two to five words behind a cue, as phrases stand without quotes: `--password old mill pond`.
PHRASE = LazyRegex(r"""[\w.-]{0,24}["']?[\s:=>({]{1,4}["']?([^\s;,|<>"'`(){}]+(?: [^\s;,|<>"'`(){}]+){1,4})""")
ELEMENT = LazyRegex(r">([^<>\n]{4,90})</")
# What stands alone behind a separator, whatever its signs.
ALONE = LazyRegex(r"""[:=]\s{0,3}([^\s"'`({\[<]\S{4,62}[^\s"'`,;.)}\]>])(?!\S)""")
PIECE = LazyRegex(r"[=:：/@]([^=&?：]{4,})")
ASCII_RUN = LazyRegex(r"[!-~]{4,}")
WORD = LazyRegex(r"[^\W\d_]+")
TOKEN = LazyRegex(r"\w+(?:[-.]\w+)*")
NAME_PART = LazyRegex(r"[a-z]+|[A-Z][a-z]+|[A-Z]+(?![a-z])|[^\W\d_A-Za-z]+|\d+")
HEXADECIMAL = LazyRegex(r"[0-9a-fA-F]+")
# Decimals, and times as JSON has them behind a name.
NUMBER = LazyRegex(r"[:=+-]?\d+\.\d+|[:=]\d{9,}")
UUID = LazyRegex(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-")
CODE = LazyRegex(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z|[A-Za-z_]\w*\(|::|->|=>|^process\.|^os\.|env\b")
FILE = LazyRegex(
    r"\.(?:com|md|py|jsx?|json|tsx?|test|example|ya?ml|txt|log|go|sh|local|net|org|io|html?|css|toml|rs|java|sql|7z|zip|gz"
    r"|pem|key|crt|conf|cfg|ini|lock|env|csv|xml|png|svg|rb|php|kt|cs|invalid|pub|p12|jks|db|sqlite)$"
)
OPTION = LazyRegex(r"(-{1,2}[\w-]+)[ =:]*[\"']?$")
FIRST_WORD = LazyRegex(r"[\s$>+\-#*\d.)|→]*([\w./-]+)")
SPACES = LazyRegex(r"\s+")
DELIMITERS = ("|", "\t", ",", ";")
# What never begins a secret: variables, tags, templates.
NO_BEGINNING = tuple("$<{~&\\")
ENDS = ".:!?…*_"


# Too common to read a text for them alone; where it is read, they say something all the same.
WEAK_CUES = vocabulary(
    "key token user username code root connect account usr uid :// encrypt decrypt radius seed ssh tokens author "
    "passed passes passing serial activation community recovery wi-fi identified "
) | {" -u ", *TEST_WORDS}

Column = tuple[str, list[str]]  # the delimiter of a table, and the cells of its head
# In a note as short as this they are worth a look: "root is now X", "door code 4471".
NOTE = (10, 300)
NOTE_CUES = WEAK_CUES.difference(TEST_WORDS, ("tokens", "author", "passed", "passes", "passing"))


class Cue(NamedTuple):
    """A word for a secret in a text."""

    start: int
    end: int
    word: str


@lru_cache(maxsize=1)
def _cue_finder() -> Callable[[str], Iterable[tuple[int, int]]]:
    """Finds the longest cue at each place; the library is faster, and gives the same."""
    words = sorted({cue.strip("|") for cue in CUES}, key=lambda word: (-len(word), word))
    try:
        from ahocorasick_rs import AhoCorasick, Implementation, MatchKind
    except ImportError:
        expression = re.compile("|".join(map(re.escape, words)))
        return lambda low: [match.span() for match in expression.finditer(low)]
    automaton = AhoCorasick(words, matchkind=MatchKind.LeftmostLongest, implementation=Implementation.DFA)
    return lambda low: [(start, end) for _, start, end in automaton.find_matches_as_indexes(low)]


_BOUND_BEFORE = frozenset(cue.strip("|") for cue in CUES if cue[0] == "|")
_BOUND_AFTER = frozenset(cue.strip("|") for cue in CUES if cue[-1] == "|")


def find_cues(low: str) -> list[Cue]:
    """The cues of a lower-cased text, in order."""
    found = []
    for start, end in _cue_finder()(low):
        word = low[start:end]
        if word in _BOUND_BEFORE and low[start - 1 : start].isalnum():
            continue
        if word in _BOUND_AFTER and low[end : end + 1].isalnum():
            continue
        found.append(Cue(start, end, word))
    return found


class Weights(msgspec.Struct):
    """What training found: the weight of each feature, from which sum on a word is a secret, how common words are."""

    bias: float
    threshold: float
    # Nearly every secret of the training texts has more by its value alone, and with its nearest surroundings.
    least_value: float
    least_near: float
    weights: dict[str, float]
    grams: dict[str, float]  # weights of three letters in a row
    common: dict[str, int] = {}  # 2 to 5


@lru_cache(maxsize=1)
def load_weights() -> Weights:
    """Read the weights; they are kept for the life of the process."""
    learned = msgspec.json.decode((HERE / "weights.json").read_bytes(), type=Weights)
    levels = msgspec.json.decode((HERE / "common_words.json").read_bytes(), type=dict[int, str])
    learned.common = {word: level for level, words in levels.items() for word in words.split()}
    return learned


def find_scored(text: str, low: str, known: Sequence[Hit] = ()) -> Iterator[Hit]:
    """Words near a cue that the weights call secret; `known` are hits of the rules."""
    for line in _lines_near_cues(text, low):
        learned = load_weights()
        found = [
            Hit("password", line.start + start, line.start + end)
            for start, end in line.spans()
            if line.score(start, end, learned) > learned.threshold
        ]
        yield from found
        # Where a phrase ends is a guess: a word that was found in it says more.
        phrases = [
            (line.score(start, end, learned), Hit("password", line.start + start, line.start + end))
            for start, end in line.phrases()
        ]
        best, phrase = max(phrases, default=(NEVER, Hit("", 0, 0)))
        if best > learned.threshold and not any(
            hit.start < phrase.end and phrase.start < hit.end for hit in (*known, *found)
        ):
            yield phrase


def candidates(text: str) -> Iterator[tuple[int, int, tuple[list[str], list[str], list[str]]]]:
    """Every word or phrase near a cue that may be a secret, with its features: its own, near ones, far ones."""
    for line in _lines_near_cues(text, text.lower()):
        for start, end in line.spans() | line.phrases():
            value = line.line[start:end]
            if LEAST <= len(value) <= MOST and not is_harmless(value):
                place = Place(line, start, end, value)
                own = [*value_features(value)[0], *[f"{GRAM}{gram}" for gram in grams_of(value)]]
                found = (own, place.near_features(), place.far_features())
                yield line.start + start, line.start + end, found


def _lines_near_cues(text: str, low: str) -> Iterator[CueLine]:
    if len(text) > LONGEST_TEXT or len(low) != len(text):
        return
    cues = find_cues(low)
    is_note = NOTE[0] <= len(text) <= NOTE[1]
    strong = [cue.start for cue in cues if cue.word not in WEAK_CUES or (is_note and cue.word in NOTE_CUES)]
    if not strong:
        return
    starts = [cue.start for cue in cues]
    further = FAR if len(text) <= SHORT_TEXT else 1
    done: set[int] = set()

    def read(start: int, end: int, column: Column | None) -> Iterator[CueLine]:
        if start in done or not LEAST <= end - start <= LONGEST_LINE:
            return
        done.add(start)
        first = bisect_left(starts, start)
        above, above_end = _line_at(text, start - 1) if start else (0, 0)
        known = cues[first - 1].word if first and cues[first - 1].start >= above else "-"
        before = f"{known}:{low[above:above_end].rstrip()[-1:]}" if start else ""
        here = cues[first : bisect_left(starts, end)]
        yield CueLine(text[start:end], low[start:end], start, here, before, column)

    for at in strong:
        start, end = _line_at(text, at)
        yield from read(start, end, None)
        head, column = (start, end), None
        for row in range(1, MOST_ROWS):
            following = _line_below(text, end)
            if following is None:
                break
            start, end = following
            column = _column(low, head, start, end) if row == 1 or column else None
            if row > further and column is None:
                break
            yield from read(start, end, column)


def _line_at(text: str, at: int) -> tuple[int, int]:
    """Beginning and end of the line around a place; in JSON lines end with an escaped sign."""
    start = line_start(text, at, LONGEST_LINE)
    plain, escaped = text.find("\n", at), text.find("\\n", at)
    return start, min(plain if plain >= 0 else len(text), escaped if escaped >= 0 else len(text))


def _line_below(text: str, end: int) -> tuple[int, int] | None:
    if end >= len(text):
        return None
    start = end + (1 if text[end] == "\n" else 2)
    return start, _line_at(text, start)[1]


def _column(low: str, head: tuple[int, int], start: int, end: int) -> Column | None:
    """The delimiter and the cells of the head, if the line is a row of the table below it."""
    for delimiter in DELIMITERS:
        count = low.count(delimiter, *head)
        if count and abs(low.count(delimiter, start, end) - count) <= 1:
            return delimiter, low[slice(*head)].split(delimiter)
    return None


class CueLine:
    """One line near a cue: what all of its candidates have in common is found once."""

    def __init__(
        self,
        line: str,
        low: str,
        start: int,
        cues: list[Cue],
        cue_above: str,
        column: Column | None,
    ) -> None:
        self.line, self.low, self.start, self.cue_above, self.column = line, low, start, cue_above, column
        self.cues = [Cue(cue.start - start, cue.end - start, cue.word) for cue in cues]
        self.words = [match.span() for match in TOKEN.compiled.finditer(low)]
        self.word_starts = [a for a, _ in self.words]
        first = FIRST_WORD.compiled.match(low)
        self.first = first[1] if first else ""

    def spans(self) -> set[tuple[int, int]]:
        """What may be a secret in this line."""
        line = self.line
        spans = set()
        common = load_weights().common
        for match in RUN.compiled.finditer(line):
            start, whole = match.span()
            if whole - start < LEAST:
                continue
            if match[0].isascii() and match[0].isalnum():
                if common.get(match[0].lower(), 0) <= COMMON:
                    spans.add((start, whole))
                continue
            while start < whole and line[start] in "*_":
                start += 1
            end = whole
            while end > start and line[end - 1] in ENDS:
                end -= 1
            run = line[start:end]
            spans |= {(start, end), (start, whole)}
            spans.update((start + m.start(1), start + m.end(1)) for m in PIECE.compiled.finditer(run))
            if "@" in run:
                at = run.rfind("@")
                spans.update((start + run.rfind(sign, 0, at) + 1, start + at) for sign in ":/" if sign in run[:at])
            if run[:1] == "-" and run[1:2] != "-":
                spans.add((start + 2, end))
            if not run.isascii():
                spans.update((start + m.start(), start + m.end()) for m in ASCII_RUN.compiled.finditer(run))
        for match in QUOTED.compiled.finditer(line):
            spans.add(match.span(match.lastindex or 0))
        if "</" in line:
            spans.update(match.span(1) for match in ELEMENT.compiled.finditer(line))
        spans.update(match.span(1) for match in ALONE.compiled.finditer(line))
        if self.column:
            spans.update(_cells(line, self.column[0]))
        return spans

    def phrases(self) -> set[tuple[int, int]]:
        """Several words that may be one secret, with an end that is a guess."""
        line = self.line
        found = {span for cue in self.cues if cue.word not in WEAK_CUES for span in _phrases(line, cue.end)}
        found.update(match.span(1) for match in REST.compiled.finditer(line) if " " in match[1])
        bare = line.strip()
        if " " in bare and len(bare) <= 90 and self.cue_above[:1] not in ("-", ""):
            at = line.index(bare)
            found.add((at, at + len(bare)))
        return found

    def score(self, start: int, end: int, learned: Weights) -> float:
        """What value and place say; what is cheapest to ask comes first, and mostly decides."""
        value = self.line[start:end]
        # Most words are no secret wherever they stand.
        score = value_score(value)
        if score <= learned.least_value:
            return NEVER
        place = Place(self, start, end, value)
        score += sum([learned.weights.get(name, 0.0) for name in place.near_features()])
        if score < learned.least_near:
            return NEVER
        return score + sum([learned.weights.get(name, 0.0) for name in place.far_features()])

    def words_between(self, start: int, end: int) -> int:
        """How many words begin between two places."""
        return max(0, bisect_left(self.word_starts, end) - bisect_left(self.word_starts, start))


def _phrases(line: str, start: int) -> Iterator[tuple[int, int]]:
    """The first two, three, four and five words behind a cue."""
    match = PHRASE.compiled.match(line, start)
    if match is None:
        return
    first, last = match.span(1)
    end = line.find(" ", first)
    while 0 <= end < last:
        end = line.find(" ", end + 1)
        yield first, last if end < 0 or end > last else end


def _cells(line: str, delimiter: str) -> Iterator[tuple[int, int]]:
    """Cells of a row that have several words."""
    start = 0
    for cell in line.split(delimiter):
        bare = cell.strip()
        if " " in bare:
            at = start + cell.index(bare)
            yield at, at + len(bare)
        start += len(cell) + 1


class Place:
    """Where a candidate stands in its line."""

    def __init__(self, line: CueLine, start: int, end: int, value: str) -> None:
        self.line, self.start, self.end = line, start, end
        _, self.kinds, self.rarity = value_features(value)
        low = line.low
        sign = start
        while sign > 0 and not low[sign - 1].isalnum() and start - sign < 6:
            sign -= 1
        self.sign = sign
        self.separator = SPACES.compiled.sub(" ", low[sign:start])
        before = next((cue for cue in reversed(line.cues) if cue.end <= start), None)
        self.cue, self.steps, self.is_glued = "-", 9, False
        if before:
            self.cue = before.word
            self.steps = min(6, line.words_between(before.end, start))
            self.is_glued = low[before.end : before.end + 1].isalnum()
        self.distance = f"{before is not None}{min(self.steps, 3)}"

    def near_features(self) -> list[str]:
        """The cue before the candidate, and what separates the two."""
        cue, steps, separator, rarity = self.cue, self.steps, self.separator, self.rarity
        return [
            f"sep:{separator}", f"cue:{cue}", f"d:{steps}{self.is_glued:d}", f"cue|sep|d:{cue}|{separator}|{steps}",
            f"d|sep|r:{cue != '-'}{steps}|{separator}|{rarity}", f"d|m|r:{self.distance}|{self.kinds}|{rarity}",
            f"col|r|m:{self._column() not in ('-', 'none')}|{rarity}|{self.kinds}", f"first:{self.line.first}",
        ]  # fmt: skip

    def _column(self) -> str:
        """The cue in the head of the candidate's column."""
        if not self.line.column:
            return "-"
        delimiter, cells = self.line.column
        index = self.line.low.count(delimiter, 0, self.start)
        cues = find_cues(cells[index]) if index < len(cells) else []
        return cues[0].word if cues else "none"

    def far_features(self) -> list[str]:
        """The words around the candidate, options, and combinations of what is known."""
        line, start, end, kinds, rarity = self.line, self.start, self.end, self.kinds, self.rarity
        low, separator, cue, distance = line.low, self.separator, self.cue, self.distance
        here = bisect_left(line.word_starts, start)
        words = [low[a : min(b, start)] for a, b in line.words[max(0, here - 4) : here]]
        one, two, three = (["^", "^", "^", *words])[:-4:-1]
        closing = end
        while closing < len(low) and not low[closing].isalnum() and closing - end < 3:
            closing += 1
        close = SPACES.compiled.sub(" ", low[end:closing])
        following = bisect_left(line.word_starts, end)
        next_word = low[slice(*line.words[following])] if following < len(line.words) else "$"
        after = next((cue for cue in line.cues if cue.start >= end), None)
        behind = f"{after.word}:{min(6, line.words_between(end, after.start))}" if after else "-9"
        option = OPTION.compiled.search(low, max(0, start - 40), start)
        flag = option[1] if option else "-"
        names = TOKEN.compiled.findall(line.line, max(0, start - 60), self.sign)
        parts = [part.lower() for part in NAME_PART.compiled.findall(names[-1])][-3:] if names else []
        is_long = len(line.words) > 8
        is_last = not low[end:].strip(" .,!?)]}>*`\"'")
        known = cue != "-"
        return [
            f"cl:{close}", f"w1:{one}", f"w2:{two}", f"w3:{three}", f"nx:{next_word}", f"after:{behind}",
            f"above:{line.cue_above}", f"col:{self._column()}", f"nt:{min(len(line.words), 20)}", f"opt:{flag}",
            f"last:{is_last}", f"opt|first:{flag}|{line.first}", f"w1|sep:{one}|{separator}", f"w2|w1:{two}|{one}",
            f"above|r:{line.cue_above}|{rarity}|{not words}", f"after|r|m:{behind}|{rarity}|{kinds}",
            f"sep|cl|d:{separator}|{close}|{distance}", f"opt|m|r:{flag}|{kinds}|{rarity}",
            f"first|n|m:{line.first}|{len(words)}|{kinds}",
            f"d|long|m|r:{known}{self.steps}|{is_long}|{kinds}|{rarity}",
            f"last|d|r:{is_last}|{distance}|{rarity}",
            *[f"part:{part}" for part in parts],
            *[f"gram:{one[i : i + 4]}" for i in range(max(1, min(len(one), 14) - 3))],
        ]  # fmt: skip


def is_harmless(value: str) -> bool:
    """What can be told without looking at the place, so that most words cost little."""
    if value.startswith(NO_BEGINNING) or "://" in value or "[redacted:" in value:
        return True
    if value.isalpha() and value.isascii() and load_weights().common.get(value.lower(), 0) > COMMON:
        return True
    low = value.lower()
    words = WORD.compiled.findall(low)
    if FILE.compiled.search(low) or NUMBER.compiled.fullmatch(low):
        return True
    # A path or a chain of names, all of them known.
    if words and ("/" in low or "." in low) and not any(map(str.isdigit, low)):
        common = load_weights().common
        if all(len(word) < 3 or word in common for word in words):
            return True
    return low in EMPTY or PLACEHOLDER.compiled.fullmatch(low) is not None or (bool(words) and LABELS.issuperset(words))


def _shape(value: str) -> str:
    """The kinds of characters in order, each run once: `Aa0!`."""
    kinds: list[str] = []
    for c in value:
        kind = "0" if c.isdigit() else "A" if c.isupper() else "a" if c.islower() else "x" if c.isalpha() else c
        if not kinds or kinds[-1] != kind:
            kinds.append(kind)
        if len(kinds) == 8:
            break
    return "".join(kinds)


@lru_cache(maxsize=65536)
def value_score(value: str) -> float:
    """What the value alone says."""
    if not LEAST <= len(value) <= MOST or is_harmless(value):
        return NEVER
    learned = load_weights()
    score = sum([learned.weights.get(name, 0.0) for name in value_features(value)[0]], learned.bias)
    return sum([learned.grams.get(gram, 0.0) for gram in grams_of(value)], score)


def grams_of(value: str) -> list[str]:
    """Three letters in a row: how words of a language, names in code and what people invent differ."""
    low = value[:MOST_GRAMS].lower()
    return [low[at : at + 3] for at in range(len(low) - 2)]


@lru_cache(maxsize=16384)
def value_features(value: str) -> tuple[list[str], str, str]:
    """Features of the value alone, the kinds of characters in it, and how rare its words are."""
    common = load_weights().common
    has_lower = value.upper() != value
    has_upper = value.lower() != value
    has_digit = any(map(str.isdigit, value))
    has_sign = not value.replace(" ", "").isalnum()
    kinds = f"{has_lower:d}{has_upper:d}{has_digit:d}{has_sign:d}{not value.isascii():d}{' ' in value:d}"
    words = WORD.compiled.findall(value)
    levels = [common.get(word.lower(), 0) for word in words if len(word) > 2]
    rarity = f"{min(levels)}{max(levels)}" if levels else "99"
    size = len(value)
    length = (
        size if size < 12 else 12 if size < 16 else 16 if size < 24 else 24 if size < 33 else 33 if size < 65 else 65
    )
    found = [
        f"l:{length}", f"m:{kinds}", f"s:{_shape(value)}", f"r:{rarity}", f"n:{min(len(words), 6)}",
        f"m|r:{kinds}|{rarity}",
        f"b:{'w' if value[0].isalnum() else value[0]}", f"e:{'w' if value[-1].isalnum() else value[-1]}",
    ]  # fmt: skip
    low = value.lower()
    found += [f"b3:{low[:3]}", f"e3:{low[-3:]}"]
    if value.isalpha():
        found.append(f"rw:{common.get(value.lower(), 0)}")
    if HEXADECIMAL.compiled.fullmatch(value):
        found.append(f"hex:{length}")
    if UUID.compiled.match(value):
        found.append("uuid")
    if CODE.compiled.search(value):
        found.append("code")
    if "/" in value:
        found.append("slash")
    return found, kinds, rarity
