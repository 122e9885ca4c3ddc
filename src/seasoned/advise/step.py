"""Steps as changes of files: planned as values, shown as a diff, applied and undone as connecting an agent is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec

from seasoned.advise.advice import AdviceStep, code
from seasoned.advise.instruction import MEMORY, file_in, user_file, with_line, without_line
from seasoned.atomic_write import make_private_folder, write_atomic
from seasoned.config import Config
from seasoned.connect.apply import Left
from seasoned.connect.json_text import add_element, add_member, read_object
from seasoned.connect.plan import ConnectPlan, FileChange, change_of, decode_text, read_present
from seasoned.errors import CannotDo
from seasoned.project import name_of

_WHY = "what sessions learned"
# The folder of the records, beside that of connected agents.
AREA = "advise"


class StepPlace(msgspec.Struct, frozen=True):
    """Where a step is taken: in a project, whose checkout may not be on this machine, or for all projects."""

    project: str | None = None
    folder: Path | None = None


def plan_step(config: Config, name: str, step: AdviceStep, place: StepPlace) -> ConnectPlan:
    """What a step changes; raises CannotDo if there is nothing on this machine that it could change."""
    makers: dict[str, Callable[[], tuple[FileChange, ...]]] = {
        "instruction": lambda: _line(config, step, place),
        "replace": lambda: _replaced(config, step, place),
        "permission": lambda: _permission(config, step, place),
        "script": lambda: _script(config, step, place),
    }
    if step.kind not in makers:
        raise CannotDo(f"Only you can do this: {step.text}")
    return ConnectPlan(name, makers[step.kind](), parts=())


def left_of(step: AdviceStep, project: str | None) -> Left | None:
    """How a file that was edited since loses our part; None where a merge by lines does that."""
    line = {"instruction": step.text, "script": _script_line(step)}.get(step.kind)
    if line is None:
        return None

    def left(path: Path, data: bytes) -> bytes | None:
        if path.suffix == ".sh":
            raise CannotDo("the script was edited")
        return without_line(path, data, _written(path, line, project))

    return left


def target_of(config: Config, step: AdviceStep, place: StepPlace) -> Path | None:
    """The file that a step changes; None if it is not on this machine, or if the step changes none."""
    folder = place.folder
    match step.kind:
        case "instruction" if place.project is None:
            return user_file(config, step.agent)
        case "instruction":
            return file_in(config, step.agent, folder)
        case "replace":
            return None if folder is None else folder / step.file
        case "permission" if step.agent == "codex":
            return config.codex_home / "rules" / "seasoned.rules" if config.codex_home.is_dir() else None
        case "permission" if place.project is None:
            return config.claude_config_dir / "settings.json"
        case "permission":
            return None if folder is None else folder / ".claude" / "settings.json"
        case "script":
            return None if folder is None else folder / "scripts" / step.instead
    return None


def _target(config: Config, step: AdviceStep, place: StepPlace) -> Path:
    path = target_of(config, step, place)
    if path is None:
        raise CannotDo(f"The project is not on this machine. Add this where its sessions find it: {step.text}")
    return path


def _line(config: Config, step: AdviceStep, place: StepPlace) -> tuple[FileChange, ...]:
    path = _target(config, step, place)
    return change_of(path, read_present(path), with_line(path, _written(path, step.text, place.project)), _WHY)


def _written(path: Path, line: str, project: str | None) -> str:
    """A line as it stands in the file: the memory of Hermes is one for all projects."""
    return f"In {name_of(project)}: {line}" if path.name == MEMORY and project is not None else line


def _replaced(config: Config, step: AdviceStep, place: StepPlace) -> tuple[FileChange, ...]:
    path = _target(config, step, place)
    before = read_present(path)
    text = decode_text(before or b"", path)
    # Only where it stands as a command: the words may be part of a sentence, or of a longer command.
    made = text.replace(code(step.instead), code(step.text))
    lines = [
        line.replace(step.instead, step.text) if line.strip().removeprefix("$ ") == step.instead else line
        for line in made.splitlines(keepends=True)
    ]
    if "".join(lines) == text:
        raise CannotDo(f"{str(path)!r} no longer says {step.instead!r}.")
    return change_of(path, before, "".join(lines).encode(), _WHY)


def _permission(config: Config, step: AdviceStep, place: StepPlace) -> tuple[FileChange, ...]:
    path = _target(config, step, place)
    before = read_present(path)
    text = decode_text(before or b"", path)
    if step.agent == "codex":
        return change_of(path, before, (text + codex_rule(step.text)).encode(), "Codex asks before it runs this")
    return change_of(path, before, _denied(text, step.text, path).encode(), "Claude Code does not offer this tool")


def codex_rule(program: str) -> str:
    """A rule that has Codex ask a person at once, instead of trying inside the sandbox first."""
    # Never "allow": what a sandbox refuses is for a person to decide.
    return f'prefix_rule(pattern = {json.dumps(program.split())}, decision = "prompt")\n'


def _denied(text: str, tool: str, path: Path) -> str:
    if not text.strip():
        return json.dumps({"permissions": {"deny": [tool]}}, indent=2) + "\n"
    root = read_object(text, path)
    permissions = root.child("permissions")
    if permissions is None:
        return add_member(text, root, "permissions", {"deny": [tool]})
    denied = permissions.child("deny")
    if permissions.kind != "object" or (denied is not None and denied.kind != "array"):
        raise CannotDo(f"{str(path)!r}: 'permissions' is not as Claude Code reads it. Fix it and try again.")
    if denied is None:
        return add_member(text, permissions, "deny", [tool])
    return text if tool in [one.value for one in denied.children] else add_element(text, denied, tool)


def _script(config: Config, step: AdviceStep, place: StepPlace) -> tuple[FileChange, ...]:
    path = _target(config, step, place)
    before = read_present(path)
    if before is not None:
        raise CannotDo(f"{str(path)!r} exists already. Move it away and try again.")
    made = f"#!/bin/sh\nset -e\n{step.text}\n".encode()
    line = AdviceStep("instruction", _script_line(step), step.agent)
    return (*change_of(path, None, made, "the command that sessions wrote out"), *_line(config, line, place))


def _script_line(step: AdviceStep) -> str:
    return f"Run `sh scripts/{step.instead}` instead of writing its commands out."


class ShownList(msgspec.Struct, frozen=True):
    """The ids in the order in which they were printed, and the project that the list was about."""

    ids: tuple[str, ...] = ()
    project: str | None = None

    def id_of(self, text: str) -> str:
        """The id that a number stands for; any other text is an id already."""
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 0
        return self.ids[number - 1] if 0 < number <= len(self.ids) else text


def save_shown(home: Path, shown: ShownList) -> None:
    """Remember the list."""
    folder = home / AREA
    make_private_folder(folder)
    write_atomic(folder / "shown.json", msgspec.json.encode(shown), unfinished=folder / ".unfinished")


def read_shown(home: Path) -> ShownList:
    """The list that was printed last; empty if none was."""
    try:
        return msgspec.json.decode((home / AREA / "shown.json").read_bytes(), type=ShownList)
    except (OSError, msgspec.DecodeError):
        return ShownList()
