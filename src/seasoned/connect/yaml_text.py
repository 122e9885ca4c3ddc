"""Edits YAML by splicing: values are found by their place, and every other byte stays as the user wrote it."""

from __future__ import annotations

from typing import Any

from seasoned.connect.plan import newline_of
from seasoned.errors import CannotDo

# How the parser marks a name without a value (`plugins:`), which is common in settings by hand.
_NULL = "tag:yaml.org,2002:null"


def read_yaml(text: str, where: str) -> dict[str, Any]:
    """The contents of a text, as Hermes reads it; raises CannotDo if it is not a mapping."""
    try:
        found = _yaml().safe_load(text)
    except (_yaml().YAMLError, ValueError, RecursionError) as error:
        raise CannotDo(f"{where} is not valid YAML ({_line(error)}). Fix it and try again.") from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise CannotDo(f"{where} is not a mapping, so it was not touched.")
    return found


def add_item(text: str, section: str, name: str, item: str, where: str) -> str:
    """The text with an item added to the list `section.name`; the list is created if it is missing."""
    newline = newline_of(text)
    root = _root(text, where)
    pair = _pair(root, section)
    lines = [f"{section}:", f"  {name}:", f"    - {item}"]
    if pair is None:
        return _append(text, root, lines)
    holder = pair[1]
    if _is_null(holder):
        indent = " " * (pair[0].start_mark.column + 2)
        return _below(text, holder, f"{newline}{indent}{name}:{newline}{indent}  - {item}")
    if type(holder).__name__ != "MappingNode":
        raise CannotDo(f"{where}: {section!r} is not a mapping, so it was not touched.")
    inner = _pair(holder, name)
    if inner is not None:
        return _add_to(text, inner[1], item, f"{where}: '{section}.{name}'")
    if holder.flow_style:
        return _put(text, holder.start_mark.index + 1, f"{name}: [{item}]" + (", " if holder.value else ""))
    column = holder.start_mark.column
    # As the first name of the section: its end is hard to tell from comments that belong to the next one.
    start = holder.start_mark.index - column
    return _put(text, start, f"{' ' * column}{name}:{newline}{' ' * column}  - {item}{newline}")


def remove_item(text: str, section: str, name: str, item: str, where: str) -> str:
    """The text without an item of the list `section.name`; unchanged where it is not there."""
    holder = _value(_root(text, where), section)
    items = _value(holder, name)
    if type(items).__name__ != "SequenceNode":
        return text
    at = next((number for number, one in enumerate(items.value) if one.value == item), None)
    if at is None:
        return text
    one = items.value[at]
    if items.flow_style:
        start = items.value[at - 1].end_mark.index if at else one.start_mark.index
        end = one.end_mark.index if at or len(items.value) == 1 else items.value[1].start_mark.index
        return text[:start] + text[end:]
    if len(items.value) == 1:
        # A list without items is written on one line.
        return text[: items.start_mark.index] + "[]" + text[one.end_mark.index :]
    start = text.rfind("\n", 0, one.start_mark.index) + 1
    end = _end_of_line(text, one.end_mark.index)
    # Something else stands before the item on its line, and cutting the line would take that along.
    if text[start : one.start_mark.index].strip() != "-":
        raise CannotDo(f"{where}: '{section}.{name}' cannot be changed as it is written. Remove {item!r} by hand.")
    if end == len(text):
        # The last line has no end: the one before it gives its own.
        start = max(0, start - len(newline_of(text)))
        return text[:start]
    return text[:start] + text[end + (2 if text[end] == "\r" else 1) :]


