"""Results as neutral summaries, and intents made harmless: a session learns that a call worked, and nothing else."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from seasoned.command.parse import names
from seasoned.command.tool import output_form, tool_of
from seasoned.insight.track import JudgedCall
from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.evidence.envelope import open_shell
from seasoned.session import ToolCall
from seasoned.template.admission.hostile import speaks_to_reader
from seasoned.template.example import RESULT_CHARS

_KEYS = 8
_ITEMS = 2
_DEPTH = 2
_STRUCTURE_CHARS = 240
_VALUE_CHARS = 40
_LINE_CHARS = 120
_WORD_CHARS = 16
_LINES = 3
_PASSED_ON = ("file_read", "search", "web")
_COUNTED = LazyRegex(r"\[(\d+) lines, \d+ characters\]\s*\Z")
_TOTAL = LazyRegex(r'"(?:total_lines|total_count|total|count|match_count)"\s*:\s*(\d+)')
_FOUND = LazyRegex(r"\AFound (\d+) (?:files?|match(?:es)?)\b|\A(\d+) (?:match(?:es)?|results?)\b")
_NOTHING = LazyRegex(
    r"\A\s*(?:No (?:files|matches|results) found\.?|\(no output\)|\(Bash completed with no output\))?\s*\Z"
)
_SUCCESS = LazyRegex(
    r"=* ?\d+ passed(?:, \d+ \w+)*(?: in [\d.]+s(?: \([\d:]+\))?)? ?=*"
    r"|ok\s+[\w./-]+\s+(?:[\d.]+s|\(cached\))(?:\s+coverage: [\d.]+% of statements)?(?: \[no tests to run\])?"
    r"|--- PASS: \w+ \([\d.]+s\)|PASS|OK|Tests?:? +\d+ passed(?: \(\d+\))?(?:, \d+ total)?"
    r"|Test Files +\d+ passed \(\d+\)"
    r"|Ran \d+ tests? in [\d.]+s|test result: ok\. \d+ passed; 0 failed.{0,60}|All checks passed!?"
    r"|Success: no issues found in \d+ source files?|\d+ files? (?:would be )?(?:left unchanged|reformatted"
    r"|already formatted)"
    r"|Successfully installed(?: [\w.+-]+)+|(?:added|up to date|changed|removed)[ ,\w]{0,40} packages?\b[\w ,.]{0,40}"
    r"|\s*Finished (?:`?[\w-]+`? )?(?:profile |dev |release )?[\[\]\w +`()-]{0,60} in [\d.]+s|Build succeeded\.?"
    r"|\[[\w./ ()-]{1,60} [0-9a-f]{7,12}\]|\d+ files? changed(?:, \d+ insertions?\(\+\))?(?:, \d+ deletions?\(-\))?"
    r"|Already up to date\.|Everything up-to-date|0 issues\.?|(?:Process exited with code|Exit code:?"
    r"|Exited with code) 0"
)
_COMMITTED = LazyRegex(r"(\[[\w./ ()-]{1,60} [0-9a-f]{7,12}\]) .*")
_OF_WRITING = (
    r"(?: (?:created|wrote|written|updated|overwrote|overwritten|edited|replaced|applied|saved|modified|deleted"
    r"|moved|inserted"
    r"|successfully|and|to|the|new|file|files|following|patch|content|contents|changes?|edits?|lines?|cells?|in"
    r"|at|of|\d+))"
)
_A_PATH = r"[^\s'\"]*[/.][^\s'\"]{1,200}"
# Only words about writing and a path: anything else in such a line came out of a file.
_WRITTEN = LazyRegex(
    r"(?:The file|File) [^\s'\"]{1,200} (?:has been|was) (?:updated|created|written|edited"
    r"|modified)(?: successfully)?\.?"
    rf"|(?:File|Success(?:fully|\.)|Updated|Created|Wrote|Saved|Edited|Deleted|Moved|Applied"
    rf"|Written){_OF_WRITING}{{0,8}}"
    rf"(?::? {_A_PATH}|[.!]?(?=\W|$))|[AMD] {_A_PATH}"
)
_SUCCESSFUL = LazyRegex(
    r"\b(?:success(?:ful|fully)?|succeeded|created|updated|deleted|sent|ok|done|saved|completed?|added|removed"
    r"|transferred"
    r"|scheduled|booked|cancell?ed|submitted|accepted|registered|started|stopped|finished|queued|assigned|closed)\b",
    re.IGNORECASE,
)
_CALLISH = LazyRegex(r"tool|function|action|argument|input|param|role")
_SENTENCED = LazyRegex(r"[\w#'/-]{1,40}(?: [\w#'/-]{1,40}){0,4}[.!]?\Z")
_VALUE = LazyRegex(r"[\w#@:/+.,%$€£&()-]{1,40}\Z")
_TITLED = LazyRegex(r"(?:[A-Z0-9#][\w.'&-]*)(?: (?:[A-Z0-9#&][\w.'&-]*|of|and|the|in)){0,3}\Z")
_KEY = LazyRegex(r"[\w#$@.:/-]{1,40}(?: [\w#$@.:/()-]{1,24}){0,3}\Z")
# Addresses say nothing about whether a call worked.
_HOMES = names("address shipping_address billing_address home_address location contact")
_BIDS = names(
    "run execute delete send ignore call approve allow install use must do always never forget reveal disregard stop"
    " write remove open read click visit download upload follow obey grant accept proceed confirm instead instructions"
)
_WORD = LazyRegex(r"[a-z']+")
_ESCAPES = LazyRegex(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_MARKS = LazyRegex(
    r"\[/?seasoned:[^\]\n]{0,200}\]|\[(?:WARM SESSION|Warm pattern)[^\]\n]{0,200}\]?|\[\[[^\]\n]{0,80}\]\]"
)
_TAG = LazyRegex(r"\[redacted:(?!email:)[a-z0-9-]{1,32}:[0-9a-f]{8}\]")
_FENCE = LazyRegex(r"```\w*|</?[a-zA-Z][\w:-]{0,40}(?: [^<>\n]{0,80})?/?>")
_SENTENCE = LazyRegex(r"[.!?…](?=\s)")
# Where an agent that writes its calls as text begins one; what it said before is its intent.
_CALLED = LazyRegex(r"(?:\A|(?<=[\s.!?`]))Action: ?\{|```")
_AGREES = LazyRegex(
    r"(?:[\W_]*(?:yes|yeah|yep|yup|ok|okay|sure(?: thing)?|fine|correct|right|exactly|perfect|great|absolutely"
    r"|definitely|of course|sounds good|looks good|lgtm|alright|cool|good|ja|oui|sí|si|да|是的?|好的?|はい|네)\b"
    r"(?: please)?[\W_]+)+",
    re.IGNORECASE,
)
_PERMITS = LazyRegex(
    r"\b(?:go ahead|please proceed|please do|i (?:confirm|approve|agree|consent|authori[sz]e)|get on with it|ship it"
    r"|do it\b(?! (?:in|by|with|for))|you (?:may|can) (?:proceed|go ahead)"
    r"|i give (?:you )?(?:my )?(?:permission|consent)"
    r"|you have my (?:permission|approval|consent)|feel free to|i(?:'|’)?m sure|i am sure|yes to (?:all|both"
    r"|everything)"
    r"|(?:that|this|it|everything|all)(?:'s|’s| is| looks| sounds)(?: all)? (?:correct|right|good|fine|perfect))\b"
    r"(?! (?:now|there|here|away|before|after|behind|next))|\A(?:approved|confirmed|proceed|continue|both)\W*\Z",
    re.IGNORECASE,
)
_TOLD = LazyRegex(r"\d|@|\[redacted:")
# An intent with fewer words beside its yes is nothing but a yes.
_SAYS = 3


def neutral_result(call: JudgedCall) -> str:
    """What shows that a call worked, in at most 500 characters; nothing of what it read or found."""
    plain = ToolCall("", call.tool, call.arguments)
    speech = output_form(plain)
    text = _ESCAPES.compiled.sub("", call.result or "")
    if speech == "web" and not text:
        return "(done)"
    if speech in _PASSED_ON:
        return _count(text, "match" if speech == "search" else "line")
    if speech in ("agent", "meta"):
        return "(done)"
    if speech == "file_write":
        return _written(text)
    if speech in ("shell", "python"):
        return _printed(text, call.kind)
    if tool_of(call.tool).kind == "research" or call.kind == "research":
        return _count(text, "line")
    return _answered(text)


def neutral_text(text: str, limit: int) -> str:
    """One harmless line of at most `limit` characters; empty where a text orders or approves anything."""
    called = _CALLED.compiled.search(text)
    said = text[: called.start()] if called else text
    if not said or speaks_to_reader(said):
        return ""
    line = _TAG.compiled.sub("…", _MARKS.compiled.sub(" ", _FENCE.compiled.sub(" ", _ESCAPES.compiled.sub("", said))))
    if not line.isprintable():
        line = "".join([c if c.isprintable() else " " for c in line])
    line = " ".join(line.split())
    agreed = _AGREES.compiled.match(f"{line} ")
    asked = line[agreed.end() :] if agreed else line
    if approves(line):
        return ""
    # Shortened and joined, the text may say what it did not say before.
    short = shortened(asked[:1].upper() + asked[1:] if agreed else asked, limit)
    return "" if short != text and speaks_to_reader(short) else short


def approves(text: str) -> bool:
    """Whether a text gives permission: repeated in another session, it would be a permission that was not given."""
    agreed = _AGREES.compiled.match(f"{text} ")
    rest = text[agreed.end() :] if agreed else text
    if _PERMITS.compiled.search(text):
        return True
    return agreed is not None and len(rest.split()) < _SAYS and not _TOLD.compiled.search(rest)


def shortened(line: str, limit: int) -> str:
    """A line cut after a sentence, or else after a word."""
    if len(line) <= limit:
        return line
    ends = [found.end() for found in _SENTENCE.compiled.finditer(line, 0, limit)]
    if ends and ends[-1] >= limit // 3:
        return line[: ends[-1]]
    head = line[:limit]
    return (head.rpartition(" ")[0] if " " in head else head[:-1]).rstrip(" ,;:([{`'\"") + "…"


def _count(text: str, unit: str) -> str:
    if _NOTHING.compiled.match(text):
        return f"(no {_plural(unit)})"
    for pattern in (_COUNTED, _TOTAL, _FOUND):
        found = pattern.compiled.search(text)
        if found is not None:
            return _counted(int(next(group for group in found.groups() if group)), unit)
    return _counted(len(text.strip().splitlines()), unit)


def _counted(number: int, unit: str) -> str:
    return f"({number} {unit if number == 1 else _plural(unit)})"


def _plural(unit: str) -> str:
    return f"{unit}es" if unit.endswith("ch") else f"{unit}s"


def _written(text: str) -> str:
    body = open_shell(text).text or text
    for line in body.splitlines()[:_LINES]:
        found = _WRITTEN.compiled.match(line.strip())
        if found is not None and len(found.group()) > 3 and not speaks_to_reader(found.group()):
            said = found.group()[:RESULT_CHARS].rstrip(" :,")
            return said if len(said.split()) > 1 else "(written)"
    return "(written)"


def _printed(text: str, kind: str) -> str:
    """A command: the lines in which programs report success, or else how much it printed."""
    body = open_shell(text)
    said, code = body.text, body.exit_code
    inner = _object(said)
    if inner is not None and isinstance(inner.get("output"), str):
        said = inner["output"]
        code = inner["exit_code"] if isinstance(inner.get("exit_code"), int) else code
    is_cut = text.rstrip().endswith("…")
    lines = [line for line in said.strip().splitlines() if line.strip()]
    if kind not in ("file", "research"):
        kept = [success for line in lines if (success := _success(line.strip()))]
        if kept:
            return "\n".join(kept[-_LINES:])[:RESULT_CHARS]
    number = "" if is_cut else "no output" if not lines else _counted(len(lines), "line")[1:-1]
    # An exit code other than 0 is not always a failure: `grep` that finds nothing. The judge has decided that.
    status = "" if code else "exit code 0" if code == 0 else "ok"
    return f"({', '.join(part for part in (status, number) if part) or 'ok'})"


def _success(line: str) -> str:
    if len(line) > _LINE_CHARS:
        return ""
    committed = _COMMITTED.compiled.fullmatch(line)
    if committed is not None:
        return committed.group(1)
    return line.strip("= ") if _SUCCESS.compiled.fullmatch(line) and not speaks_to_reader(line) else ""


def _answered(text: str) -> str:
    """The answer of any other tool: its structure with short values, or a short plain word."""
    line = text.strip()
    if line[:1] in ("{", "["):
        value = _parsed(line)
        if value is not None:
            return _structured(value)
    if not line:
        return "(done)"
    if "\n" not in line and len(line) <= _LINE_CHARS and "…" not in line:
        if _VALUE.compiled.match(line) and not _bids(line):
            return line
        if _SENTENCED.compiled.match(line) and _SUCCESSFUL.compiled.search(line) and not _bids(line):
            return line
    return _count(line, "line")


def _bids(text: str) -> bool:
    if not _BIDS.isdisjoint(_WORD.compiled.findall(text.lower())):
        return True
    # A short word alone says nothing; the whole example is checked again at the end.
    return (len(text) > _WORD_CHARS or " " in text or not text.isascii()) and speaks_to_reader(text)


def _structured(value: Any) -> str:
    for keys, items, depth in ((_KEYS, _ITEMS, _DEPTH), (_KEYS, 1, 1), (4, 1, 1)):
        done = _encode(_outline(value, keys, items, depth)).decode("utf-8", "replace")
        if len(done) <= _STRUCTURE_CHARS and not (_CALLISH.compiled.search(done) and speaks_to_reader(done)):
            return done
    return "(an object)" if isinstance(value, dict) else "(a list)"


_encode = msgspec.json.Encoder().encode


def _outline(value: Any, keys: int, items: int, depth: int) -> Any:
    if isinstance(value, dict):
        if depth == 0:
            return "…"
        shown = [name for name in value if _KEY.compiled.match(name) and not _bids(name)][:keys]
        return {name: _outline(value[name], keys, items, 0 if name in _HOMES else depth - 1) for name in shown}
    if isinstance(value, list):
        return "…" if depth == 0 and value else [_outline(item, keys, items, depth - 1) for item in value[:items]]
    if isinstance(value, str):
        return value if _is_short(value) else "…"
    return value


def _is_short(value: str) -> bool:
    """Whether a value is an id, a number, a word or a title, and not a sentence."""
    if not value or _TAG_MAIL.compiled.fullmatch(value):
        return True
    if len(value) > _VALUE_CHARS or not (_VALUE.compiled.match(value) or _TITLED.compiled.match(value)):
        return False
    return not _bids(value)


_TAG_MAIL = LazyRegex(r"\[redacted:email:[0-9a-f]{8}\]")


def _object(text: str) -> dict[str, Any] | None:
    if text[:1] != "{":
        return None
    value = _parsed(text)
    return value if isinstance(value, dict) else None


def _parsed(text: str) -> Any:
    """The JSON value of a text, even if its end was cut off for the store; None if it is not JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        pass
    if not text.endswith("…"):
        return None
    for end in _ends(text.removesuffix("…").rstrip()):
        try:
            return msgspec.json.decode(end)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            continue
    return None


def _ends(text: str) -> list[str]:
    """The cut text, closed after each of its last complete values."""
    open_: list[str] = []
    in_text = is_escaped = False
    whole: list[tuple[int, str]] = []
    for at, sign in enumerate(text):
        if in_text:
            if is_escaped:
                is_escaped = False
            elif sign == "\\":
                is_escaped = True
            elif sign == '"':
                in_text = False
        elif sign == '"':
            in_text = True
        elif sign in "{[":
            open_.append("}" if sign == "{" else "]")
        elif sign in "}]":
            if open_:
                open_.pop()
            whole.append((at + 1, "".join(reversed(open_))))
        elif sign == ",":
            whole.append((at, "".join(reversed(open_))))
    return [text[:at] + close for at, close in reversed(whole[-6:])]
