"""How a call is written: its form groups calls that show the same, later failures speak against its traits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from seasoned.command.parse import names, parse
from seasoned.command.tool import command_of
from seasoned.digest import short_digest
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.failure.call_target import EXECUTION_ARGUMENTS, ProgramRun, runs_of
from seasoned.session import ToolCall

_PATTERN_CHARS = 160
ASIDE = EXECUTION_ARGUMENTS | names("description workdir cwd is_background isBackground")
# Arguments with free text: only that they are given belongs to the form.
_FREE = names(
    "pattern query regex glob search_term q input content contents file_text text old_string new_string old_str new_str"
    " old_text new_text code thought prompt message body diff patch title summary note comment expression url urls"
)
_CHOICES = names("action command operation mode output_mode method op verb kind")
_CHOICE = LazyRegex(r"[A-Za-z][A-Za-z_-]{0,23}\Z")
_LABEL_CHARS = 40
# An operand of a command that shows how ids are written.
_ID = LazyRegex(r"(?=\D{0,23}\d)[\w#:@-]{1,24}\Z")
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
# What a value is written with, besides its shape: `ORD-` of `ORD-1001`, `crm.` of `crm.orders`, `kg` of `5 kg`.
_LEADING = LazyRegex(r"[^\d\s]{1,16}(?=\s?\d)|[^\d\s]{0,24}?[^\w\s](?=\w)")
_TRAILING = LazyRegex(r"(?:\d\s?|\w\.)([^\W\d_]{1,8}|[%°€$£])\Z")
_FIGURES = re.compile(r"\d+")
_WORD = LazyRegex(r"[^\W\d]{1,16}\Z")
# Numbers on different sides of it differ in scale: seconds and milliseconds, euros and cents.
_LARGE = 1000
_ITEMS = 8
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class CallForm(msgspec.Struct, frozen=True):
    """How a call is written: its tool and the shape of each argument; for a shell what its programs are given."""

    tool: str
    shapes: tuple[str, ...]  # `order_id:#A0`
    # Each thing that can be wrong with how it is written: an argument, a shape, a prefix, a unit, a flag, a scale.
    traits: frozenset[str]

    @property
    def pattern(self) -> str:
        """The form as a text: calls with one pattern show the same thing."""
        text = " ".join((self.tool, *self.shapes))
        return text if len(text) <= _PATTERN_CHARS else f"{text[: _PATTERN_CHARS - 17]} {short_digest(text)}"

    def follows(self, example: CallForm) -> bool:
        """Whether this call is written like the example: it has every argument of the example, in the same shape."""
        return self.tool == example.tool and set(example.shapes) <= set(self.shapes)


@lru_cache(maxsize=4096)
def call_form_of(tool: str, raw_arguments: str) -> CallForm | None:
    """The form of a call from its arguments as JSON; None if they are not an object."""
    try:
        return form_of(tool, _decode(raw_arguments))
    except msgspec.DecodeError:
        return None


def form_of(tool: str, arguments: Mapping[str, Any]) -> CallForm:
    """The form of a call."""
    command = command_of(ToolCall("", tool, dict(arguments)))
    if command is not None:
        shapes = tuple(sorted({_run_shape(run) for run in runs_of(command)})) or (_scenery(command),)
        return CallForm(tool, shapes, frozenset((" + ".join(shapes),)))
    given = {name: value for name, value in sorted(arguments.items()) if name not in ASIDE and value not in (None, "")}
    # A switch that is off is as good as none.
    shapes = tuple(f"{name}:{_shape(name, value)}" for name, value in given.items() if value is not False)
    details = (detail for name, value in given.items() for detail in _details(name, value, _DEPTH))
    return CallForm(tool, shapes, frozenset((*shapes, *given, "arguments " + " ".join(given), *details)))


def _scenery(command: str) -> str:
    steps = parse(command)
    return steps[-1].program[:_LABEL_CHARS] if steps else "shell"


@lru_cache(maxsize=1024)
def _run_shape(run: ProgramRun) -> str:
    # With its wrappers: where `rtk bun run test` fails and `bun run test` works, they must not be one.
    label = (
        run.wrapped if run.wrapped.isprintable() and len(run.wrapped) <= _LABEL_CHARS else run.program[:_LABEL_CHARS]
    )
    if run.is_inline or run.is_check:
        return f"{run.program} inline" if run.is_inline else label
    options = sorted({option for option in run.options if option.startswith("--")} - {"--"})
    ids = () if run.program == "git" else {_text_shape(word) for word in run.operands if _ID.compiled.match(word)}
    return " ".join([label, *options[:4], *sorted(ids)[:2]])


def _shape(name: str, value: Any, depth: int = _DEPTH) -> str:
    if isinstance(value, bool) or value is None:
        return "switch"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        if name in _CHOICES and _CHOICE.compiled.match(value):
            return value
        return "words" if name in _FREE else _text_shape(value)
    if isinstance(value, Mapping):
        inner = sorted(f"{key}:{_shape(key, item, depth - 1)}" for key, item in value.items()) if depth else ()
        return "{" + ",".join(inner) + "}"
    several = sorted({_shape(name, item, depth - 1) for item in value}) if depth else ()
    return "[" + "|".join(several) + "]"


def _text_shape(value: str) -> str:
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


def _details(name: str, value: Any, depth: int) -> Iterator[str]:
    """What a value is written with that its shape does not say."""
    if isinstance(value, bool):
        yield f"{name}={value}"
    elif isinstance(value, int | float):
        yield f"{name} {'fraction' if isinstance(value, float) else 'whole'}"
        yield f"{name} {'large' if abs(value) >= _LARGE else 'small'}"
    elif isinstance(value, str) and len(value) <= _LONGEST:
        yield from _text_details(name, value.strip())
    elif isinstance(value, Mapping) and depth:
        for key, inner in value.items():
            yield f"{name}.{key}"
            yield from _details(f"{name}.{key}", inner, depth - 1)
    elif isinstance(value, list) and depth:
        for inner in value[:_ITEMS]:
            yield from _details(f"{name}[]", inner, depth - 1)


def _text_details(name: str, text: str) -> Iterator[str]:
    if _WORD.compiled.match(text):
        yield f"{name}={text}"
        return
    folder = ""
    for part in text.split("/")[:-1][:_DEPTH]:
        folder += f"{part}/"
        yield f"{name} in {folder}"
    figures = _FIGURES.findall(text)
    if len(figures) > 1:
        # The order of a date's parts shows in their lengths.
        yield f"{name} figures {' '.join(str(len(one)) for one in figures)}"
    leading, trailing = _LEADING.compiled.match(text), _TRAILING.compiled.search(text)
    if leading is not None:
        yield f"{name} begins {leading.group()}"
    if trailing is not None:
        yield f"{name} ends {trailing.group(1)}"
