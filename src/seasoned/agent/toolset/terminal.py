"""The terminal: a shell command in the working folder."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import msgspec

from seasoned.agent.toolset.process import FinishedCommand, run, shell
from seasoned.agent.toolset.scope import Answer, ToolLimits, ToolScope, plain, tool
from seasoned.command.risk import danger_in, danger_in_code


@tool(output="", exit_code=-1)
def terminal(reach: ToolScope, command: str, timeout_seconds: float | None = None) -> Answer:
    """Run a shell command in the working folder and return what it prints.

    Use it for builds, tests, git and other programs. Use read_file, write_file, patch and search_files for files.
    No one can answer prompts: pass options such as --yes. Each call starts again in the working folder, so `cd` and
    variables do not last; write `cd folder && command`. Processes left in the background are ended with the call.
    An exit_code of 0 means that it worked; `error` says why a command was stopped or not run.

    Args:
        command: The command line, for example "python -m pytest -q tests/test_price.py".
        timeout_seconds: End the command after this many seconds. Leave it out to use the limit that is set.
    """
    found = danger_in(command, folder=reach.folder.root)
    if found is not None and not reach.ask(command, found):
        said = f"Not run: it {found.reason}, and no one allowed it. Find a way without it, or ask the user to run it."
        return {"output": "", "exit_code": -1, "status": "blocked", "error": said}
    limits = reach.limits.within(timeout_seconds)
    folder = reach.folder.open_folder()
    try:
        finished = run(
            shell(command),
            folder=folder,
            limits=limits,
            environment=reach.environment,
            keep=reach.keep,
            stop=reach.stop,
        )
    finally:
        os.close(folder)
    answer: Answer = {
        "output": plain(finished.output),
        "exit_code": finished.exit_code,
        "error": finished.problem(limits),
    }
    if finished.ending == "stopped":
        answer["status"] = "interrupted"
    if finished.ending == "exit" and finished.ended:
        answer["note"] = f"{finished.ended} processes that it left in the background were ended."
    return answer


_SCRIPT = "code.py"
_LAST_LINES = 12


@tool(status="error", exit_code=-1, output="")
def execute_code(
    reach: ToolScope, code: str, timeout_seconds: float | None = None, temporary_folder: bool = False
) -> Answer:
    """Run Python code in a new process and return what it prints.

    Use it to compute, or to work through many files at once. Print what you want to see: the value of the last line is
    not shown. Nothing lasts from one call to the next except files. Paths are taken from the working folder.

    Args:
        code: The Python program, for example "print(sum(range(10)))".
        timeout_seconds: End the code after this many seconds. Leave it out to use the limit that is set.
        temporary_folder: Run in an empty folder that is deleted afterwards, instead of the working folder.
    """
    found = danger_in_code(code, folder=reach.folder.root)
    if found is not None and not reach.ask(code, found):
        said = f"Not run: it {found.reason}, and no one allowed it. Find a way without it, or ask the user to run it."
        return {"status": "blocked", "exit_code": -1, "output": "", "error": said}
    limits = msgspec.structs.replace(reach.limits.within(timeout_seconds), memory_bytes=reach.limits.code_memory_bytes)
    with tempfile.TemporaryDirectory(prefix="seasoned-code-") as temporary:
        script = Path(temporary) / _SCRIPT
        script.write_text(code, encoding="utf-8", errors="replace")
        empty = Path(temporary) / "folder"
        empty.mkdir()
        folder = os.open(empty, os.O_RDONLY) if temporary_folder else reach.folder.open_folder()
        try:
            finished = run(
                # -u: what was printed before a crash is not lost in a buffer.
                [sys.executable, "-I", "-B", "-u", "-X", "utf8", str(script)],
                folder=folder,
                limits=limits,
                environment=reach.environment,
                keep=reach.keep,
                stop=reach.stop,
            )
        finally:
            os.close(folder)
    return _code_answer(finished, limits, str(script))


def _code_answer(finished: FinishedCommand, limits: ToolLimits, script: str) -> Answer:
    # The path of a temporary folder means nothing to the model.
    output = plain(finished.output).replace(script, _SCRIPT)
    error = finished.problem(limits)
    if error is None and finished.exit_code:
        error = _last_words(output) or f"Exit code {finished.exit_code}."
    return {
        "status": "interrupted" if finished.ending == "stopped" else "error" if error else "success",
        "exit_code": finished.exit_code,
        "output": output,
        "error": error,
        "duration_seconds": round(finished.seconds, 3),
    }


def _last_words(output: str) -> str:
    """The end of the traceback if there is one, otherwise of the output."""
    _, begin, trace = output.rpartition("Traceback (most recent call last):\n")
    lines = (trace if begin else output).rstrip().splitlines()
    return "\n".join(line[:500] for line in lines[-_LAST_LINES:])
