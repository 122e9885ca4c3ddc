"""Compiles the wording rules, `src/seasoned/outcome/wording/*.toml`, into the `compiled.json` that the judge loads."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import msgspec

from seasoned.errors import UsageError
from seasoned.outcome.wording.rule import FOLDER, Where, WordingRule

_MACRO = re.compile(r"\{([a-z_]+)\}")
_EXAMPLES = ("matches", "misses")


def read_toml() -> dict[str, dict[str, dict[str, Any]]]:
    """The rules by group and name, each with its examples and its pattern written out."""
    groups: dict[str, dict[str, dict[str, Any]]] = {}
    for path in sorted(Path(FOLDER).glob("*.toml")):
        file = tomllib.loads(path.read_text(encoding="utf-8"))
        patterns = {name: _joined(text) for name, text in file.pop("patterns", {}).items()}
        for group, rules in file.items():
            groups[group] = {name: _rule(name, raw, patterns) for name, raw in rules.items()}
    return groups


def compile_rules(groups: dict[str, dict[str, dict[str, Any]]]) -> dict[str, tuple[WordingRule, ...]]:
    """The rules of each group in their order, with the groups that they include."""
    found: dict[str, tuple[WordingRule, ...]] = {}

    def compiled(group: str) -> tuple[WordingRule, ...]:
        if group not in found:
            rules: list[WordingRule] = []
            for raw in groups[group].values():
                own = {key: value for key, value in raw.items() if key not in _EXAMPLES}
                rules += compiled(raw["include"]) if "include" in raw else [msgspec.convert(own, WordingRule)]
            found[group] = tuple(rules)
        return found[group]

    return {group: compiled(group) for group in sorted(groups)}


def write_compiled(compiled: dict[str, tuple[WordingRule, ...]]) -> bytes:
    """The compiled rules as text, one field on a line, so that changes can be reviewed."""
    return msgspec.json.format(msgspec.json.encode(compiled), indent=1) + b"\n"


def _rule(name: str, raw: dict[str, Any], patterns: dict[str, str]) -> dict[str, Any]:
    """A rule as its fields: in TOML, the key of its pattern says where the words must be."""
    if "include" in raw:
        return raw
    where = [key for key in get_args(Where) if key in raw]
    if len(where) != 1:
        raise UsageError(f"rule {name!r}: give it one pattern, under one of {', '.join(get_args(Where))}.")
    pattern = _MACRO.sub(lambda found: patterns.get(found[1], found[0]), _joined(raw.pop(where[0])))
    return {"name": name, "where": where[0], "pattern": pattern, **raw}


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)
