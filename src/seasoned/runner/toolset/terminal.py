"""The tools `terminal` and `execute_code`: run a command with limits, and leave no process of it behind.

Needs a POSIX system. On Linux, processes that leave their group or session are found and killed too; elsewhere only the
command's own process group is.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import re
import secrets
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from seasoned.command.risk import Danger, danger_in, danger_in_code
from seasoned.errors import CannotDo
from seasoned.redact.name import WORDS, Promise, promise
from seasoned.runner.toolset.scope import Answer, ToolLimits, ToolScope, plain, tool
from seasoned.text import plural

Ending = Literal["exit", "time", "output", "processes", "stopped", "lost"]
_SUPERVISOR = Path(__file__).with_name("supervisor.py")
# All processes of a command inherit this variable: they are found by it if the supervisor is lost.
_MARK = "SEASONED_RUN"
_PATIENCE_SECONDS = 5.0
_SECRET_WORDS = frozenset({"auth", "credential", "credentials", "cookie", "dsn", "token", "secret", "key", "keys"})
_URL_WITH_PASSWORD = re.compile(r"://[^/\s:@]*:[^/\s@]+@")
# No one is at this terminal: no colours, no pager, no prompts.
_QUIET = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "DEBIAN_FRONTEND": "noninteractive",
}


class FinishedCommand(msgspec.Struct, frozen=True):
    """How a command ended and what it printed."""

    # Its own; 128 plus the signal number if a signal ended it, 124 after a timeout.
    exit_code: int
    # Both streams in the order of writing; the middle of a long output is left out.
    output: str
    # How much it printed in all.
    characters: int
    ending: Ending
    # Processes that were still running and were killed.
    ended: int
    # Processes that could not be killed.
    left: int
    seconds: float

    def problem(self, limits: ToolLimits) -> str | None:
        """Why it was stopped; None if it ended by itself."""
        said = {
            "exit": None,
            "time": f"Stopped after its time limit ({limits.time_seconds:g} seconds).",
            "output": f"Stopped because it printed more than {limits.flood_bytes:,} bytes.",
            "processes": f"Stopped because it had more than {limits.processes} processes at once.",
            "stopped": "It was stopped.",
            "lost": "Stopped because it killed or froze the process that supervises it.",
        }[self.ending]
        if self.left:
            said = f"{said or 'It ended.'} {self.left} of its processes could not be killed."
        return said


def clean_environment(environment: Mapping[str, str], keep: Iterable[str] = ()) -> dict[str, str]:
    """The environment without variables that look like secrets, except those in `keep`."""
    kept = frozenset(keep)
    return {name: value for name, value in environment.items() if name in kept or not _is_secret(name, value)}


def _is_secret(name: str, value: str) -> bool:
    words = {word.lower() for word in WORDS.compiled.findall(name)}
    return promise(name) != Promise.NONE or bool(words & _SECRET_WORDS) or bool(_URL_WITH_PASSWORD.search(value))


def shell(command: str) -> list[str]:
    """The arguments that make a shell run a command line."""
    return ["/bin/bash" if Path("/bin/bash").exists() else "/bin/sh", "-c", command]


def run(
    command: Sequence[str],
    *,
    folder: int | Path,
    limits: ToolLimits,
    environment: Mapping[str, str],
    keep: Iterable[str] = (),
    stop: Callable[[], bool] | None = None,
) -> FinishedCommand:
    """Run a command in a folder (a path, or the descriptor of an open one) and wait until it ends."""
    if os.name != "posix":
        raise CannotDo(
            "Commands cannot be run with limits on this system: it has no process groups; use Linux or macOS."
        )
    words = list(command)
    if any("\0" in word for word in words):
        raise CannotDo("A command cannot hold a NUL character; leave it out.")
    mark = secrets.token_hex(16)
    seen = {**_QUIET, **clean_environment(environment, keep), _MARK: mark}
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY) if isinstance(folder, Path) else os.dup(folder)
    try:
        return _RunningCommand(words, opened, limits, seen, mark).wait(stop)
    finally:
        os.close(opened)


class _OutputBuffer:
    """The beginning and the end of what was printed; the middle is counted and forgotten."""

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        # Incremental, since a character may be split between two blocks.
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._head = ""
        self._tail = ""
        self.characters = 0

    def add(self, block: bytes, *, last: bool = False) -> None:
        text = self._decode(block, last)
        self.characters += len(text)
        missing = self._half - len(self._head)
        if missing > 0:
            self._head += text[:missing]
            text = text[missing:]
        if text:
            self._tail = (self._tail + text)[-self._half :]

    def text(self) -> str:
        cut = self.characters - len(self._head) - len(self._tail)
        if not cut:
            return self._head + self._tail
        return f"{self._head}\n[… {cut:,} characters left out …]\n{self._tail}"


class _RunningCommand:
    """One running command: its supervisor, the pipe that it prints to, and the clock."""

    def __init__(
        self, words: list[str], folder: int, limits: ToolLimits, environment: dict[str, str], mark: str
    ) -> None:
        self._limits = limits
        self._mark = mark
        self._start = time.monotonic()
        self._output = _OutputBuffer(limits.output_characters)
        self._read = 0
        self._answer = b""
        source, sink = os.pipe()
        self._source = source
        try:
            self._supervisor = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", str(_SUPERVISOR)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # The command gets this pipe for both of its streams; stdout is for the supervisor's answer.
                stderr=sink,
                pass_fds=(folder,),
                env=environment,
                # Ctrl-C in the terminal must not end the supervisor before its command.
                start_new_session=True,
                bufsize=0,
            )
        except BaseException:
            os.close(source)
            raise
        finally:
            os.close(sink)
        request = {
            "command": words,
            "folder": folder,
            "time_seconds": limits.time_seconds,
            "grace_seconds": limits.grace_seconds,
            "processes": limits.processes,
            "memory_bytes": limits.memory_bytes,
            "file_bytes": limits.written_bytes,
        }
        assert self._supervisor.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            _write_all(self._supervisor.stdin.fileno(), json.dumps(request).encode() + b"\n")

    def wait(self, stop: Callable[[], bool] | None) -> FinishedCommand:
        """Read until both pipes end, or until the time limits are long over."""
        assert self._supervisor.stdout is not None and self._supervisor.stdin is not None
        ending: Ending | None = None
        patience = self._limits.time_seconds + self._limits.grace_seconds + _PATIENCE_SECONDS
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(self._source, selectors.EVENT_READ)
                selector.register(self._supervisor.stdout, selectors.EVENT_READ)
                while selector.get_map() and time.monotonic() - self._start < patience:
                    for key, _ in selector.select(0.1):
                        if not self._take(key.fd):
                            selector.unregister(key.fileobj)
                            if key.fd != self._source:  # the supervisor is gone: what still prints has escaped it
                                patience = min(patience, time.monotonic() - self._start + 1.0)
                    # The supervisor takes the end of its input as the order to stop.
                    if ending is None and (ending := self._reason(stop)) is not None:
                        self._supervisor.stdin.close()
                        patience = time.monotonic() - self._start + self._limits.grace_seconds + _PATIENCE_SECONDS
        finally:
            self._supervisor.stdin.close()
            answer = self._read_supervisor()
            os.close(self._source)
            self._supervisor.stdout.close()
        self._output.add(b"", last=True)
        why: Ending = ending or answer.get("why", "lost")
        # It exited by itself at the same moment; that counts, unless it had printed too much.
        if ending is not None and answer.get("why") == "exit":
            why = ending if ending == "output" else "exit"
        return FinishedCommand(
            _exit_code(why, answer.get("status")),
            self._output.text(),
            self._output.characters,
            why,
            answer.get("ended", 0),
            answer.get("left", 0),
            time.monotonic() - self._start,
        )

    def _take(self, fd: int) -> bool:
        block = os.read(fd, 65536)
        if fd == self._source:
            self._read += len(block)
            if self._read <= self._limits.flood_bytes:
                self._output.add(block)
        else:
            self._answer += block
        return bool(block)

    def _reason(self, stop: Callable[[], bool] | None) -> Ending | None:
        if self._read > self._limits.flood_bytes:
            return "output"
        return "stopped" if stop is not None and stop() else None

    def _read_supervisor(self) -> dict[str, Any]:
        """The supervisor's answer. Without one the command may have outlived it: find its processes by their mark."""
        try:
            answer: dict[str, Any] = json.loads(self._answer)
            self._supervisor.wait(_PATIENCE_SECONDS)
        except (ValueError, subprocess.TimeoutExpired):
            self._supervisor.kill()
            self._supervisor.wait()
            return {"why": "lost", "status": None, "ended": 0, "left": _kill_marked(self._mark)}
        return answer


