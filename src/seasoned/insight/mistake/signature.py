"""The signature of an error: its message with variable parts masked, equal for equal mistakes."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.evidence.envelope import open_shell
from seasoned.outcome.verdict import STATUS_OF

if TYPE_CHECKING:
    # Only for types: hooks need a signature without loading the judge.
    from seasoned.insight.track import JudgedCall

LONGEST = 160  # characters of a signature at most
# Characters that are masked: a signature needs only the beginning of a line.
_READ = 2000
_LINES = 60
_HEAD_CHARS = 300
_TAIL_CHARS = 180
_WHOLE_CHARS = 500
_ESCAPES = LazyRegex(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_PATH_PARTS = r"\w.@%+*~$…\-"
_EXTENSIONS = (
    "go|py|pyi|js|mjs|cjs|ts|tsx|jsx|vue|md|rst|json|jsonl|ya?ml|toml|txt|sh|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|html?|css"
    "|scss|lock|sql|ini|cfg|conf|env|xml|csv|log|png|jpe?g|svg|pdf|ipynb|zip|gz|swift|lua|ex|exs|proto|mod|sum|db"
)
# Each replacement is shorter than its match, so that masking terminates. The first of each are characters of which
# its match has at least one, 0 for any digit: most lines lack those of most masks.
_MASKS: tuple[tuple[str, LazyRegex, str], ...] = (
    ("[", LazyRegex(r"\[redacted:(\w{1,40}):\w{1,64}\]"), r"[\1]"),
    (":", LazyRegex(r"\b[a-z][a-z0-9+.]{1,15}://[^\s'\"`<>)\]}]+", re.IGNORECASE), "…"),
    # An opening quote does not follow a word and a closing one does not precede one, unlike an apostrophe.
    ("'\"`", LazyRegex(r"(?<![\w'\"`])(['\"`])[^'\"`\n]{1,200}\1(?!\w)"), r"\1…\1"),
    ("`", LazyRegex(r"(?<!\w)`[^'\"`\n]{1,200}'(?!\w)"), "`…'"),
    ("‘“", LazyRegex(r"[‘“][^‘’“”\n]{1,200}[’”]"), "“…”"),
    (
        "0",
        LazyRegex(r"\b\d{4}[-/]\d\d[-/]\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)?\b"),
        "…",
    ),
    ("-", LazyRegex(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE), "…"),
    ("0", LazyRegex(r"\b0x[0-9a-f]{2,64}\b", re.IGNORECASE), "…"),
    (
        "/\\",
        LazyRegex(
            rf"(?<![{_PATH_PARTS}/\\])(?!(?:and/or|i/o|n/a|read/write)\b|[/\\](?!\S))(?:[A-Za-z]:)?(?:[{_PATH_PARTS}]*[/\\])+"
            rf"[{_PATH_PARTS}]*(?::\d+(?:-\d+)?){{0,2}}(?:::[\w:\[\].-]+)?",
            re.IGNORECASE,
        ),
        "…",
    ),
    (".", LazyRegex(rf"(?<![\w.-])[\w-]*(?:\.[\w-]+)*\.(?:{_EXTENSIONS})\b(?::\d+(?:-\d+)?){{0,2}}"), "…"),
    (":", LazyRegex(r"(?<=: )[^\s:…]+(?=: (?:open: )?no such file or directory)", re.IGNORECASE), "…"),
    (":", LazyRegex(r"(?<=no such file or directory: )[^\s…]+", re.IGNORECASE), "…"),
    (":", LazyRegex(r"(?<=--- FAIL: )\w[^\s…]*"), "…"),
    (":", LazyRegex(r"(?<=\bundefined: )\w[^\s…]*"), "…"),
    ("0", LazyRegex(r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,}\b"), "…"),
    ("0", LazyRegex(r"\b\d{7,}\b"), "…"),
    # HTTP status codes and codes such as E999 and TS2304 identify the error: keep them.
    ("0", LazyRegex(r"(?<![\w.])v?(?<!HTTP )(?<!status )\d+(?:[.,:]\d+)*(?:-[a-z]+\.\d+)?"), "N"),
    ("0", LazyRegex(r"\d{5,}"), "N"),
    ("…", LazyRegex(r"…(?:[\s,/:]*…)+"), "…"),
)
_DIGIT = LazyRegex(r"\d")
_FRAME = LazyRegex(
    r"\A(?:Exit code -?\d+[.:]?\s*|The answer (?:holds an error|says that it did not succeed): |<tool_use_error>"
    r"|failed in sandbox \w+ with execution error: (?:sandbox denied exec error, exit code: -?\d+, stdout: )?"
    r"|, stderr: |\[[\w:./-]{1,40}\] +(?=\S)|(?:[•✖✗×❌>*-]|\.{3}|…) +"
    r"|(?:\S{0,40}sh: )?(?:-c: )?line \d+: (?=\S)|\(eval\):\d+: (?=\S))",
    re.IGNORECASE,
)
_NOISE = LazyRegex(
    r"\A(?:Exit code|Chunk ID:|Wall time|Process (?:exited|running)|Original token count|Output:|=== |--- PASS|ok\s"
    r"|\?\s|FAIL\Z|FAIL \S+(?: [\d.]+s)?\Z|PASS\b|\$ |# \S+\Z|# \S+ \[\S+\]\Z|package \S+\Z|From \S+\Z"
    r"|ERROR task failed|\(pass\)|String: |Traceback \(|File \"|Auto-merging"
    r"|Script (?:completed|failed|error)|#+ Error:?\Z"
    r"|\d+ issues?:|\w+: \d+\Z|Finished in|go: downloading)"
)
_WORD = LazyRegex(r"[^\W\d_]{2}")
_EXCEPTION = LazyRegex(r"(?:[A-Z]\d{3,4}:? )?(?:[A-Za-z_]\w*\.){0,6}[A-Z]\w*(?:Error|Exception|Interrupt)\b")
_CODE = LazyRegex(r"[A-Z]{1,4}\d{3,4}:? +\S")
_OUTRIGHT = LazyRegex(
    # `make: *** [test] Error 1` only repeats that a command failed.
    r"make(?:\[\d+\])?: \*\*\* (?!\[)"
    r"|(?:\S{1,60}: ){0,2}(?:fatal|error|panic|failed|unknown|invalid|cannot|could not|undefined)\b|npm error|FAILED\b"
    r"|ERROR\b|--- FAIL|gh: |HTTP \d|\S{1,60}: (?:[^:]{1,200}: )?(?:no such file|command not found|permission denied)",
    re.IGNORECASE,
)
_PLACE = LazyRegex(r"[\w./\\@-]{1,200}:\d+(?::\d+)?: +\S")
_COMPLAINT = LazyRegex(
    r"error|fail|fatal|not found|no such|cannot|can't|could not|couldn't|unable|undefined|invalid|unexpected|unknown"
    r"|unrecogni[sz]ed|denied|refus|missing|not used|not a\b|not an\b|not allowed|must\b|timed out|timeout|does not"
    r"|doesn't|conflict|reject|exceed|required|mismatch|illegal|unsupported|no matches|import cycle|already"
    r"|not logged in",
    re.IGNORECASE,
)
_IN_JSON = LazyRegex(r'"(?:message|error|detail|stderr)"\s*:\s*"([^"\\]{3,})')
# How a shell's answer begins and ends that is wrapped in JSON; the middle may be cut, so that it cannot be decoded.
_ENVELOPE_OPENS = LazyRegex(r'\A\s*\{"(?:output|stdout)":\s*"')
_ENVELOPE_ENDS = LazyRegex(
    r'",\s*"(?:exit_?code|returncode|stderr|error|success|metadata)":[^\n]{0,400}\}\s*\Z', re.IGNORECASE
)
_SAYS_ALL = frozenset(
    {"There is no such tool.", "It took too long and was stopped.", "There was nothing to commit.", "Tests failed."}
)
# Sentences of the judge that say less than any line of the output.
_VAGUE = frozenset({"The program refused.", "The program ended with an error.", "The answer is headed as an error."})
_SENTENCE = LazyRegex(r"(?<=[^\s.]{2}[.!?]) +(?=[A-Z])|(?<=['\"`)][.!?]) +(?=[A-Z])")
_CUT_OFF = LazyRegex(r"\S*\.{3}\Z")
# An assertion quoted by a test runner belongs to that test; only an exception name is general.
_OF_A_TEST = LazyRegex(r"\A((?:FAILED|ERROR) …) - (?!(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b).*")
_PREFIX = LazyRegex(r"\Aerror: +(?=\S)", re.IGNORECASE)
SILENT = "It failed and said nothing"
UNSAID = "It failed, and what is kept of its output does not say why"
_TESTS = "Tests failed"
_ONLY_TESTS = LazyRegex(r"\A(?:--- FAIL: ….*|FAIL(?: … N?s?)?|FAILED …|N fail(?:ed|ing|ures?)?|N tests? failed)\Z")
_QUOTED, _OUT, _AT_PLACE, _COMPLAINS, _SAYS, _NOTHING = range(6)


# The same lines are asked for as the name of an error, as its key and as its kind.
@lru_cache(maxsize=1024)
def mask(text: str) -> str:
    """One line with paths, quoted names, ids, times and numbers masked, and truncated."""
    line = _printable(text)
    while True:
        before = line
        signs = _signs(line)
        for needed, pattern, instead in _MASKS:
            if signs.isdisjoint(needed):
                continue
            masked = pattern.compiled.sub(instead, line)
            if masked != line:
                line, signs = masked, _signs(masked)
        line = " ".join(line.split())
        if line == before:
            return line


def _signs(line: str) -> set[str]:
    """The characters of a line, with 0 for digits of any script."""
    return {*line, "0"} if _DIGIT.compiled.search(line) else set(line)


def signature(call: JudgedCall) -> str:
    """The error of a failed call in one masked line: the judge's reason, or a more telling line of the result."""
    return _finished(telling(call)) or (UNSAID if call.result and call.result.strip() else SILENT)