def set_text(text: str, name: str, value: str, where: str) -> str:
    """The text with `name: value` at its top level; raises CannotDo if the name has another value already."""
    root = _root(text, where)
    pair = _pair(root, name)
    if pair is None:
        return _append(text, root, [f"{name}: {value}"])
    node = pair[1]
    if type(node).__name__ != "ScalarNode" or (node.value not in ("", value) and not _is_null(node)):
        raise CannotDo(f"{where}: {name!r} is already set. Remove it first.")
    if node.value == value:
        return text
    space = " " if node.start_mark.index == node.end_mark.index else ""
    return text[: node.start_mark.index] + space + value + text[node.end_mark.index :]


def remove_text(text: str, name: str, value: str, where: str) -> str:
    """The text without the line `name: value` of its top level; unchanged if the name has another value."""
    pair = _pair(_root(text, where), name)
    if pair is None or pair[1].value != value:
        return text
    start = text.rfind("\n", 0, pair[0].start_mark.index) + 1
    end = _end_of_line(text, pair[1].end_mark.index)
    return text[:start] + text[end + (2 if text[end : end + 1] == "\r" else 1) :]


def _yaml() -> Any:
    try:
        # Hermes' own parser, so that both read the same; nothing else here needs it.
        import yaml
    except ImportError as error:
        raise CannotDo("Reading Hermes' settings needs PyYAML. Run: pip install 'seasoned[connect]'") from error
    return yaml


def _root(text: str, where: str) -> Any:
    """The top-level mapping with the place of every value; None if the text holds nothing but comments."""
    yaml = _yaml()
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise CannotDo(f"{where} is not valid YAML ({_line(error)}). Fix it and try again.") from error
    if root is not None and (type(root).__name__ != "MappingNode" or root.flow_style):
        raise CannotDo(f"{where} has no `name: value` lines at its top, so it was not touched.")
    return root


def _pair(node: Any, name: str) -> tuple[Any, Any] | None:
    if type(node).__name__ != "MappingNode":
        return None
    return next(((key, value) for key, value in node.value if key.value == name), None)


def _value(node: Any, name: str) -> Any:
    pair = _pair(node, name)
    return None if pair is None else pair[1]


def _is_null(node: Any) -> bool:
    return bool(node.tag == _NULL)


def _add_to(text: str, items: Any, item: str, where: str) -> str:
    if _is_null(items):
        space = " " if items.start_mark.index == items.end_mark.index else ""
        return text[: items.start_mark.index] + f"{space}[{item}]" + text[items.end_mark.index :]
    if type(items).__name__ != "SequenceNode":
        raise CannotDo(f"{where} is not a list, so it was not touched.")
    if not items.value:
        return _put(text, items.start_mark.index + 1, item)
    last = items.value[-1]
    if items.flow_style:
        return _put(text, last.end_mark.index, f", {item}")
    if type(last).__name__ != "ScalarNode" or last.start_mark.line != last.end_mark.line:
        raise CannotDo(f"{where} does not end with a name. Add {item!r} by hand.")
    place = _end_of_line(text, last.end_mark.index)
    return _put(text, place, f"{newline_of(text)}{' ' * items.start_mark.column}- {item}")


def _append(text: str, root: Any, lines: list[str]) -> str:
    """The text with lines of the top level added at its end."""
    newline = newline_of(text)
    indent = " " * (0 if root is None else root.start_mark.column)
    gap = "" if not text or text.endswith("\n") else newline
    return text + gap + "".join(f"{indent}{line}{newline}" for line in lines)


def _below(text: str, node: Any, lines: str) -> str:
    """The text with lines added below a name that has an empty value, in place of that value."""
    start, end = node.start_mark.index, node.end_mark.index
    place = _end_of_line(text, end)
    return text[:start].rstrip(" ") + text[end:place] + lines + text[place:]


def _put(text: str, place: int, more: str) -> str:
    return text[:place] + more + text[place:]


def _end_of_line(text: str, place: int) -> int:
    end = text.find("\n", place)
    if end < 0:
        return len(text)
    return end - 1 if end > place and text[end - 1] == "\r" else end


def _line(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"line {mark.line + 1}: {problem}" if mark is not None else str(problem)
