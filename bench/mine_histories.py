"""Made-up histories of any size, the same for every run: some sessions as templates, filled in with other words.

Several gigabytes take a minute. Lengths are those of real sessions of Claude Code: half of the results have less than
430 characters, a tenth more than 4,900.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

FAILED = 0.075
COMMANDS = ("make test", "make lint", "git status", "git diff", "pytest -q tests/unit", "npm run build", "ls src")
# How calls fail, and how they work afterwards.
MISTAKES = (
    ("rtk make test", "Exit code 127\nbash: rtk: command not found", "make test"),
    ("git log --shrt", "Exit code 128\nfatal: unrecognized argument: --shrt", "git log --oneline"),
    ("cat config.yml", "Exit code 1\ncat: config.yml: No such file or directory", "cat config/config.yml"),
)
_TEMPLATES = 96
_WORDS = 4096
_SLOTS = 64  # words of a template that each session has its own of
_PROJECT_BYTES = 8_000_000
_FEWEST_PROJECTS = 40
_DAYS = 60  # in which a project has its sessions
_FIRST_DAY = date(2025, 1, 1)
_MOST_CALLS = 200
_MOST_RESULT = 30_000
_PLACE = re.compile(rb"@(S|P|D|W\d+)@")


class Written(NamedTuple):
    """What was written."""

    sessions: int
    projects: int
    calls: int
    bytes: int


class _SessionTemplate(NamedTuple):
    """A session in pieces: text, the name of what is filled in, text, and so on."""

    pieces: list[bytes]
    calls: int


def write_histories(folder: Path, megabytes: float) -> Written:
    """Write sessions as Claude Code does, until they have so many megabytes."""
    chance = random.Random(23)
    words = [f"{chance.choice(_SYLLABLES)}{chance.choice(_SYLLABLES)}{number:x}" for number in range(_WORDS)]
    encoded = [one.encode() for one in words]
    templates = [_template(chance, words) for _ in range(_TEMPLATES)]
    projects = max(_FEWEST_PROJECTS, int(megabytes * 1e6 / _PROJECT_BYTES))
    sessions = calls = size = 0
    while size < megabytes * 1e6:
        project = sessions % projects
        target = folder / f"-home-u-project-{project}" / f"{sessions:08x}-0000-4000-8000-{sessions:012x}.jsonl"
        if sessions < projects:
            target.parent.mkdir(parents=True, exist_ok=True)
        template = templates[sessions % _TEMPLATES]
        day = _FIRST_DAY + timedelta(days=project * 7 % 600 + chance.randrange(_DAYS))
        filled = {
            b"S": target.stem.encode(),
            b"P": str(project).encode(),
            b"D": day.isoformat().encode(),
            **dict(zip((b"W%d" % slot for slot in range(_SLOTS)), chance.choices(encoded, k=_SLOTS), strict=True)),
        }
        pieces = list(template.pieces)
        pieces[1::2] = [filled[name] for name in pieces[1::2]]
        content = b"".join(pieces)
        target.write_bytes(content)
        sessions, calls, size = sessions + 1, calls + template.calls, size + len(content)
    return Written(sessions, min(projects, sessions), calls, size)


_SYLLABLES = (
    "ar",
    "bel",
    "cor",
    "dan",
    "el",
    "fin",
    "gor",
    "hal",
    "im",
    "jun",
    "kel",
    "lor",
    "mir",
    "nor",
    "os",
    "pel",
)


def _template(chance: random.Random, words: list[str]) -> _SessionTemplate:
    calls = min(_MOST_CALLS, max(3, int(chance.lognormvariate(3.4, 0.7))))
    content = b"".join(_lines(chance, words, calls))
    return _SessionTemplate(_PLACE.split(content), calls)


def _lines(chance: random.Random, words: list[str], calls: int) -> Iterator[bytes]:
    at = datetime(2025, 1, 1, chance.randrange(18), chance.randrange(60), tzinfo=UTC)
    place = 0

    def line(kind: str, content: object) -> bytes:
        nonlocal at, place
        at += timedelta(seconds=chance.uniform(1, 40))
        place += 1
        record = {
            "type": kind,
            "sessionId": "@S@",
            "cwd": "/home/u/project-@P@",
            "uuid": f"@S@-{place}",
            "timestamp": f"@D@T{at:%H:%M:%S}.000Z",
            "message": {"role": kind, "id": f"msg_@S@{place}", "model": "large-5", "content": content},
        }
        return json.dumps(record).encode() + b"\n"

    yield line("user", f"Look after the {_slot(chance)} part of {_slot(chance)}, and test it")
    repair: str | None = None
    for index in range(calls):
        call = f"toolu_@S@{index:04d}"
        answer, failed = _result(chance, words), False
        command = repair or f"{chance.choice(COMMANDS)} {_slot(chance)}"
        repair = None
        if chance.random() < FAILED:
            command, answer, repair = chance.choice(MISTAKES)
            failed = True
        used = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        yield line("assistant", [{"type": "text", "text": f"Next I look at {_slot(chance)}."}, used])
        result = {"type": "tool_result", "tool_use_id": call, "content": answer, "is_error": failed}
        yield line("user", [result])


def _slot(chance: random.Random) -> str:
    return f"@W{chance.randrange(_SLOTS)}@"


def _result(chance: random.Random, words: list[str]) -> str:
    """What a command printed: lines with names, numbers and paths, of which each session has some of its own."""
    length = min(_MOST_RESULT, int(chance.lognormvariate(6.0, 1.7)))
    lines: list[str] = []
    size = 0
    while size < length:
        some = " ".join(chance.choices(words, k=8))
        lines.append(f"src/{chance.choice(words)}/{_slot(chance)}.py:{chance.randrange(900)}: {some} {_slot(chance)}")
        size += len(lines[-1])
    return "\n".join(lines) or "fine"