def telling(call: JudgedCall) -> str:
    """The line that tells most about a failure, as it was written; empty if there is none."""
    # Kept with the call: its key, its cause and its kind all begin with this line.
    known: str | None = call.__dict__.get("_telling")
    if known is None:
        find = _telling if len(call.result or "") <= _READ else _telling.__wrapped__
        known = call.__dict__["_telling"] = find(call.reason, call.result)
    return known


@lru_cache(maxsize=1024)
def _telling(reason: str, result: str | None) -> str:
    text = _ending(_unframed(_printable(reason.partition(STATUS_OF)[0])))
    is_sentence = _is_of_judge(text, result)
    if text not in _SAYS_ALL:
        rank = _SAYS if is_sentence else _rank(text)
        if rank >= _AT_PLACE or text.endswith(("...", "…")):
            lines = _lines(result)
            found = _more_telling(text, rank, lines)
            if found in _VAGUE or (not found and text.startswith("#")):
                found = next((line for line in lines if _rank(line) < _NOTHING), found)
            text = found
    return text


@lru_cache(maxsize=1024)
def said(text: str) -> str:
    """The same from the text of an error alone, complete or truncated as in the store."""
    if len(text) > _WHOLE_CHARS:
        text = f"{text[:_HEAD_CHARS]} … {text[-_TAIL_CHARS:]}"
    lines = _lines(text)
    telling = _more_telling("", _NOTHING, lines) or next((line for line in lines if _rank(line) < _NOTHING), "")
    name = _finished(telling)
    return name if _WORD.compiled.search(name) else UNSAID if text.strip() else SILENT


