"""The terminal: a shell command in the working folder."""

from __future__ import annotations

import os

from seasoned.agent.toolset.danger import danger_in
from seasoned.agent.toolset.process import run, shell
from seasoned.agent.toolset.reach import Reach
from seasoned.agent.toolset.result import Answer, plain, tool


@tool(output="", exit_code=-1)
def terminal(reach: Reach, command: str, timeout_seconds: float | None = None) -> Answer:
    """Run a shell command in the working folder and return what it prints.

    Use it for builds, tests, git and other programs. Use read_file, write_file, patch and search_files for files.
    Nobody can answer questions: pass options such as --yes. Each call starts anew in the working folder, so `cd` and
    variables do not last; write `cd folder && command`. Processes left in the background are ended with the call.
    An exit_code of 0 means that it worked; `error` says why a command was stopped or not run.

    Args:
        command: The command line, for example "python -m pytest -q tests/test_price.py".
        timeout_seconds: End the command after this many seconds. Leave it out to use the limit that is set.
    """
    found = danger_in(command, folder=reach.folder.root)
    if found is not None and not reach.ask(command, found):
        said = f"Not run: it {found.reason}, and nobody allowed it. Find a way without it, or ask the user to run it."
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
