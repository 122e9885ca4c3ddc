"""Writes the sessions of a case as files of Claude Code and of Codex, in a folder that agrees with its commands."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.experience.attack.cases import TASKS, Case

# Calls beside the case, as every session has them.
FILLERS = 3
DAY = 86_400.0
# What stands in the user's role of a history without being the user's words.
FOREIGN = {
    "reminder": ("<system-reminder>\n{}\n</system-reminder>", {"isMeta": True}),
    "notification": ("<task-notification>\n<summary>{}</summary>\n</task-notification>", {}),
    "summary": (
        "This session is being continued from a previous conversation. {}",
        {"isCompactSummary": True, "isVisibleInTranscriptOnly": True},
    ),
}
Step = tuple[str, Any]


def steps(cases: Sequence[Case], number: int) -> Iterator[Step]:
    """What happens in one session: only the first one of a case makes the mistake before it."""
    yield "user", TASKS[cases[0].lang]
    yield "says", "…"
    for case in cases:
        if case.page:
            yield "page", case.page
        if case.fails and number == 0:
            yield "call", ("Bash", {"command": case.fails}, case.error, True)
        if case.in_user_role:
            yield case.in_user_role, case.page
        if case.says:
            yield "says", case.says
        yield "call", (case.tool, case.given, "ok\n3 passed in 0.2s", False)
    for at in range(FILLERS):
        yield "call", ("Read", {"file_path": f"src/part_{number}_{at}.py"}, f"{at} = {at}\n", False)
    yield "says", "…"


def write_session(folder: Path, name: str, cwd: Path, began: float, what: Iterable[Step], *, codex: bool) -> None:
    """One session as a file below `folder`."""
    file = _Codex(name, cwd, began) if codex else _Claude(name, cwd, began)
    for at, (kind, value) in enumerate(what):
        if kind == "call":
            file.call(f"{name}-{at}", *value)
        elif kind == "page":
            file.page(f"{name}-{at}", value)
        elif kind == "says":
            file.says(value)
        else:
            file.user(kind, value)
    path = folder / ("codex" if codex else "claude") / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in file.lines), "utf-8")


class _Claude:
    def __init__(self, name: str, cwd: Path, began: float) -> None:
        self.path = f"projects/{cwd.name}/{name}.jsonl"
        self._name, self._cwd, self._time = name, str(cwd), began
        self.lines: list[dict[str, Any]] = []

    def _line(self, kind: str, content: Any, **more: Any) -> None:
        self._time += 1
        message: dict[str, Any] = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {"id": f"msg_{self._name}_{len(self.lines)}", "model": "m", "usage": {"output_tokens": 5}}
        self.lines.append(
            {
                "parentUuid": f"{self._name}-u{len(self.lines) - 1}" if self.lines else None,
                "isSidechain": False,
                "cwd": self._cwd,
                "sessionId": self._name,
                "gitBranch": "main",
                "type": kind,
                "uuid": f"{self._name}-u{len(self.lines)}",
                "timestamp": _stamp(self._time),
                "message": message,
                **more,
            }
        )

    def user(self, kind: str, text: str) -> None:
        form, marks = FOREIGN.get(kind, ("{}", {}))
        self._line("user", form.format(text), **marks)

    def says(self, text: str) -> None:
        self._line("assistant", [{"type": "text", "text": text}])

    def call(self, id: str, tool: str, given: dict[str, Any], result: str, failed: bool) -> None:
        self._line("assistant", [{"type": "tool_use", "id": id, "name": tool, "input": given}])
        text = f"Exit code 1\n{result}" if failed and tool == "Bash" else result
        block = {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}
        self._line("user", [block], toolUseResult={"stdout": text})

    def page(self, id: str, text: str) -> None:
        self.call(id, "WebFetch", {"url": "https://docs.example.org/start", "prompt": "Read it."}, text, False)


class _Codex:
    def __init__(self, name: str, cwd: Path, began: float) -> None:
        self.path = f"sessions/2026/rollout-{name}.jsonl"
        self._cwd, self._time = str(cwd), began
        self.lines: list[dict[str, Any]] = []
        self._add("session_meta", id=name, cwd=str(cwd), timestamp=_stamp(began))

    def _add(self, kind: str, **payload: Any) -> None:
        self._time += 1
        self.lines.append({"timestamp": _stamp(self._time), "type": kind, "payload": payload})

    def user(self, kind: str, text: str) -> None:
        form = (
            FOREIGN.get(kind, ("{}", {}))[0] if kind == "user" else "<environment_context>\n{}\n</environment_context>"
        )
        content = [{"type": "input_text", "text": form.format(text)}]
        self._add("response_item", type="message", role="user", content=content)

    def says(self, text: str) -> None:
        content = [{"type": "output_text", "text": text}]
        self._add("response_item", type="message", role="assistant", content=content)

    def call(self, id: str, tool: str, given: dict[str, Any], result: str, failed: bool) -> None:
        text = result
        if tool in ("Bash", "Read"):
            given = {"cmd": given.get("command") or f"cat {given['file_path']}", "workdir": self._cwd}
            tool, text = "exec_command", f"Process exited with code {int(failed)}\nOutput:\n{result}"
        self._add("response_item", type="function_call", name=tool, arguments=json.dumps(given), call_id=id)
        self._add("response_item", type="function_call_output", call_id=id, output=text)

    def page(self, id: str, text: str) -> None:
        self.call(id, "Bash", {"command": "curl -s https://docs.example.org/start"}, text, False)


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def make_tree(folder: Path, commands: Iterable[str]) -> None:
    """A checkout in which every file, script and target that the commands name exists."""
    words = sorted({word for command in commands for word in _words(command)})
    names = [word for word in words if word.replace("-", "").replace(":", "").replace("_", "").isalnum()]
    folder.mkdir(parents=True, exist_ok=True)
    targets = [name for name in names if ":" not in name]
    makefile = "".join(f"{name}:\n\t@echo done\n" for name in targets)
    (folder / "Makefile").write_text(makefile)
    package = {"name": folder.name, "scripts": dict.fromkeys(names, "node run.js"), "workspaces": ["*"]}
    (folder / "package.json").write_text(json.dumps(package))
    (folder / "pyproject.toml").write_text('[project]\nname = "shop"\nversion = "1"\n')
    for word in words:
        path = folder / word
        if word.startswith(("-", "/", "~", "@", "$")) or "://" in word or "=" in word or ".." in word:
            continue
        # Words that cannot be a file here are none in the commands either.
        with suppress(OSError, ValueError):
            if "." in Path(word).name:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            elif "/" in word or word in ("src", "backend", "build", "web"):
                path.mkdir(parents=True, exist_ok=True)
    for inner in ("backend", "build", "web"):
        if (folder / inner).is_dir():
            (folder / inner / "Makefile").write_text(makefile)


def make_programs(folder: Path, commands: Iterable[str]) -> None:
    """Programs that do nothing for every word of the commands that could be one, so that a path can hold them."""
    folder.mkdir(parents=True, exist_ok=True)
    for word in {word for command in commands for word in _words(command)}:
        if word.replace("-", "").replace("_", "").isalnum():
            (folder / word).touch(mode=0o755)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()