def _printable(text: str) -> str:
    """The beginning of a text on one line, without control characters and lone surrogates."""
    head = text[:_READ]
    if not head.isprintable():
        # Tabs are what most of these lines have, and nothing else.
        head = (_ESCAPES.compiled.sub("", head) if "\x1b" in head else head).replace("\t", " ")
        if not head.isprintable():
            head = "".join([c if c.isprintable() else " " for c in head])
    return " ".join(head.split())


def _unframed(line: str) -> str:
    """A line without the prefixes of agents and task runners."""
    for _ in range(6):
        found = _FRAME.compiled.match(line)
        if found is None:
            break
        line = line[found.end() :]
    inner = _IN_JSON.compiled.search(line) if line.startswith("{") else None
    return inner.group(1) if inner else line.removesuffix("</tool_use_error>")


def _ending(line: str) -> str:
    """The exception of a traceback on one line: the last one."""
    if "Traceback" not in line and 'File "' not in line:
        return line
    named = [found.start() for found in _EXCEPTION.compiled.finditer(line)]
    return line[named[-1] :] if named else line


def _is_of_judge(text: str, result: str | None) -> bool:
    """Whether a reason is the judge's own sentence rather than a quotation from the tool."""
    if not text.endswith(".") or text.endswith(".."):
        return False
    return result is None or text not in _printable(result)