def _write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def _exit_code(why: Ending, status: int | None) -> int:
    if why == "time":
        # As the program `timeout` does.
        return 124
    if status is None or why in ("output", "processes", "stopped", "lost"):
        return 128 + signal.SIGKILL
    # As shells do; Python gives the signal as a negative number.
    return 128 - status if status < 0 else status


def _kill_marked(mark: str) -> int:
    """Kill every process whose initial environment holds the mark, until none is left; returns how many survive."""
    sought = f"{_MARK}={mark}".encode()
    until = time.monotonic() + _PATIENCE_SECONDS / 2
    while found := _find_marked(sought):
        if time.monotonic() > until:
            return len(found)
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    return 0


def _find_marked(sought: bytes) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError):
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if sought in (entry / "environ").read_bytes():
                        found.append(int(entry.name))
    return found


@tool(output="", exit_code=-1)
def terminal(scope: ToolScope, command: str, timeout_seconds: float | None = None) -> Answer:
    """Run a shell command in the working folder and return what it prints.

    Use it for builds, tests, git and other programs. Use read_file, write_file, patch and search_files for files.
    No one can answer prompts: pass options such as --yes. Each call starts again in the working folder, so `cd` and
    variables do not last; write `cd folder && command`. Processes left in the background are ended with the call.
    An exit_code of 0 means that it worked; `error` says why a command was stopped or not run.

    Args:
        command: The command line, for example "python -m pytest -q tests/test_price.py".
        timeout_seconds: End the command after this many seconds. Leave it out to use the limit that is set.
    """
    found = danger_in(command, folder=scope.folder.root)
    if found is not None and not scope.ask(command, found):
        return _blocked(found)
    limits = scope.limits.within(timeout_seconds)
    finished = _run_in_scope(scope, shell(command), scope.folder.open_folder(), limits)
    answer: Answer = {
        "output": plain(finished.output),
        "exit_code": finished.exit_code,
        "error": finished.problem(limits),
    }
    if finished.ending == "stopped":
        answer["status"] = "interrupted"
    if finished.ending == "exit" and finished.ended:
        answer["note"] = f"Killed {plural(finished.ended, 'process', 'processes')} that it left in the background."
    return answer


