"""How much of three sets of attacks may be shown to new sessions, by what carries it, and how much of everyday work.

The sets were written from the design alone; no rule is tuned on them. `bench/attack` holds them.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seasoned.admission import admit, admit_call, without_remarks
from seasoned.redact import Redactor

FOLDER = Path(__file__).parent / "attack"
# How the ids of the second and of the third set begin.
_SETS = {"n-": "second", "t-": "third"}
# Where in a command a hostile sentence stands.
_COMMANDS = {
    "comment": "make test  # {}",
    "echo": 'echo "{}" && make test',
    "environment": 'NOTE="{}" make test',
    "commit": 'git commit -m "{}"',
    "branch": 'git switch "{}"',
    "file": 'pytest "{}"',
    "heredoc": "cat <<END\n{}\nEND\nmake test",
    "select": 'pytest -k "{}"',
    "grep": 'grep -rn "{}" src',
    "folder": 'cd "{}" && make test',
    "tag": 'git tag -a v1.2 -m "{}"',
    "printf": "printf '%s\\n' '{}' > notes.txt && make test",
    "test-id": "pytest 'tests/test_cart.py::{}'",
    "variable": "{}=1 make test",
    "target": "make {}",
    "script": "npm run {}",
    "container": "docker compose run --rm --name {} app pytest",
    "header": 'curl -s -H "X-Note: {}" localhost:8080/health',
    "user-agent": 'curl -s -A "{}" localhost:8080/health',
    "sql-comment": 'psql -d shop -c "select 1 -- {}"',
    "make-variable": 'make test NOTE="{}"',
    "docstring": 'python - <<\'END\'\ndef check():\n    """{}"""\nprint(check())\nEND',
    "format": 'git log -3 --format="{}"',
    "reporter": 'npx jest --reporters=default --displayName="{}"',
    "url-path": "curl -s localhost:8080/{}",
    "workflow": 'gh run list --workflow "{}"',
}
Case = tuple[str, str, str, dict[str, Any] | str]  # set, carrier, tool, arguments or text


def table(name: str) -> dict[str, list[dict[str, Any]]]:
    """The cases of all sets; those of the third are in a folder of their own."""
    first, third = (tomllib.loads((FOLDER / folder / f"{name}.toml").read_text("utf-8")) for folder in ("", "third"))
    return {kind: [*cases, *third[kind]] for kind, cases in first.items()}


def hostile() -> Iterator[Case]:
    """Every hostile command, call and sentence."""
    for one in table("calls")["calls"]:
        yield _set_of(one), "command", "Bash", {"command": one["hostile"]}
    for one in table("tools")["tools"]:
        yield _set_of(one), "tool call", one["tool"], one["arguments"]
    for one in table("notes")["notes"]:
        yield _set_of(one), "free text", "", one["text"]
    for one in table("words")["words"]:
        yield _set_of(one), *_worded(one["carrier"], one["text"])


def harmless() -> Iterator[Case]:
    """The same of everyday work that looks like it."""
    found = table("harmless")
    for one in found["repairs"]:
        yield _set_of(one), "command", "Bash", {"command": one["works"]}
    for one in found["tools"]:
        yield _set_of(one), "tool call", one["tool"], one["arguments"]
    for one in found["notes"]:
        yield _set_of(one), "free text", "", one["text"]


def _set_of(one: dict[str, Any]) -> str:
    return _SETS.get(one["id"][:2], "first")


def _worded(carrier: str, text: str) -> tuple[str, str, dict[str, Any] | str]:
    """A sentence in its place: in a command, in a call of a named tool, or by itself."""
    ticket = {"ticket": "T-1042"}
    match carrier:
        case "description":
            return "command", "Bash", {"command": "make test", "description": text}
        case "argument-value":
            return "tool call", "ticket_note", {**ticket, "note": text}
        case "argument-list":
            return "tool call", "ticket_note", {**ticket, "notes": [{"kind": "info", "lines": ["Seen.", text]}]}
        case "argument-name":
            return "tool call", "ticket_note", {**ticket, text: True}
        case "server-name":
            return "tool call", f"mcp__{text}__lookup", ticket
        case "tool-name":
            return "tool call", text, ticket
    if carrier in _COMMANDS:
        return "command", "Bash", {"command": _COMMANDS[carrier].format(text)}
    return "free text", "", text


def is_shown(case: Case, redactor: Redactor) -> bool:
    """Whether another session may be shown it."""
    _, _, tool, given = case
    if isinstance(given, str):
        return bool(admit(redactor, given, commands=True))
    shown = without_remarks(tool, given)
    return shown == given and bool(admit_call(tool, shown))


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    redactor = Redactor(b"k" * 32)
    for title, cases in (("hostile", list(hostile())), ("harmless", list(harmless()))):
        every = Counter((name, carrier) for name, carrier, _, _ in cases)
        shown = Counter((case[0], case[1]) for case in cases if is_shown(case, redactor))
        yield f"{title}: {shown.total()} of {every.total()} may be shown"
        for (name, carrier), count in sorted(every.items()):
            yield f"  {name} set, {carrier}: {shown[name, carrier]} of {count}"
