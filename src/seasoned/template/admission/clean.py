"""What an example may say: results as neutral summaries, harmless intents, and the last check before it is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from seasoned.command.parse import names
from seasoned.command.tool import output_form, tool_of
from seasoned.insight.track import JudgedCall
from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.evidence.envelope import open_shell
from seasoned.redact.redactor import Redactor, is_clean
from seasoned.session import ToolCall
from seasoned.template.admission.call import admit_call
from seasoned.template.admission.injection import is_injection
from seasoned.template.anonymize.shape import is_hex, is_placeholder, looks_random
from seasoned.template.anonymize.words import MAIL_HOSTS, pair_of_names
from seasoned.template.example import INTENT_CHARS, RESULT_CHARS, Example

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
# Only words about writing, and a path: anything else in such a line came from a file.
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
# Where a call begins that an agent writes as text; what comes before it is the intent.
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
# An intent with fewer words besides its yes is only a yes.
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
    """One harmless line of at most `limit` characters; empty if the text orders or approves something."""
    called = _CALLED.compiled.search(text)
    said = text[: called.start()] if called else text
    if not said or is_injection(said):
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
    return "" if short != text and is_injection(short) else short


def approves(text: str) -> bool:
    """Whether a text gives permission, which must not be repeated in a session where no one gave it."""
    agreed = _AGREES.compiled.match(f"{text} ")
    rest = text[agreed.end() :] if agreed else text
    if _PERMITS.compiled.search(text):
        return True
    return agreed is not None and len(rest.split()) < _SAYS and not _TOLD.compiled.search(rest)


def shortened(line: str, limit: int) -> str:
    """A line cut after a sentence if possible, else after a word."""
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
        if found is not None and len(found.group()) > 3 and not is_injection(found.group()):
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
    # An exit code other than 0 is not always a failure, as with `grep` that finds nothing. The judge decided.
    status = "" if code else "exit code 0" if code == 0 else "ok"
    return f"({', '.join(part for part in (status, number) if part) or 'ok'})"


def _success(line: str) -> str:
    if len(line) > _LINE_CHARS:
        return ""
    committed = _COMMITTED.compiled.fullmatch(line)
    if committed is not None:
        return committed.group(1)
    return line.strip("= ") if _SUCCESS.compiled.fullmatch(line) and not is_injection(line) else ""


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
    # A single short word is harmless; the whole example is checked again at the end.
    return (len(text) > _WORD_CHARS or " " in text or not text.isascii()) and is_injection(text)


def _structured(value: Any) -> str:
    for keys, items, depth in ((_KEYS, _ITEMS, _DEPTH), (_KEYS, 1, 1), (4, 1, 1)):
        done = _encode(_outline(value, keys, items, depth)).decode("utf-8", "replace")
        if len(done) <= _STRUCTURE_CHARS and not (_CALLISH.compiled.search(done) and is_injection(done)):
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


ARGUMENTS_CHARS = 2000
_TOOL = LazyRegex(r"[\w.:/-]{1,120}\Z")
_WORDS = LazyRegex(r"[A-Za-z0-9]{20,}")
_DIGEST_CHARS = 32
_MAIL = LazyRegex(r"[\w.+-]+@((?:[\w-]+\.)+[A-Za-z]{2,18})\b")
_PHONE = LazyRegex(
    r"(?<![\w.:/#-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{2,4}\)[ .-]?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w-])"
    r"|(?<![\w.])\+\d{9,15}(?!\d)"
)
_CUT = LazyRegex(r" … \[\d+ characters\]|\A…\Z")
_NOBODY = ("git", "noreply", "no-reply")
_decode = msgspec.json.Decoder(dict[str, Any]).decode


def unclean(example: Example, redactor: Redactor, *, project: str = "") -> str | None:
    """Why an example must be dropped: a secret, a person, an order to the reader, a call that may not be shown.

    None if it may stay. `project`: whose real names it shows, if any.
    """
    if not _TOOL.compiled.match(example.tool):
        return "the tool's name is not plain"
    if len(example.arguments) > ARGUMENTS_CHARS:
        return "the arguments are too long"
    if len(example.result) > RESULT_CHARS or len(example.intent) > INTENT_CHARS:
        return "the result or the intent is too long"
    try:
        arguments = _decode(example.arguments)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeEncodeError, RecursionError):
        return "the arguments are not an object"
    names: list[str] = []
    values = list(_texts(arguments, names))
    shown = [example.tool, *names, *values, example.result, example.intent]
    # A tag instead of a value would teach sessions to write tags.
    if any("[redacted:" in text for text in shown):
        return "something was redacted in it"
    if any(_CUT.compiled.search(value) for value in values):
        return "an argument was cut off"
    whole = "\n".join(shown)
    # If nothing is escaped, the arguments as they are shown contain all values, each next to its name.
    texts = [example.tool, example.arguments, example.result, example.intent]
    if "\\" in example.arguments:
        texts.append(whole)
    if not is_clean(redactor, texts, names) and _has_secret(texts, arguments, redactor):
        return "it seems to contain a secret"
    return _personal(whole) or _spoken(example, shown) or admit_call(example.tool, arguments, project=project).why


def _texts(value: Any, names: list[str]) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            names.append(name)
            yield from _texts(inner, names)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, names)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def _has_secret(texts: list[str], arguments: dict[str, Any], redactor: Redactor) -> bool:
    """Whether a value under a name such as `token` is a secret."""
    return bool(redactor.find("\n".join(texts)) or redactor.value(arguments) != arguments)


def _personal(whole: str) -> str | None:
    for word in _WORDS.compiled.findall(whole):
        bare = word.removeprefix("0x")
        is_digest = len(bare) >= _DIGEST_CHARS and is_hex(bare)
        if (is_digest or looks_random(bare)) and not is_placeholder(bare):
            return "it contains a word that looks random"
    for found in _MAIL.compiled.finditer(whole):
        local = found.group().partition("@")[0]
        if found.group(1).lower() not in MAIL_HOSTS and local not in _NOBODY:
            return "it contains an e-mail address"
    if pair_of_names(whole) is not None:
        return "it contains a person's name"
    return "it contains a telephone number" if _PHONE.compiled.search(whole) else None


def _spoken(example: Example, shown: list[str]) -> str | None:
    # One check of everything is quicker; only if it finds something is each part checked.
    if is_injection(" ;\n".join(shown)) and any(is_injection(text) for text in shown):
        return "it gives orders to its reader"
    if approves(example.intent):
        return "its intent gives permission"
    return None