@lru_cache(maxsize=4096)
def _rank(line: str) -> int:
    """The rank of a line: lower is more telling."""
    if not line or _NOISE.compiled.match(line) or not _WORD.compiled.search(line):
        return _NOTHING
    if line[0] == "{" or "warning:" in line.lower():
        return _SAYS
    if _EXCEPTION.compiled.match(line):
        return _QUOTED
    if _CODE.compiled.match(line) or _OUTRIGHT.compiled.match(line):
        return _OUT
    if _PLACE.compiled.match(line):
        return _AT_PLACE
    return _COMPLAINS if _COMPLAINT.compiled.search(line) else _SAYS


def _lines(result: str | None) -> list[str]:
    """The lines of a result, unwrapped."""
    if not result:
        return []
    text = open_shell(result).text or result
    if text.lstrip().startswith("{") or '"output"' in text[:200]:
        text = _ENVELOPE_ENDS.compiled.sub("", _ENVELOPE_OPENS.compiled.sub("", text))
        text = text.replace("\\n", "\n").replace('\\"', '"')
    head, cut, tail = text.partition(" … ")
    lines = head[:_READ].splitlines()
    if cut:
        # The lines beside the cut are incomplete.
        rest = tail[-_READ:].splitlines()
        lines = (lines[:-1] or lines)[:_LINES] + (rest[1:] or rest)
    return [_unframed(_printable(line)) for line in lines[: 2 * _LINES]]


def _more_telling(text: str, rank: int, lines: list[str]) -> str:
    """The most telling line if it ranks better than `rank`; the first of equals."""
    whole = text.rstrip(".…")
    best, best_rank = (text, rank) if rank < _NOTHING else (text if _ONLY_TESTS.compiled.match(text) else "", _SAYS)
    for line in lines:
        if len(whole) > 20 and line.startswith(whole) and rank < _SAYS:
            return line
        found = _rank(line)
        # In a chain of exceptions the last one ended the program.
        if found < best_rank or (found == best_rank == _QUOTED):
            best, best_rank = line, found
    return best


@lru_cache(maxsize=1024)
def _finished(line: str) -> str:
    """Masked, and cut where the first sentence ends."""
    masked = _OF_A_TEST.compiled.sub(r"\1", _CUT_OFF.compiled.sub("", mask(line)))
    masked = _SENTENCE.compiled.split(masked, maxsplit=1)[0]
    masked = _PREFIX.compiled.sub("", masked.lstrip("…:,;. ")).rstrip("-:,;. ")
    if _ONLY_TESTS.compiled.match(masked):
        return _TESTS
    if len(masked) > LONGEST:
        masked = masked[: LONGEST - 1].rsplit(" ", 1)[0] + "…"
    return masked
