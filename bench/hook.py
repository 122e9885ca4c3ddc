"""How long an agent waits for a hook, from the start of its process to its end, with 5,000 sessions in the store.

Each round runs the hook and an interpreter that does nothing (`python -c pass`) one after the other, so that both meet
the same machine. A hook is silent where nothing is known and speaks where something is: both are measured.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from tests.history.claude_lines import ClaudeFile

from seasoned.learn_queue import wait_until_learned

ROUNDS = 40
GOALS_MS = (75, 60)
PROJECTS, SESSIONS_EACH = 50, 100
_BIN = Path(sys.executable).parent
_WRONG, _RIGHT = "./wp report late --week 9", "./wp report late --week 2026-W09"
_ERROR = "error: a week is written like 2026-W09"
_LIBRARIES = "import msgspec, sqlite3, pathlib, threading"
_MAKEFILE = "test lint:\n\t@echo 3 passed\n"
Event = dict[str, Any]
Taken = tuple[float, float]
"""Milliseconds by the clock, and of the processor."""


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    with tempfile.TemporaryDirectory(prefix="seasoned-bench-") as name:
        home = Path(name).resolve()
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "SEASONED_HOME": str(home / ".seasoned")}
        _write_sessions(home)
        # A scan stops learning after some seconds; the lessons wait for the rest.
        for command in (["scan", home / "history"], ["lessons", "--project", "project-0"]):
            subprocess.run([_BIN / "seasoned", *command], env=env, check=True, capture_output=True)
        yield f"a hook from start to end, {ROUNDS} rounds, {PROJECTS * SESSIONS_EACH:,} sessions of {PROJECTS} projects"
        yield "in the store; milliseconds, median and 95 %, each less the median of `python -c pass` in the same rounds"
        yield "(`processor` is that of the hook alone, `clock` has the time for which it waits as well)"
        # The first start of an hour has all histories looked through, in the background.
        event = json.dumps({"session_id": "first", "cwd": str(home / "project-0"), "source": "startup"})
        _run([str(_BIN / "seasoned-hook"), "claude-code", "session-start"], event, env)
        wait_until_learned(env["SEASONED_HOME"], 30)
        wanted = yield from _events(home, env)
        yield from _floor(env)
        yield f"load of the machine at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
        yield from wanted


def _events(home: Path, env: dict[str, str]) -> Generator[str, None, list[str]]:
    """A line for each event; returns how many of them are as quick as wanted."""
    over: dict[str, list[float]] = {"clock": [], "processor": []}
    for label, agent, event, fields, speaks in _cases(home):
        ours, bare = _timed(agent, event, fields, env, speaks=speaks)
        shown = []
        for at, kind in enumerate(over):
            start = statistics.median(one[at] for one in bare)
            taken = [one[at] - start for one in ours]
            over[kind].append(statistics.quantiles(taken, n=20)[-1])
            shown.append(f"{kind} {statistics.median(taken):.0f}, {over[kind][-1]:.0f}")
        yield f"  {label}: {'; '.join(shown)}"
    return [
        f"wanted: 95 % within {goal} ms over a bare start, by {kind}: "
        f"{sum(one <= goal for one in worst)} of {len(worst)} events"
        for goal in GOALS_MS
        for kind, worst in over.items()
    ]


def _floor(env: dict[str, str]) -> Iterator[str]:
    """What a hook cannot go below: an interpreter, and the libraries that it needs."""
    pairs = [
        (_run([sys.executable, "-c", code], "", env)[0][1] for code in ("pass", _LIBRARIES)) for _ in range(ROUNDS)
    ]
    bare, loaded = (statistics.median(taken) for taken in zip(*pairs, strict=True))
    yield f"processor, median: `python -c pass` {bare:.0f}; with msgspec, sqlite3 and pathlib imported {loaded:.0f}"


def _cases(home: Path) -> Iterator[tuple[str, str, str, Event, bool]]:
    """Label, agent, event, its fields, and whether the hook has something to say."""
    here, nowhere = {"cwd": str(home / "project-0")}, {"cwd": str(home / "new")}
    failed = {"tool_name": "Bash", "tool_input": {"command": _WRONG}, **here}
    for agent in ("claude-code", "codex"):
        after = "post-tool-use-failure" if agent == "claude-code" else "post-tool-use"
        speaking: dict[str, Event] = {
            "session-start": {"source": "startup", **here},
            "user-prompt-submit": {"prompt": "Please fix the lint errors.", **here},
            "pre-tool-use": {"tool_name": "Bash", "tool_input": {"command": "rtk make test"}, **here},
            after: {**failed, "error": f"Exit code 2\n{_ERROR}", "tool_response": f"{_ERROR}\n"},
        }
        silent: dict[str, Event] = {
            "session-start": {"source": "startup", **nowhere},
            "user-prompt-submit": {"prompt": "Rename the class.", **here},
            "pre-tool-use": {"tool_name": "Bash", "tool_input": {"command": "make test"}, **here},
            after: {**failed, "error": "Exit code 1\nno such parcel: 17", "tool_response": "3 parcels\n"},
            "stop": here,
            "session-end": here,
        }
        for speaks, events in ((False, silent), (True, speaking)):
            for event, fields in events.items():
                yield f"{agent} {event}, {'speaking' if speaks else 'silent'}", agent, event, fields, speaks


def _write_sessions(home: Path) -> None:
    """Sessions of many projects, in which the same mistakes were repaired; `project-0` and `new` are there on disk."""
    for name in ("project-0", "new"):
        git = home / name / ".git"
        git.mkdir(parents=True)
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        (git / "config").write_text(f'[remote "origin"]\n\turl = git@example.com:bench/{name}.git\n')
        (home / name / "Makefile").write_text(_MAKEFILE)
    (home / "history").mkdir()
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86_400)).encode()
    for number in range(PROJECTS * SESSIONS_EACH):
        project, at = divmod(number, SESSIONS_EACH)
        file = ClaudeFile(f"{number:08}-2222-4333-8444-555555555555").user("How many parcels were late?")
        unknown = "Exit code 127\n/bin/bash: line 1: rtk: command not found"
        calls = [("rtk make test", unknown), ("make test", ""), (_WRONG, f"Exit code 2\n{_ERROR}"), (_RIGHT, "")]
        # Half of the sessions lint: too few for the sheet, enough for a prompt that asks for it.
        for place, (command, error) in enumerate(calls if at % 2 else [*calls, ("make lint", "")]):
            id = f"toolu_{number}_{place}"
            file.calls(id, "Bash", command=command).result(id, error or "3 passed", is_error=bool(error))
        folder, when = str(home / f"project-{project}").encode(), b"%sT%02d:%02d:" % (day, 10 + at // 60, at % 60)
        lines = [line.replace(b"2026-03-01T10:00:", when).replace(b"/home/mira/waypost", folder) for line in file.lines]
        (home / "history" / f"{number}.jsonl").write_bytes(b"".join(lines))


def _timed(
    agent: str, event: str, fields: Event, env: dict[str, str], *, speaks: bool
) -> tuple[list[Taken], list[Taken]]:
    """By turns, so that both meet the same machine. Every round is a new conversation: a hint is given once in each."""
    ours, bare = [], []
    for number in range(ROUNDS):
        said = json.dumps({"session_id": f"{event}-{speaks}-{number}", "transcript_path": None, **fields})
        taken, output = _run([str(_BIN / "seasoned-hook"), agent, event], said, env)
        if bool(output) != speaks:
            raise RuntimeError(f"{agent} {event} was expected to {'speak' if speaks else 'be silent'}: {output!r}")
        ours.append(taken)
        bare.append(_run([sys.executable, "-c", "pass"], said, env)[0])
    # The first of each only warms the caches of the disk.
    return ours[1:], bare[1:]


def _run(command: list[str], said: str, env: dict[str, str]) -> tuple[Taken, str]:
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, input=said, env=env, text=True, capture_output=True, check=True)
    clock, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (1e3 * clock, 1e3 * processor), done.stdout
