"""What may be shown to another session: commands by a grammar, calls of named tools by their shape, free text by signs.

An agent takes what it is shown for approved. So a command passes only if it is written in the grammar of
`seasoned.command.shown`, and a call of a named tool only if its values are plain values: no sentence, no command, no
address outside the project. Notes, rules, memories and skills are sentences, so for them a short list of signs decides:
orders to a model, fake roles and calls, claimed approvals, and characters that no one sees. No such list is complete:
what a person keeps on purpose is theirs to decide, and nothing of it runs without the agent's own rules.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from seasoned.command.risk import need_of_command
from seasoned.command.shown import why_not_called, why_not_shown
from seasoned.command.tool import command_of
from seasoned.lazy_regex import LazyRegex
from seasoned.redact import Redactor
from seasoned.session import ToolCall

# What is kept about the user may hold contact data; notes and skills may not.
PERSONAL = frozenset(("email", "phone"))
LEFT_OUT = "(left out)"


class Admission(msgspec.Struct, frozen=True):
    """Whether something may be shown; if not, why."""

    why: str | None = None

    def __bool__(self) -> bool:
        return self.why is None


# -- calls ------------------------------------------------------------------------------------------------------------

# Marks of a value that was redacted or shortened for the store: such a call would not work.
_INCOMPLETE = ("[redacted:", " characters]")
# A command whose passing values were left out is as good as one with a plain word there.
_ELLIPSIS = "…"
# What a model writes beside a command for the person who reads along.
_REMARKS = frozenset(("description", "explanation", "justification"))
# Agents often show themselves only the end of what a command prints.
_SHORTENED = LazyRegex(r"(?:\s+2>&1)?(?:\s*\|\s*(?:tail|head)(?:\s+-n?\s*\d+)?)?\s*\Z")
_NAME = LazyRegex(r"[A-Za-z0-9_.:/$@-]{1,64}\Z")
_NAME_PARTS = LazyRegex(r"[_.:/$@-]+|(?<=[a-z0-9])(?=[A-Z])")
# More words than a name has: a sentence written as one word. The name of a server counts by itself.
_MOST_WORDS = 6
# This many words in a row are a sentence, or this many characters of a script without spaces.
_SENTENCE = LazyRegex(
    r"(?<!\S)(?:[^\W\d_]\S*\s+){4}[^\W\d_]"
    r"|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]{8}"
)
_COMMAND = LazyRegex(
    r"[\n`]|\$[({]|&&|\|\||[|;<>]\s|(?i:javascript|vbscript|data):|\A\s*(?:sudo|curl|wget|(?:ba|z)?sh|rm|python3?|node"
    r"|np[mx]|pip3?|git|eval|exec|chmod|ssh|scp|nc|iex|powershell)\s"
)
_URL = LazyRegex(r"(?i)\b([a-z][a-z0-9+.-]{1,30}):/{2,}([^\s\"'`<>|;)\]}]*)|(?<![\w:/])//([\w-]+\.[\w.-]+)")
_HOST = LazyRegex(
    r"(?i)\A\s*(?:[\w.+-]+@)?(?:\[[0-9a-f:]+\]|(?:\d{1,3}\.){3}\d{1,3}|(?:[a-z0-9_-]+\.)+(?:com|net|org|io|dev|app|co"
    r"|info|biz|xyz|online|site|top|cloud|ai|click|link|live|store|tech|example|invalid|onion|cn|ru|de|fr|uk|eu|us|me|cc"
    r"|tk|pw))\.?(?::\d+)?(?:/\S*)?\s*\Z"
)
_LOCAL = ("localhost", "127.0.0.1", "0.0.0.0", "[::1]", "host.docker.internal", "example.com", "example.org")
_HERE = ("file", "unix", "sqlite")
# Places that hold secrets, or settings that decide what an agent or a shell runs.
_PRIVATE = LazyRegex(
    r"(?:\A|[/\\~])\.(?:ssh|gnupg|aws|kube|docker|netrc|npmrc|pypirc|git|claude|codex|gemini|hermes|cursor|seasoned|config"
    r"|bashrc|zshrc|profile|bash_profile|env)(?=[/\\.]|\s*\Z)|\A/(?:etc|proc|root|dev|sys)/|id_(?:rsa|ed25519)"
    r"|\.(?:pem|key|p12|pfx)\s*\Z"
)


def admit_call(
    tool: str,
    arguments: Mapping[str, Any],
    *,
    project: str = "",
    folder: str | None = None,
    named: frozenset[str] = frozenset(),
    allowed: frozenset[str] = frozenset(),
) -> Admission:
    """Whether a call that worked may be shown to another session of this project (its key; empty for none).

    `named` are programs that the project is known to use; `allowed` the actions of named tools that a person allowed.
    """
    texts = list(texts_in(arguments))
    if any(map(hidden_character, texts)):
        return Admission("it contains an invisible character")
    if any(mark in text for text in texts for mark in _INCOMPLETE):
        return Admission("a part of it was redacted or cut")
    if not is_named_plainly(tool):
        return Admission("the name of its tool is not plain")
    given = dict(arguments)
    command = command_of(ToolCall("", tool, given))
    if command is None:
        return Admission(_why_not_values(given, project) or why_not_called(tool, given, allowed=allowed))
    plain = _SHORTENED.compiled.sub("", command.replace(_ELLIPSIS, "x"), count=1)
    why = why_not_shown(plain, project=project, folder=folder, named=named)
    others = {name: value for name, value in given.items() if value != command}
    return Admission(why or _why_not_values(others, project))


def without_remarks(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call without what a model said about it to the person who reads along."""
    given = dict(arguments)
    is_command = command_of(ToolCall("", tool, given)) is not None
    return {name: value for name, value in given.items() if not (is_command and name in _REMARKS)}


