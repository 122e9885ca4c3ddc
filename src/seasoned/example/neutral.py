"""What an example says besides its call: a result as a neutral summary, a harmless intent, and the last check."""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.admission import admit_call, is_injection, texts_in
from seasoned.command.parse import names
from seasoned.command.tool import output_form
from seasoned.example.example import INTENT_CHARS, RESULT_CHARS, Example
from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.evidence.envelope import open_shell
from seasoned.outcome.track import JudgedCall
from seasoned.redact.redactor import Redactor
from seasoned.scan.intent import asks_leave
from seasoned.session import ToolCall

ARGUMENTS_CHARS = 2000
_LINE_CHARS = 120
_LINES = 3
# How much of a structured answer is shown, and how long each value may be.
_KEYS, _ITEMS, _DEPTH, _STRUCTURE_CHARS, _VALUE_CHARS = 8, 2, 2, 240, 40
_ESCAPES = LazyRegex(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_COUNTED = LazyRegex(
    r"\[(\d+) lines, \d+ characters\]\s*\Z|\"(?:total_lines|total_count|total|count|match_count)\"\s*:\s*(\d+)"
    r"|\AFound (\d+) (?:files?|match(?:es)?)\b|\A(\d+) (?:match(?:es)?|results?)\b"
)
_NOTHING = LazyRegex(r"\A\s*(?:No (?:files|matches|results) found\.?|\((?:Bash completed with )?no output\))?\s*\Z")
# Lines in which programs report success. Nothing in them can be a sentence of someone else.
_SUCCESS = LazyRegex(
    r"=* ?\d+ passed(?:, \d+ \w+)*(?: in [\d.]+s)? ?=*|ok\s+[\w./-]+\s+(?:[\d.]+s|\(cached\))|PASS|OK"
    r"|Tests?:? +\d+ passed(?: \(\d+\))?(?:, \d+ total)?|Ran \d+ tests? in [\d.]+s"
    r"|test result: ok\. \d+ passed; 0 failed|All checks passed!?|Success: no issues found in \d+ source files?"
    r"|\d+ files? (?:left unchanged|reformatted"
    r"|already formatted)|Build succeeded\.?|\d+ files? changed(?:, \d+ insertions?\(\+\))?(?:, \d+ deletions?\(-\))?"
    r"|Already up to date\.|Everything up-to-date|0 issues\.?|(?:Process exited with code|Exit code:?) 0"
)
_VALUE = LazyRegex(r"[\w#@:/+.,%$€£&()-]{1,40}\Z|[A-Z0-9#][\w.'&-]*(?: [A-Z0-9#&][\w.'&-]*){1,3}\Z")
_KEY = LazyRegex(r"[\w#$@.:/-]{1,40}(?: [\w#$@.:/()-]{1,24}){0,3}\Z")
_DONE = LazyRegex(
    r"(?i)(?=.*\b(?:success\w*|created|updated|deleted|sent|ok|done|saved|completed?|added|removed|scheduled|booked"
    r"|cancell?ed|submitted|accepted|started|stopped|finished|queued|closed)\b)"
    r"[\w#'/-]{1,40}(?: [\w#'/-]{1,40}){0,4}[.!]?\Z"
)
# Addresses say nothing about whether a call worked.
_HOMES = names("address shipping_address billing_address home_address location contact")
_MARKS = LazyRegex(r"\[/?seasoned:[^\]\n]{0,200}\]|\[redacted:[a-z0-9-]{1,32}:[0-9a-f]{8}\]")
_FENCE = LazyRegex(r"```\w*|</?[a-zA-Z][\w:-]{0,40}(?: [^<>\n]{0,80})?/?>")
_SENTENCE = LazyRegex(r"[.!?…](?=\s)")
# Where a call begins that an agent writes as text; what comes before it is the intent.
_THOUGHT = LazyRegex(r"(?is)\A\s*(?:thought\s*:?\s*)?(.*?)(?:```|\baction\s*:.*|\Z)")
_READ = 400
_FEWEST_CHARS = 12
_FEWEST_WORDS = 3
_DATA = LazyRegex(r"\A\s*[\[{<]")
# Reports of failures, and excuses: shown before a call that worked, they would teach the failure.
_FAILURES = LazyRegex(
    r"(?i)\b(?:sorry|apolog|oops|mistake|unable|went wrong|can(?:no|['’])?t\b|could ?n(?:['’]?t|ot)\b"
    r"|(?:did|does|do|was)(?:n['’]t| not) (?:work|exist|accept|like|support|match|apply|compile|take|know|find)"
    r"|(?:denied|refused|rejected|timed out|retrying|broke|tripped)\b|let me (?:re)?try\b|try(?:ing)? .{0,6}again"
    r"|wrong (?:path|flag|command|argument|option|tool|format|folder|directory|branch|name|file|place|way)"
    r"|(?:fail(?:s|ed|ing|ures?)?|(?:an?|the|this|that|same|got|hit|with|of) errors?)\b)"
)
# A request to fix a failure is a request like any other.
_ASKS_FIX = LazyRegex(
    r"(?i)\W*(?:(?:please|now|then|can you|could you|would you|help me)\b[\s,]*)*(?:fix|repair|debug)\b"
)
_AGREES = LazyRegex(
    r"(?i)(?:[\W_]*(?:yes|yeah|yep|ok|okay|sure|fine|correct|right|exactly|perfect|great|of course|sounds good|lgtm"
    r"|thank(?:s| you)|that['’]?s (?:right|correct|perfect|fine))\b(?: please)?[\W_]+)+"
)
_PERMITS = LazyRegex(
    r"(?i)\b(?:go ahead|please proceed|i (?:confirm|approve|agree|consent|authori[sz]e)|ship it|yes to (?:all|both)"
    r"|you (?:may|can) (?:proceed|go ahead)|you have my (?:permission|approval|consent)|i(?:'|’)?m sure)\b"
    r"|\A(?:approved|confirmed|proceed|continue|both)\W*\Z"
)
# An intent with fewer words besides its yes is only a yes.
_SAYS = 3
_encode = msgspec.json.Encoder().encode


def neutral_result(call: JudgedCall) -> str:
    """What shows that a call worked, in at most 500 characters; nothing of what it read or found."""
    form = output_form(ToolCall("", call.tool, call.arguments))
    text = _ESCAPES.compiled.sub("", call.result or "")
    if form in ("file_read", "search", "web") or call.kind == "research":
        return _counted(text)
    if form in ("agent", "meta"):
        return "(done)"
    if form == "file_write":
        return "(written)"
    return _printed(text) if form in ("shell", "python") else _answered(text)


def _counted(text: str) -> str:
    if _NOTHING.compiled.match(text):
        return "(nothing)"
    found = _COUNTED.compiled.search(text)
    number = len(text.strip().splitlines()) if found is None else int(next(filter(None, found.groups())))
    return f"({number} line{'s' * (number != 1)})"


def _printed(text: str) -> str:
    """A command: the lines in which programs report success, or else how much it printed."""
    body = open_shell(text)
    lines = [line.strip() for line in body.text.splitlines() if line.strip()]
    kept = [line.strip("= ") for line in lines if len(line) <= _LINE_CHARS and _SUCCESS.compiled.fullmatch(line)]
    if kept:
        return "\n".join(kept[-_LINES:])[:RESULT_CHARS]
    # An exit code other than 0 is not always a failure, as with `grep` that finds nothing. The judge decided.
    status = "exit code 0" if body.exit_code == 0 else "ok"
    return f"({status}, {_counted(body.text)[1:-1]})" if lines else f"({status})"


def _answered(text: str) -> str:
    """The answer of any other tool: its structure with short values, or a short plain word."""
    line = text.strip()
    if line[:1] in ("{", "["):
        try:
            done = _encode(_outline(msgspec.json.decode(line), _DEPTH)).decode("utf-8", "replace")
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            done = ""
        is_fit = 0 < len(done) <= _STRUCTURE_CHARS and not is_injection(done)
        return done if is_fit else "(an object)" if line[0] == "{" else "(a list)"
    if not line:
        return "(done)"
    is_short = len(line) <= _LINE_CHARS and (_VALUE.compiled.match(line) or _DONE.compiled.match(line))
    return line if is_short and "…" not in line and not is_injection(line) else _counted(line)


def _outline(value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        if depth == 0:
            return "…"
        shown = [name for name in value if _KEY.compiled.match(name)][:_KEYS]
        return {name: _outline(value[name], 0 if name in _HOMES else depth - 1) for name in shown}
    if isinstance(value, list):
        return "…" if depth == 0 and value else [_outline(item, depth - 1) for item in value[:_ITEMS]]
    if isinstance(value, str):
        is_short = not value or (len(value) <= _VALUE_CHARS and _VALUE.compiled.match(value) is not None)
        return value if is_short else "…"
    return value


def shown_intent(words: str) -> str:
    """The words that led to a call, if another session may read them; empty if they say nothing or report a failure."""
    thought = _THOUGHT.compiled.match(words[:_READ])
    said = neutral_text(thought.group(1) if thought else "")
    if len(said) < _FEWEST_CHARS or (said.isascii() and said.count(" ") < _FEWEST_WORDS - 1):
        return ""
    if _DATA.compiled.match(said) or asks_leave(words) or reports_failure(said):
        return ""
    return said


def reports_failure(words: str) -> bool:
    """Whether words report or excuse a failure; a request to fix one does neither."""
    found = _FAILURES.compiled.search(words)
    if found is None:
        return False
    asked = _ASKS_FIX.compiled.match(words)
    return asked is None or _FAILURES.compiled.search(words.partition(". ")[2]) is not None


def neutral_text(text: str, limit: int = INTENT_CHARS) -> str:
    """One harmless line of at most `limit` characters; empty if the text orders or approves something."""
    line = _MARKS.compiled.sub("…", _FENCE.compiled.sub(" ", _ESCAPES.compiled.sub("", text)))
    line = " ".join("".join([c if c.isprintable() else " " for c in line]).split())
    if not line or is_injection(text) or is_injection(line) or approves(line):
        return ""
    agreed = _AGREES.compiled.match(f"{line} ")
    asked = line[agreed.end() :] if agreed else line
    return _shortened(asked[:1].upper() + asked[1:] if agreed else asked, limit)


def approves(text: str) -> bool:
    """Whether a text gives permission, which must not be repeated in a session where no one gave it."""
    agreed = _AGREES.compiled.match(f"{text} ")
    rest = text[agreed.end() :] if agreed else text
    return _PERMITS.compiled.search(text) is not None or (agreed is not None and len(rest.split()) < _SAYS)


def _shortened(line: str, limit: int) -> str:
    """A line cut after a sentence if possible, else after a word."""
    if len(line) <= limit:
        return line
    ends = [found.end() for found in _SENTENCE.compiled.finditer(line, 0, limit)]
    if ends and ends[-1] >= limit // 3:
        return line[: ends[-1]]
    head = line[:limit]
    return (head.rpartition(" ")[0] if " " in head else head[:-1]).rstrip(" ,;:([{`'\"") + "…"


def unclean(
    example: Example, redactor: Redactor, *, project: str = "", allowed: frozenset[str] = frozenset()
) -> str | None:
    """Why an example must be dropped: it holds a secret, speaks to its reader, or is not a call that may be shown.

    None if it may stay. `project`: the key of the project whose sessions it is for; `allowed`: actions that a person
    may allow later.
    """
    if len(example.arguments) > ARGUMENTS_CHARS:
        return "the arguments are too long"
    if len(example.result) > RESULT_CHARS or len(example.intent) > INTENT_CHARS:
        return "the result or the intent is too long"
    try:
        arguments = msgspec.json.decode(example.arguments, type=dict[str, Any])
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeEncodeError, RecursionError):
        return "the arguments are not an object"
    shown = [example.tool, *arguments, *texts_in(arguments), example.result, example.intent]
    # A tag instead of a value would teach sessions to write tags.
    if any("[redacted:" in text for text in shown):
        return "something was redacted in it"
    texts = [example.tool, example.arguments, example.result, example.intent]
    if redactor.find("\n".join(texts)) or redactor.value(arguments) != arguments:
        return "it seems to contain a secret"
    if is_injection(example.result) or is_injection(example.intent) or approves(example.intent):
        return "it gives orders or a permission"
    return admit_call(example.tool, arguments, project=project, allowed=allowed).why
