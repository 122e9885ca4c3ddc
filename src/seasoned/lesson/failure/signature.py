"""The signature of an error: its message with variable parts masked, equal for equal mistakes."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.evidence.envelope import open_shell

if TYPE_CHECKING:
    # Only for types: hooks need a signature without loading the judge.
    from seasoned.outcome.track import JudgedCall

MAX_SIGNATURE_CHARS = 160  # characters of a signature at most
# Characters of a line that are read: a signature needs only its beginning.
_MAX_LINE_CHARS = 2000
_MAX_LINES = 60
_HEAD_CHARS = 300
_TAIL_CHARS = 180
_MAX_TEXT_CHARS = 500
_ESCAPES = LazyRegex(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_PATH_PARTS = r"\w.@%+*~$…\-"
_EXTENSIONS = (
    "go|py|pyi|js|mjs|cjs|ts|tsx|jsx|vue|md|rst|json|jsonl|ya?ml|toml|txt|sh|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|html?|css"
    "|scss|lock|sql|ini|cfg|conf|env|xml|csv|log|png|jpe?g|svg|pdf|ipynb|zip|gz|swift|lua|ex|exs|proto|mod|sum|db"
)
# (needed characters, pattern, replacement). A line without any of the needed characters cannot match ("0" means any
# digit), which skips most masks for most lines. Replacements are shorter than matches, so masking terminates.
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
_PREFIXES = LazyRegex(
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
    r"|\d+ issues?:|\w+: \d+\Z|Finished in|go: downloading"
    # What a login shell and its snapshot print before the command runs.
    r"|(?:\S+: )?alias: |Welcome to |Ubuntu \d|Last login|mesg: |bash: (?:no job control|cannot set terminal)"
    r"|\S*(?:rc|profile|snapshot\S*):\d+: )"
)
_WORD = LazyRegex(r"[^\W\d_]{2}")
_EXCEPTION = LazyRegex(r"(?:[A-Z]\d{3,4}:? )?(?:[A-Za-z_]\w*\.){0,6}[A-Z]\w*(?:Error|Exception|Interrupt)\b")
_CODE = LazyRegex(r"[A-Z]{1,4}\d{3,4}:? +\S")
_ERROR_START = LazyRegex(
    # `make: *** [test] Error 1` only repeats that a command failed.
    r"make(?:\[\d+\])?: \*\*\* (?!\[)"
    r"|(?:\S{1,60}: ){0,2}(?:fatal|error|panic|failed|unknown|invalid|cannot|could not|undefined)\b|npm error|FAILED\b"
    r"|ERROR\b|--- FAIL|gh: |HTTP \d|\S{1,60}: (?:[^:]{1,200}: )?(?:no such file|command not found|permission denied)",
    re.IGNORECASE,
)
_LOCATION = LazyRegex(r"[\w./\\@-]{1,200}:\d+(?::\d+)?: +\S")
_COMPLAINT = LazyRegex(
    r"error|fail|fatal|not found|no such|cannot|can't|could not|couldn't|unable|undefined|invalid|unexpected|unknown"
    r"|unrecogni[sz]ed|denied|refus|missing|not used|not a\b|not an\b|not allowed|must\b|timed out|timeout|does not"
    r"|doesn't|conflict|reject|exceed|required|mismatch|illegal|unsupported|no matches|import cycle|already"
    r"|not logged in",
    re.IGNORECASE,
)
_IN_JSON = LazyRegex(r'"(?:message|error|detail|stderr)"\s*:\s*"([^"\\]{3,})')
# The start and end of shell output wrapped in JSON. Its middle may be truncated, so it cannot be decoded.
_ENVELOPE_OPENS = LazyRegex(r'\A\s*\{"(?:output|stdout)":\s*"')
_ENVELOPE_ENDS = LazyRegex(
    r'",\s*"(?:exit_?code|returncode|stderr|error|success|metadata)":[^\n]{0,400}\}\s*\Z', re.IGNORECASE
)
_SENTENCE = LazyRegex(r"(?<=[^\s.]{2}[.!?]) +(?=[A-Z])|(?<=['\"`)][.!?]) +(?=[A-Z])")
_TRUNCATED_WORD = LazyRegex(r"\S*\.{3}\Z")
# An assertion in a test report is specific to that test; only an exception name is general.
_TEST_ASSERTION = LazyRegex(r"\A((?:FAILED|ERROR) …) - (?!(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b).*")
_ERROR_PREFIX = LazyRegex(r"\Aerror: +(?=\S)", re.IGNORECASE)
NO_OUTPUT = "It failed and said nothing"
NO_ERROR_TEXT = "It failed, and what is kept of its output does not say why"
_TESTS_FAILED = "Tests failed"
_ONLY_TESTS = LazyRegex(r"\A(?:--- FAIL: ….*|FAIL(?: … N?s?)?|FAILED …|N fail(?:ed|ing|ures?)?|N tests? failed)\Z")
_RANK_EXCEPTION, _RANK_ERROR, _RANK_LOCATION, _RANK_COMPLAINT, _RANK_TEXT, _RANK_NOISE = range(6)


# Cached: the signature, the key and the kind of a failure all mask the same line.
@lru_cache(maxsize=1024)
def mask(text: str) -> str:
    """One line with paths, quoted names, ids, times and numbers masked, and truncated."""
    line = _printable(text)
    while True:
        before = line
        characters = _characters(line)
        for needed, pattern, instead in _MASKS:
            if characters.isdisjoint(needed):
                continue
            masked = pattern.compiled.sub(instead, line)
            if masked != line:
                line, characters = masked, _characters(masked)
        line = " ".join(line.split())
        if line == before:
            return line


def _characters(line: str) -> set[str]:
    """The characters of a line, plus "0" if it has any digit."""
    return {*line, "0"} if _DIGIT.compiled.search(line) else set(line)


def signature(call: JudgedCall) -> str:
    """The error of a failed call as one masked line."""
    text = call.result or call.reason
    return signature_of_line(line_of_text(text), text)


@lru_cache(maxsize=1024)
def line_of_text(text: str) -> str:
    """The most informative line of an error text, unmasked; empty if there is none."""
    if len(text) > _MAX_TEXT_CHARS:
        text = f"{text[:_HEAD_CHARS]} … {text[-_TAIL_CHARS:]}"
    best, best_rank = "", _RANK_NOISE
    for line in _lines(text):
        rank = _rank(line)
        # In a chain of exceptions the last one ended the program.
        if rank < best_rank or (rank == best_rank == _RANK_EXCEPTION):
            best, best_rank = line, rank
    return best


def complains(line: str) -> bool:
    """Whether a line says that something went wrong."""
    return _rank(line) < _RANK_TEXT


def signature_of_line(line: str, text: str) -> str:
    """The signature of an error text by its most informative line."""
    name = _to_signature(line)
    return name if _WORD.compiled.search(name) else NO_ERROR_TEXT if text.strip() else NO_OUTPUT


def _printable(text: str) -> str:
    """The beginning of a text on one line, without control characters and lone surrogates."""
    head = text[:_MAX_LINE_CHARS]
    if not head.isprintable():
        # Most such lines contain only tabs, so try that first.
        head = (_ESCAPES.compiled.sub("", head) if "\x1b" in head else head).replace("\t", " ")
        if not head.isprintable():
            head = "".join([c if c.isprintable() else " " for c in head])
    return " ".join(head.split())


def _without_prefixes(line: str) -> str:
    """A line without the prefixes of agents and task runners."""
    for _ in range(6):
        found = _PREFIXES.compiled.match(line)
        if found is None:
            break
        line = line[found.end() :]
    inner = _IN_JSON.compiled.search(line) if line.startswith("{") else None
    return inner.group(1) if inner else line.removesuffix("</tool_use_error>")


@lru_cache(maxsize=4096)
def _rank(line: str) -> int:
    """The rank of a line: lower is more informative."""
    if not line or _NOISE.compiled.match(line) or not _WORD.compiled.search(line):
        return _RANK_NOISE
    if line[0] == "{" or "warning:" in line.lower():
        return _RANK_TEXT
    if _EXCEPTION.compiled.match(line):
        return _RANK_EXCEPTION
    if _CODE.compiled.match(line) or _ERROR_START.compiled.match(line):
        return _RANK_ERROR
    if _LOCATION.compiled.match(line):
        return _RANK_LOCATION
    return _RANK_COMPLAINT if _COMPLAINT.compiled.search(line) else _RANK_TEXT


def _lines(result: str) -> list[str]:
    """The lines of a result, unwrapped."""
    text = open_shell(result).text or result
    if text.lstrip().startswith("{") or '"output"' in text[:200]:
        printed = _ENVELOPE_ENDS.compiled.sub("", _ENVELOPE_OPENS.compiled.sub("", text))
        # A command that printed nothing has its error beside the output.
        beside = None if printed.strip() else _IN_JSON.compiled.search(text)
        text = (printed if beside is None else beside[1]).replace("\\n", "\n").replace('\\"', '"')
    head, cut, tail = text.partition(" … ")
    lines = head[:_MAX_LINE_CHARS].splitlines()
    if cut:
        # The lines on both sides of the cut are incomplete.
        rest = tail[-_MAX_LINE_CHARS:].splitlines()
        lines = (lines[:-1] or lines)[:_MAX_LINES] + (rest[1:] or rest)
    return [_without_prefixes(_printable(line)) for line in lines[: 2 * _MAX_LINES]]


@lru_cache(maxsize=1024)
def _to_signature(line: str) -> str:
    """The line masked and truncated after its first sentence."""
    masked = _TEST_ASSERTION.compiled.sub(r"\1", _TRUNCATED_WORD.compiled.sub("", mask(line)))
    masked = _SENTENCE.compiled.split(masked, maxsplit=1)[0]
    masked = _ERROR_PREFIX.compiled.sub("", masked.lstrip("…:,;. ")).rstrip("-:,;. ")
    if _ONLY_TESTS.compiled.match(masked):
        return _TESTS_FAILED
    if len(masked) > MAX_SIGNATURE_CHARS:
        masked = masked[: MAX_SIGNATURE_CHARS - 1].rsplit(" ", 1)[0] + "…"
    return masked