def _why_not_values(value: Any, project: str) -> str | None:
    """Why the arguments of a named tool may not be shown."""
    if not all(map(is_named_plainly, texts_in(value, names=True))):
        return "the name of an argument is not plain"
    for text in texts_in(value):
        if _COMMAND.compiled.search(text):
            return "a value of it is a command or a text of several lines"
        if _SENTENCE.compiled.search(text) or is_injection(text):
            return "a value of it is a sentence"
        if names_address(text, project):
            return "it names an address outside the project"
        if _PRIVATE.compiled.search(text):
            return "it names a private file"
    return None


def names_address(text: str, project: str = "") -> bool:
    """Whether a text names a host that is neither this machine nor the project's own."""
    for url in _URL.compiled.finditer(text):
        if (url[1] or "").lower() not in _HERE and not _is_own(url[2] or url[3] or "", project):
            return True
    return _HOST.compiled.match(text) is not None and not _is_own(text.strip().rpartition("@")[2], project)


def _is_own(place: str, project: str) -> bool:
    """Whether an address is this machine, a neighbouring service without a domain, or the project's repository."""
    place = place.rpartition("@")[2].lower() if "@" in place.partition("/")[0] else place.lower()
    host = place.partition("/")[0]
    bare = host if host.startswith("[") else host.partition(":")[0]
    if bare in _LOCAL or bare.endswith(".localhost") or ("." not in bare and bare.isalnum() and not bare.isdigit()):
        return True
    # Many projects share a forge: only the project's own repository there is its own.
    return bool(project) and (place.removesuffix(".git") + "/").startswith(project.lower() + "/")


def is_named_plainly(name: str) -> bool:
    """Whether the name of a tool or an argument is a plain identifier, and not a sentence with its words joined."""
    if not _NAME.compiled.match(name):
        return False
    words = [[word for word in _NAME_PARTS.compiled.split(part) if word] for part in name.split("__")]
    return max(map(len, words)) <= _MOST_WORDS and not is_injection(" ".join(_NAME_PARTS.compiled.split(name)))


def texts_in(value: Any, *, names: bool = False) -> Iterator[str]:
    """Every text in a value, however deep; or the names under which values stand."""
    if isinstance(value, str):
        yield from () if names else (value,)
    elif isinstance(value, Mapping):
        yield from map(str, value) if names else ()
        value = [*value.values()]
    for inner in value if isinstance(value, list | tuple) else ():
        yield from texts_in(inner, names=names)


