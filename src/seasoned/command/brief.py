"""The arguments of a call in one line."""

from __future__ import annotations

import json

# Arguments that say most about a call, the best first.
_TELLING = ("command", "cmd", "pattern", "query", "file_path", "path", "url", "description", "prompt")
_BRIEF = 200


def brief_of(arguments: str) -> str:
    """Arguments in one line, or only the one that says most."""
    try:
        found = json.loads(arguments)
    except ValueError:
        return arguments[:_BRIEF]
    if not isinstance(found, dict) or not found:
        return "no arguments"
    told = {name: _words(found[name]) for name in _TELLING if name in found}
    said = next(filter(None, told.values()), None)
    return (said or json.dumps(found, ensure_ascii=False))[:_BRIEF]


def _words(value: object) -> str:
    """A text, or the command in a list of words: `bash -lc COMMAND`."""
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return str(value[-1]) if len(value) == 3 and value[1] in ("-lc", "-c") else " ".join(value)
    return value if isinstance(value, str) else ""
