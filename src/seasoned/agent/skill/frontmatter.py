"""The front matter of SKILL.md: the part of YAML that skills use. Lines that are not needed stay as they are."""

from __future__ import annotations

import json
import re

import msgspec

from seasoned.errors import UsageError

_FENCE = "---"
_FIELD = re.compile(r"([A-Za-z_][\w.-]*)[ ]*:(?:[ \t]+(.*)|)\Z")
_BLOCK = re.compile(r"([|>])([+-]?)([1-9]?)([+-]?)[ \t]*(?:#.*)?\Z")
_PLAIN = re.compile(r"[A-Za-z][\w ,.;()/'+–—-]*\Z")
_WORDS_OF_YAML = frozenset(("true", "false", "yes", "no", "on", "off", "null", "y", "n"))
_ESCAPES = dict(zip("0abtnvfreN_LP", "\0\a\b\t\n\v\f\r\x1b\x85\xa0\u2028\u2029", strict=True))
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)


class SkillDocument(msgspec.Struct, frozen=True):
    """A SKILL.md in its parts."""

    name: str
    description: str
    # The front matter to the byte, with its fences.
    head: str
    body: str


def parse(text: str) -> SkillDocument:
    """The parts of a SKILL.md; UsageError says in one sentence what is not understood."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        raise UsageError("A skill begins with front matter: a line `---`, then name and description, then `---`.")
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() == _FENCE), None)
    if end is None:
        raise UsageError("The front matter has no end: close it with a line `---`.")
    fields = _fields(lines[1:end])
    values = {}
    for name in ("name", "description"):
        if name not in fields:
            raise UsageError(f"The front matter has no {name!r}: add a line `{name}: …`.")
        values[name] = " ".join(_scalar(name, *fields[name]).split())
        if not values[name]:
            raise UsageError(f"The front matter's {name!r} is empty: say it on the line `{name}: …`.")
    head = "\n".join(lines[: end + 1])
    return SkillDocument(values["name"], values["description"], head, "\n".join(lines[end + 1 :]))


def compose(name: str, description: str, body: str) -> str:
    """A SKILL.md of its parts."""
    text = body.replace("\r\n", "\n").strip("\n")
    return f"{_FENCE}\nname: {quoted(name)}\ndescription: {quoted(description)}\n{_FENCE}\n\n{text}\n"


def quoted(text: str) -> str:
    """A text as a YAML value on one line: bare where that is safe, else in double quotes."""
    is_safe = _PLAIN.match(text) and text == text.strip() and text.lower() not in _WORDS_OF_YAML
    return text if is_safe else json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7f").replace("\x85", "\\N")


def _fields(lines: list[str]) -> dict[str, tuple[str, list[str]]]:
    """Top-level fields: what stands on the line of each, and the lines that belong to it."""
    fields: dict[str, tuple[str, list[str]]] = {}
    rest: list[str] | None = None
    for number, line in enumerate(lines, start=2):
        if not line.strip() or line[:1] in (" ", "\t", "#") or (rest is not None and re.match(r"-(?: |\Z)", line)):
            if rest is not None:
                rest.append(line)
            elif line.strip() and not line.lstrip().startswith("#"):
                raise UsageError(f"Line {number} of the front matter is indented below nothing: {line!r}.")
            continue
        found = _FIELD.match(line)
        if found is None:
            raise UsageError(f"Line {number} of the front matter is no `field: value`: {line!r}.")
        if found[1] in fields:
            raise UsageError(f"The front matter has {found[1]!r} twice: keep one.")
        rest = []
        fields[found[1]] = ((found[2] or "").strip(), rest)
    return fields


def _scalar(name: str, value: str, rest: list[str]) -> str:
    if _BLOCK.match(value):
        # Its lines are joined by one blank in the end, so folded and literal blocks read the same.
        return " ".join(rest)
    lines = [line.strip() for line in rest if line.strip()]
    if value[:1] in ("'", '"') or (not value and lines and lines[0][:1] in ("'", '"')):
        return _unquoted(name, " ".join([value, *lines]).strip())
    whole = " ".join([value, *[line for line in lines if not line.startswith("#")]]).strip()
    if whole.startswith(("- ", *"&*!{[%@`|>?")):
        raise UsageError(f"The front matter's {name!r} is no plain text ({whole[:20]!r}): put it in double quotes.")
    return re.split(r"\s#", whole, maxsplit=1)[0]


def _unquoted(name: str, whole: str) -> str:
    quote = whole[0]
    inside = r"(?:[^'\n]|'')*" if quote == "'" else r'(?:[^"\\]|\\.)*'
    found = re.match(rf"{quote}({inside}){quote}[ \t]*(?:#.*)?\Z", whole, re.DOTALL)
    if found is None:
        raise UsageError(f"The front matter's {name!r} has a quote without its end: close it, or double an inner one.")
    return found[1].replace("''", "'") if quote == "'" else _ESCAPE.sub(_unescaped, found[1])


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code is None:
        return _ESCAPES.get(found[4], found[4])
    number = int(code, 16)
    return chr(number) if number <= 0x10FFFF else "\ufffd"