@lru_cache(maxsize=4096)
def admit_written(tool: str, text: str, project: str = "", named: frozenset[str] = frozenset()) -> bool:
    """Whether a stored call may be shown: the command of a shell, or the JSON of its arguments."""
    given: dict[str, Any] = {"command": text} if tool == "shell" else msgspec.json.decode(text)
    return bool(admit_call("Bash" if tool == "shell" else tool, given, project=project, named=named))


# -- free text --------------------------------------------------------------------------------------------------------

# A list of such words is never complete: written blind, most orders pass it. So it holds the plain forms only, and what
# is shown does not rest on it.
_PERSON = r"(?:users?|humans?|operators?|admin\w*|owners?|maintainers?|developers?|managers?)"
_CONSENT = r"(?:confirmations?|approvals?|permissions?|consent|authori[sz]ation|reviews?|sign-?off)"
# On a text in lower case with single spaces.
_SIGNS = LazyRegex(
    r"\b(?:ignor|disregard|forget|overrid|bypass)\w*(?: \S+){0,4} (?:instructions?|orders?|rules|prompts?|guidelines)\b"
    r"|\b(?:ignore|disregard|forget) (?:all|everything|anything|what)\b|\byou are (?:now|no longer)\b"
    rf"|\b(?:do not|don't|never|without)(?: \S+){{0,2}} (?:tell|inform|mention|notify)\w*(?: \S+){{0,3}} {_PERSON}\b"
    r"|\b(?:send|post|upload|forward|e-?mail|exfiltrat\w*)(?: \S+){0,6} (?:passwords?|secrets?|tokens?|credentials?"
    r"|\.env|(?:api|ssh|private) keys?)\b"
    rf"|\b{_PERSON} (?:\w+ )?(?:already |hereby )?(?:pre-?)?(?:approved|authori[sz]ed|consented|granted|agreed)\b"
    rf"|\b{_CONSENT} (?:\w+ ){{1,3}}(?:granted|given|waived|disabled|not needed|not required)\b"
    rf"|\b(?:no|skip|bypass|waive|without) (?:\w+ ){{0,2}}{_CONSENT} (?:is |are )?(?:needed|required|necessary)\b"
    rf"|\b(?:do not|don't|never|no need to|without)(?: \w+){{0,2}} ask\w*(?: \w+){{0,3}} (?:{_CONSENT}|first|before)\b"
    r"|\b(?:run|execute|paste)\b[^|]{0,60}\b(?:curl|wget|iwr)\b[^|]{1,200}\| ?(?:sudo )?(?:\w*sh|python3?|iex)\b"
)
# Marks of roles, calls and blocks, on a text that still has its lines.
_MARKS = LazyRegex(
    r"<\|[a-z_ ]{1,30}\|>|<</?sys>>|\[/?inst\]|</?(?:system|assistant|developer|human)(?:[-_]\w{1,20})?>"
    r"|</?(?:[a-z]{2,8}:)?(?:function_calls?|invoke|tool_(?:calls?|use|results?|code))\b[^>\n]{0,80}>"
    r"|(?:^|\n|[.!?:] )\W{0,6}(?:system|assistant|developer)(?: (?:message|prompt|note))?\W{0,4}:\s*(?:[^\s:=]+\s+){3}"
    r"|(?:^|\n)\s*(?:#{1,4}\s*|\[)(?:system|assistant|developer)\b"
    r"|\"(?:tool_calls|function_call|tool_use_id)\\?\"\s*:|\brole\\?[\"']\s*:\s*\\?[\"'](?:system|assistant|tool)\b"
    r"|\{\s*\\?[\"'](?:name|tool|action)\\?[\"']\s*:[^{}]{1,100}[\"'](?:arguments|parameters|input|action_input)\\?[\"']\s*:"
    r"|\[/?seasoned:|\[warm (?:session|pattern)|</?(?:instructions?|important|override)>"
)
# Letters and marks that show nothing, and variation selectors, which have been used to hide entire texts.
_BLANK = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u2028\u2029\u034f") | frozenset(
    map(chr, (*range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0)))
)
_JOINERS = "\u200c\u200d"
# Cyrillic and Greek letters that look like Latin ones: a word that mixes them imitates another.
_MIXED = LazyRegex(r"[A-Za-z][\u0400-\u052f]|[\u0400-\u052f][A-Za-z]")
# Quoted code, and lines that look like typed commands.
_QUOTED = LazyRegex(
    r"```[^\n`]*\n(.{1,4000}?)```|`([^`\n]{2,1000})`|^[ \t>]*\$ ([^\n]{2,1000})$", re.MULTILINE | re.DOTALL
)


