"""The front matter of SKILL.md: reading name and description, and writing those of a new skill.

Existing front matter is never written again: patches change the text of the file, so every other byte stays.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import msgspec

from seasoned.errors import CannotDo, UsageError

if TYPE_CHECKING:
    import yaml

_FENCE = "---"
# Text that needs no quotes in YAML, whatever reads it.
_SAFE_PLAIN = re.compile(r"[A-Za-z][\w ,.;()/'+–—-]*\Z")
# YAML 1.1 reads these as booleans or as null.
_YAML_WORDS = frozenset(("true", "false", "yes", "no", "on", "off", "null", "y", "n"))
# A value on one line that begins with none of the characters that have a meaning in YAML.
_ONE_LINE = re.compile(r"^(name|description):[ \t]+(?![\"'|>&*!%@`\[{#])(.*\S)", re.MULTILINE)


class SkillDocument(msgspec.Struct, frozen=True):
    """A SKILL.md in its parts."""

    name: str
    description: str
    # The front matter to the byte, with its fences.
    head: str
    body: str


def parse(text: str) -> SkillDocument:
    """The parts of a SKILL.md; UsageError says in one sentence what is wrong."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        raise UsageError("A skill begins with front matter: a line `---`, then name and description, then `---`.")
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() == _FENCE), None)
    if end is None:
        raise UsageError("The front matter has no end: close it with a line `---`.")
    fields = _fields("\n".join(lines[1:end]))
    for name in ("name", "description"):
        if name not in fields:
            raise UsageError(f"The front matter has no {name!r}: add a line `{name}: …`.")
        if not fields[name]:
            raise UsageError(f"The front matter's {name!r} is empty: fill in the line `{name}: …`.")
    head = "\n".join(lines[: end + 1])
    return SkillDocument(fields["name"], fields["description"], head, "\n".join(lines[end + 1 :]))


def compose(name: str, description: str, body: str) -> str:
    """A new SKILL.md."""
    text = body.replace("\r\n", "\n").strip("\n")
    return f"{_FENCE}\nname: {quoted(name)}\ndescription: {quoted(description)}\n{_FENCE}\n\n{text}\n"


def quoted(text: str) -> str:
    """A text as a YAML value on one line: plain if that is safe, otherwise in double quotes."""
    is_safe = _SAFE_PLAIN.match(text) and text == text.strip() and text.lower() not in _YAML_WORDS
    # A JSON string is a YAML string, but for these two characters.
    return text if is_safe else json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7f").replace("\x85", "\\N")


def _fields(head: str) -> dict[str, str]:
    """Name and description, each on one line."""
    try:
        import yaml
    except ImportError as error:
        raise CannotDo("Reading skills needs PyYAML. Run: pip install 'seasoned[agent]'") from error
    try:
        try:
            node = _compose(head)
        except yaml.YAMLError:
            # People write `description: Use when: …`, which YAML refuses and every agent reads as plain text.
            node = _compose(_ONE_LINE.sub(lambda found: f"{found[1]}: {json.dumps(found[2])}", head))
    except (yaml.YAMLError, RecursionError) as error:
        problem = getattr(error, "problem", None) or "it is nested too deeply or holds control characters"
        mark = getattr(error, "problem_mark", None)
        at = "" if mark is None else f" (line {mark.line + 2})"
        raise UsageError(f"The front matter is not valid YAML: {problem}{at}. Check quotes and indentation.") from error
    if not isinstance(node, yaml.MappingNode):
        raise UsageError("The front matter is not a list of `field: value` lines.")
    fields: dict[str, str] = {}
    for key, value in node.value:
        if key.value in fields:
            raise UsageError(f"The front matter has {key.value!r} twice: keep one.")
        if key.value in ("name", "description"):
            if not isinstance(value, yaml.ScalarNode):
                raise UsageError(f"The front matter's {key.value!r} is not plain text: put it in double quotes.")
            fields[key.value] = " ".join(value.value.split())
        elif isinstance(key, yaml.ScalarNode):
            fields[key.value] = ""
    return fields


def _compose(head: str) -> yaml.Node | None:
    """The nodes of a document. They are read and not constructed: nothing is converted, no alias is expanded."""
    import yaml

    node: yaml.Node | None = yaml.compose(head, Loader=yaml.BaseLoader)
    return node
