"""How a call is written: the pattern that groups similar calls, and the form that later calls are compared with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from seasoned.command.parse import names, parse
from seasoned.command.rows import only_looks
from seasoned.command.tool import argument_names, command_of
from seasoned.example.example import digest
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.failure.call_target import EXECUTION_ARGUMENTS, CallTarget, ProgramRun, runs_of
from seasoned.session import ToolCall

_PATTERN_CHARS = 160
_ASIDE = EXECUTION_ARGUMENTS | names(
    "description timeout explanation justification workdir cwd is_background isBackground"
)
# Arguments with free text: only that they are given belongs to the pattern.
FREE = EXECUTION_ARGUMENTS | names(
    "description pattern query regex glob search_term q input content contents file_text text old_string new_string"
    " old_str new_str old_text new_text code thought prompt message body diff patch title summary note comment"
    " expression url urls"
)
_CHOICES = names("action command operation mode output_mode method op verb kind")
_CHOICE = LazyRegex(r"[A-Za-z][A-Za-z_-]{0,23}\Z")
_WORD = LazyRegex(r"[^\W\d_]+\Z")
_PATHLIKE = LazyRegex(r"(?:[\w.@~$-]*[/\\])+[\w.@*{},-]*\Z|[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,7}\Z")
_OTHER_LETTER = re.compile(r"[^\W\d_A-Za-z]")
_RUNS = ((re.compile(r"[A-Z]+"), "A"), (re.compile(r"[a-z]+"), "a"), (re.compile(r"\d+"), "9"))
# Beside programs that only look: which options these are given is taste.
_ANYBODY_CAN = names("awk pwd which env date whoami echo printf cd test sleep chmod touch mkdir rmdir")
_LABEL_CHARS = 40
# An operand of a command that shows how ids are written.
_ID = LazyRegex(r"(?=\D{0,23}\d)[\w#:@-]{1,24}\Z")


def pattern_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """The tool and the shape of what it was given: calls with one pattern show the same thing."""
    given = dict(arguments)
    command = command_of(ToolCall("", tool, given))
    return pattern_of_target(CallTarget(tool, "", given, runs=runs_of(command) if command else (), command=command))


def pattern_of_target(target: CallTarget) -> str:
    """The pattern of a call whose target is known."""
    if target.command is not None:
        shape = " + ".join(sorted({_run_shape(run) for run in target.runs})) or _scenery(target.command)
    else:
        given = [(name, value) for name, value in sorted(target.arguments.items()) if name not in _ASIDE]
        shape = " ".join(f"{name}={_shape(name, value)}" for name, value in given if value not in (None, False, ""))
    text = f"{target.tool} {shape}".rstrip()
    return text if len(text) <= _PATTERN_CHARS else f"{text[: _PATTERN_CHARS - 17]} {digest(text)}"


def step_of(target: CallTarget) -> str:
    """The name of a step: `Read`, or for a shell `Bash: pytest`."""
    if target.command is None:
        return target.tool
    return f"{target.tool}: {_label(target.runs[-1]) if target.runs else _scenery(target.command)}"


def is_look(target: CallTarget) -> bool:
    """Whether a shell command only looks around, or does nothing that could go wrong."""
    return target.command is not None and all(_looks(run) for run in target.runs)


def _looks(run: ProgramRun) -> bool:
    return only_looks(run.program, run.label.split()[-1]) or run.program in _ANYBODY_CAN


def _scenery(command: str) -> str:
    steps = parse(command)
    return steps[-1].program[:_LABEL_CHARS] if steps else "shell"


def _label(run: ProgramRun) -> str:
    # With its wrappers: where `rtk bun run test` fails and `bun run test` works, they must not be one.
    return run.wrapped if run.wrapped.isprintable() and len(run.wrapped) <= _LABEL_CHARS else run.program[:_LABEL_CHARS]


@lru_cache(maxsize=1024)
def _run_shape(run: ProgramRun) -> str:
    if run.is_inline:
        return f"{run.program} inline"
    if run.is_check or _looks(run):
        return _label(run)
    options = sorted({option for option in run.options if option.startswith("--")} - {"--"})
    ids = (
        sorted({letter_shape(word) for word in run.operands if _ID.compiled.match(word)})
        if run.program != "git"
        else []
    )
    return " ".join([_label(run), *options[:4], *ids[:2]])


def _shape(name: str, value: Any, depth: int = 3) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return _text_shape(name, value)
    if isinstance(value, dict):
        return "{" + ",".join(sorted(str(key) for key in value)[:12]) + "}" if depth else "{}"
    if isinstance(value, list | tuple):
        return "[" + "|".join(sorted({_shape(name, item, depth - 1) for item in value[:12]})) + "]" if depth else "[]"
    return "null"


def _text_shape(name: str, value: str) -> str:
    if name in _CHOICES and _CHOICE.compiled.match(value):
        return value
    if name in FREE or value[:1].isspace():
        return "text"
    if "[redacted:" in value or "@" in value:
        return "id"
    if name in argument_names("path") or _PATHLIKE.compiled.match(value):
        return _place(value)
    if any(c.isspace() for c in value) or len(value) > 40:
        return "text"
    if _WORD.compiled.match(value):
        return "word"
    return letter_shape(value)


def _place(value: str) -> str:
    if "://" in value[:12]:
        return "address"
    return "absolute" if value.startswith(("/", "~", "\\")) or value[1:2] == ":" else "path"


def letter_shape(value: str) -> str:
    """Each run of letters or digits as one sign, everything else unchanged: `#W0052025` is `#A9`."""
    if not value.isascii():
        value = _OTHER_LETTER.sub("a", value)
    for run, sign in _RUNS:
        value = run.sub(sign, value)
    return value


_UUID = r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
# The look-aheads require a digit and a letter: `deadbeef` is a word, and `1234567` a number.
_HEX = r"(?:(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,}|(?=[0-9]*[A-F])(?=[A-F]*[0-9])[0-9A-F]{7,})(?![0-9A-Za-z])"
_PARTS = LazyRegex(
    r"(?P<mail>\[redacted:email:[0-9a-f]{8}\])"
    rf"|(?<![0-9A-Za-z])(?P<uuid>{_UUID})(?![0-9A-Za-z])|(?<![0-9A-Za-z])(?P<hex>(?:0x)?{_HEX})|(?P<figures>\d+)"
    r"|(?P<letters>[^\W\d_]*[^\W\d_a-zA-Z][^\W\d_]*|[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+)"
)
_LONGEST = 80
_DEPTH = 3
_WORDS = re.compile(r"[Aa]+\Z")
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class CallForm(msgspec.Struct, frozen=True):
    """How a call is written: its tool and the shape of each argument; for a shell the pattern of its command."""

    tool: str
    shapes: Mapping[str, str]
    pattern: str | None = None

    def follows(self, example: CallForm) -> bool:
        """Whether this call is written like the example: it has every argument of the example, in the same shape."""
        if self.tool != example.tool or self.pattern != example.pattern:
            return False
        return all(self.shapes.get(name) == value for name, value in example.shapes.items())


def call_form_of(tool: str, raw_arguments: str) -> CallForm | None:
    """The form of a call from its arguments as JSON; None if they are not an object."""
    try:
        arguments = _decode(raw_arguments)
    except msgspec.DecodeError:
        return None
    if command_of(ToolCall("", tool, arguments)) is not None:
        return CallForm(tool, {}, pattern_of(tool, arguments))
    return CallForm(
        tool, {name: _form_shape(value) for name, value in arguments.items() if name not in EXECUTION_ARGUMENTS}
    )


def _form_shape(value: Any, depth: int = _DEPTH) -> str:
    if isinstance(value, bool) or value is None:
        return "switch"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return _form_of_text(value)
    if isinstance(value, Mapping):
        inner = sorted(f"{name}:{_form_shape(item, depth - 1)}" for name, item in value.items()) if depth else ()
        return "{" + ",".join(inner) + "}"
    several = sorted({_form_shape(item, depth - 1) for item in value}) if depth else ()
    return "[" + "|".join(several) + "]"


def _form_of_text(value: str) -> str:
    text = value.strip()
    if not text or len(text) > _LONGEST or any(c.isspace() for c in text):
        return "words"
    first, _, rest = text.partition("/")
    if rest and ":" not in first:
        # Where a path begins is often the convention itself; its depth is not, nor is a number (`401/GX`).
        return f"{'0' if first.isdigit() else first}/{'' if rest.endswith('/') else 'path'}"
    written = _PARTS.compiled.sub(_part_shape, text)
    # One word may become two, but capitals can be what a tool insists on.
    return "words" if _WORDS.match(written) and written != "A" else written


def _part_shape(found: re.Match[str]) -> str:
    """`#W0052025` and `#W7731846` are written alike, `src/noteBook.md` is not."""
    kind, text = found.lastgroup, found.group()
    if kind == "figures":
        return "0"
    if kind == "letters":
        return "a" if text.islower() else "A" if text.isupper() else "Aa"
    if kind == "hex":
        bare = text.removeprefix("0x")
        return f"{'0x' if bare != text else ''}{'h' if bare.islower() else 'H'}{len(bare)}"
    return "uuid" if kind == "uuid" else "a@a.a"