def is_injection(text: str) -> bool:
    """Whether a text looks like an order to the model, a fake call, a fake role or a fake approval."""
    # The same words precede many calls; long texts are not worth the memory.
    return _speaks(text) if len(text) <= 600 else _speaks.__wrapped__(text)


@lru_cache(maxsize=4096)
def _speaks(text: str) -> bool:
    plain = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower()
    if _MARKS.compiled.search(plain) or (not text.isascii() and _MIXED.compiled.search(text)):
        return True
    words = " ".join(plain.replace("_", " ").replace("’", "'").replace("*", "").split())
    return _SIGNS.compiled.search(words) is not None


def admit(
    redactor: Redactor, text: str, *, before: str = "", personal: bool = False, commands: bool = False
) -> Admission:
    """Whether a text may be kept for later sessions or shown to them. Only lines that `before` does not have count.

    `personal`: contact data is allowed. `commands`: the text is shown unasked, so it must not quote a command that a
    person must confirm.
    """
    # A person may write what an agent may not; the other lines of that file can still be changed.
    known = frozenset(before.split("\n"))
    added = "\n".join([line for line in text.split("\n") if line not in known])
    if place := hidden_character(added):
        return Admission(f"The text contains an invisible or broken character ({place}). Remove it.")
    for hit in redactor.find(text):
        if (personal and hit.kind in PERSONAL) or (before and text[hit.start : hit.end] in before):
            continue
        line = text.count("\n", 0, hit.start) + 1
        if hit.kind in PERSONAL:
            why = f"Line {line} contains personal data ({hit.kind}). Remove it, or keep it in the user's memory."
            return Admission(why)
        return Admission(
            f"Line {line} contains what looks like a secret ({hit.kind}). Say where it is kept, not what it is."
        )
    # An added line can complete an order that earlier lines began.
    if is_injection(added) or (is_injection(text) and not is_injection(before)):
        place = next((f"Line {at}" for at, line in enumerate(text.split("\n"), 1) if is_injection(line)), "The text")
        return Admission(
            f"{place} gives orders to its reader, or claims an approval, as injected instructions do. "
            "State the fact or the procedure instead."
        )
    if commands and (action := _needs_person(added)):
        return Admission(f"It quotes a command that a person must confirm ({action}), so it is not shown unasked.")
    return Admission()


def admitted(value: Any) -> Any:
    """A JSON value for a model to read, without texts that give orders or hide something."""
    if isinstance(value, str):
        return value if is_harmless(value) else LEFT_OUT
    if isinstance(value, dict):
        return {key if is_harmless(str(key)) else LEFT_OUT: admitted(inner) for key, inner in value.items()}
    return [admitted(inner) for inner in value] if isinstance(value, list | tuple) else value


def is_harmless(text: str) -> bool:
    """Whether a short text may be shown in a list or table for models: it gives no orders and hides nothing."""
    return not is_injection(text) and hidden_character(text) is None


def _needs_person(text: str) -> str | None:
    """The action of the first quoted command that a person must confirm."""
    for found in _QUOTED.compiled.finditer(text):
        for line in next(filter(None, found.groups()), "").splitlines():
            if need := need_of_command(line.strip().removeprefix("$ ")):
                return need.action
    return None


def hidden_character(text: str) -> str | None:
    """The first character that a person would not see, by its name."""
    if text.isascii() and text.isprintable():
        return None
    for at, char in enumerate(text):
        if char in "\n\t" or " " <= char <= "~":
            continue
        if char in _JOINERS:
            # They join letters of some scripts and parts of emoji; next to Latin letters they only hide.
            sides = text[at - 1 : at] + text[at + 1 : at + 2]
            if len(sides) == 2 and not any(side.isascii() or side in _JOINERS for side in sides):
                continue
        elif char not in _BLANK and unicodedata.category(char) not in ("Cc", "Cf", "Cs"):
            continue
        return f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip()
    return None
