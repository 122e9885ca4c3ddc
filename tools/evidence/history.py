"""Writes the histories that new sessions learn from: a steady one, and one in which every convention changed.

Both have the same number of sessions. In the steady one the ways that hold now have always held. In the changed one
twenty sessions of every service and project used the former way; in the few after them it fails, and the way that
holds now works. Services are logged in the OpenAI form, projects as Claude Code logs them. A third history is of places
with codes that only answers tell, each a project of its own.
"""

from __future__ import annotations

import json
import os
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from tools.evidence.project import PROJECTS, CodeProject
from tools.evidence.service import SERVICES, Service, ServiceTool, draw

History = Literal["steady", "changed"]
BEFORE, AFTER = 20, 6  # sessions before and since the change
_DAY = 86_400.0
_SLIPS = 0.25  # how often a call of the steady history fails once before it works
_USED = 0.9  # how often a session of a project uses each of its commands


def write_histories(folder: Path, history: History, *, end: float, seed: int = 5) -> None:
    """Write every session, one a day for each service and project, the last a day before `end`."""
    rng = random.Random(f"{seed} {history}")
    for day in range(BEFORE + AFTER):
        time = end - (BEFORE + AFTER - day) * _DAY
        is_former = history == "changed" and day < BEFORE
        is_new = history == "changed" and day >= BEFORE
        for service in SERVICES:
            _write_service(folder, service, day, time, rng, is_former=is_former, is_new=is_new)
        for project in PROJECTS:
            _write_project(folder, project, day, time, rng, is_former=is_former, is_new=is_new)


def _write_service(
    folder: Path, service: Service, day: int, time: float, rng: random.Random, *, is_former: bool, is_new: bool
) -> None:
    messages: list[dict[str, Any]] = [{"role": "system", "content": f"You work at {service.about}."}]
    wanted = [tool for tool in service.tools for _ in range(2)]
    rng.shuffle(wanted)
    for at, tool in enumerate(wanted):
        drawn = draw(rng)
        messages.append({"role": "user", "content": rng.choice(tool.said).format(**drawn.words)})
        # What fails first is the former way after a change, and otherwise a bare number.
        slips = [tool.formerly(drawn)] if is_new else [str(drawn.n)] if rng.random() < _SLIPS else []
        done = tool.formerly(drawn) if is_former else tool.now(drawn)
        for value in slips:
            messages += _service_call(f"call_{day:03}_{at}_x", tool, value, {"success": False, "error": tool.error})
        messages += _service_call(f"call_{day:03}_{at}", tool, done, {"success": True, "result": f"done: {done}"})
        messages.append({"role": "assistant", "content": "That is done now."})
    record = {"id": f"{service.name}-{day:03}", "created": time, "messages": messages}
    _put(folder / "logs" / f"{service.name}-{day:03}.jsonl", [record], time)


def _service_call(call_id: str, tool: ServiceTool, value: str, result: dict[str, Any]) -> list[dict[str, Any]]:
    function = {"name": tool.name, "arguments": json.dumps({tool.argument: value})}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call_id, "content": json.dumps(result)},
    ]


def _write_project(
    folder: Path, project: CodeProject, day: int, time: float, rng: random.Random, *, is_former: bool, is_new: bool
) -> None:
    session = _ClaudeSession(project.folder, f"{project.name} {day}", time)
    session.user("Go on with the work in this project.")
    session.shell("git status --short", f" M src/{project.name}.txt")
    commands = list(zip(project.formerly, project.now, strict=True))
    for former, now in commands:
        if rng.random() >= _USED:
            continue
        if is_new or (not is_former and rng.random() < _SLIPS):
            # In the steady history somebody tries what other projects have.
            tried = former if is_new else f"{now.split()[0]} all"
            session.shell(tried, _refusal(tried), is_error=True)
        session.shell(former if is_former else now, "ok, 12 passed in 0.8s")
    session.says("All of that is done.")
    _put(folder / "projects" / project.name / f"{session.id}.jsonl", session.lines, time)


def _refusal(command: str) -> str:
    """What a shell or a task runner says of a command that it does not know, or no longer knows."""
    program, *rest = command.split()
    target = rest[-1] if rest else program
    match program:
        case "make":
            return f"Exit code 2\nmake: *** No rule to make target '{target}'.  Stop."
        case "just":
            return f"Exit code 1\nerror: Justfile does not contain recipe `{target}`."
        case "ninja":
            return f"Exit code 1\nninja: error: unknown target '{target}'"
        case "yarn":
            return f'Exit code 1\nerror Command "{target}" not found.'
        case "npm" | "pnpm":
            return f'Exit code 1\nnpm error Missing script: "{target}"'
        case "cargo" | "go":
            return f"Exit code 101\nerror: no such command: `{target}`"
    problem = "No such file or directory" if "/" in program else "command not found"
    return f"Exit code 127\n/bin/bash: line 1: {program}: {problem}"


class _ClaudeSession:
    """The lines of one session."""

    def __init__(self, folder: str, name: str, time: float) -> None:
        self._folder = folder
        self._time = time
        self.id = str(UUID(int=random.Random(name).getrandbits(128), version=4))
        self.lines: list[dict[str, Any]] = []

    def user(self, text: str) -> None:
        self._line("user", {"role": "user", "content": text})

    def says(self, text: str) -> None:
        self._assistant({"type": "text", "text": text})

    def shell(self, command: str, output: str, *, is_error: bool = False) -> None:
        self.tool("Bash", {"command": command}, output, is_error=is_error)

    def tool(self, name: str, given: dict[str, str], output: str, *, is_error: bool = False) -> None:
        call_id = f"toolu_{self.id[:8]}_{len(self.lines)}"
        self._assistant({"type": "tool_use", "id": call_id, "name": name, "input": given})
        result = {"type": "tool_result", "tool_use_id": call_id, "content": output, "is_error": is_error}
        self._line("user", {"role": "user", "content": [result]})

    def _assistant(self, block: dict[str, Any]) -> None:
        message = {"id": f"msg_{self.id[:8]}_{len(self.lines)}", "role": "assistant", "model": "claude-sonnet-4-5"}
        self._line("assistant", {**message, "type": "message", "content": [block]})

    def _line(self, kind: str, message: dict[str, Any]) -> None:
        number = len(self.lines)
        at = datetime.fromtimestamp(self._time + 20 * number, tz=UTC)
        self.lines.append(
            {
                "parentUuid": f"{self.id[:8]}-{number - 1}" if number else None,
                "isSidechain": False,
                "userType": "external",
                "cwd": self._folder,
                "sessionId": self.id,
                "version": "2.1.39",
                "type": kind,
                "message": message,
                "uuid": f"{self.id[:8]}-{number}",
                "timestamp": f"{at:%Y-%m-%dT%H:%M:%S}.000Z",
            }
        )


def _put(path: Path, records: list[dict[str, Any]], time: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")
    os.utime(path, (time, time))