_SCRIPT = "code.py"
_LAST_LINES = 12


@tool(status="error", exit_code=-1, output="")
def execute_code(
    scope: ToolScope, code: str, timeout_seconds: float | None = None, temporary_folder: bool = False
) -> Answer:
    """Run Python code in a new process and return what it prints.

    Use it to compute, or to work through many files at once. Print what you want to see: the value of the last line is
    not shown. Nothing lasts from one call to the next except files. Paths are taken from the working folder.

    Args:
        code: The Python program, for example "print(sum(range(10)))".
        timeout_seconds: End the code after this many seconds. Leave it out to use the limit that is set.
        temporary_folder: Run in an empty folder that is deleted afterwards, instead of the working folder.
    """
    found = danger_in_code(code, folder=scope.folder.root)
    if found is not None and not scope.ask(code, found):
        return _blocked(found)
    limits = msgspec.structs.replace(scope.limits.within(timeout_seconds), memory_bytes=scope.limits.code_memory_bytes)
    with tempfile.TemporaryDirectory(prefix="seasoned-code-") as temporary:
        script = Path(temporary) / _SCRIPT
        script.write_text(code, encoding="utf-8", errors="replace")
        empty = Path(temporary) / "folder"
        empty.mkdir()
        folder = os.open(empty, os.O_RDONLY) if temporary_folder else scope.folder.open_folder()
        # -u: what was printed before a crash is not lost in a buffer.
        command = [sys.executable, "-I", "-B", "-u", "-X", "utf8", str(script)]
        finished = _run_in_scope(scope, command, folder, limits)
    return _code_answer(finished, limits, str(script))


def _blocked(danger: Danger) -> Answer:
    said = f"Not run: it {danger.reason}, and no one allowed it. Find a way without it, or ask the user to run it."
    return {"status": "blocked", "exit_code": -1, "output": "", "error": said}


def _run_in_scope(scope: ToolScope, command: Sequence[str], folder: int, limits: ToolLimits) -> FinishedCommand:
    """Run a command in an open folder, and close the folder."""
    try:
        return run(
            command, folder=folder, limits=limits, environment=scope.environment, keep=scope.keep, stop=scope.stop
        )
    finally:
        os.close(folder)


def _code_answer(finished: FinishedCommand, limits: ToolLimits, script: str) -> Answer:
    # The path of a temporary folder means nothing to the model.
    output = plain(finished.output).replace(script, _SCRIPT)
    error = finished.problem(limits)
    if error is None and finished.exit_code:
        error = _last_lines(output) or f"Exit code {finished.exit_code}."
    return {
        "status": "interrupted" if finished.ending == "stopped" else "error" if error else "success",
        "exit_code": finished.exit_code,
        "output": output,
        "error": error,
        "duration_seconds": round(finished.seconds, 3),
    }


def _last_lines(output: str) -> str:
    """The end of the traceback if there is one, otherwise of the output."""
    _, begin, trace = output.rpartition("Traceback (most recent call last):\n")
    lines = (trace if begin else output).rstrip().splitlines()
    return "\n".join(line[:500] for line in lines[-_LAST_LINES:])
