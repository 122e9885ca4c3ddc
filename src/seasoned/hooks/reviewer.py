"""The background process that reviews due sessions: one at a time, at low priority, until none is left."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from seasoned.agent.review.due import has_model
from seasoned.background import lower_priority
from seasoned.config import Config, command_environment, load
from seasoned.connect.agent import AGENTS
from seasoned.connect.apply import linked_folders, reviewing_python
from seasoned.connect.plan import make_links
from seasoned.errors import CannotDo
from seasoned.file_lock import locked
from seasoned.hooks.log import log
from seasoned.hooks.review_trigger import DueSession, review_folder

_SECONDS = 3600.0
_SAID_CHARS = 500


def main() -> None:
    """Review until nothing is due. If another process is reviewing already, it will take this session too."""
    config = load({**command_environment(), "SEASONED_HOME": sys.argv[1]})
    lower_priority()
    with suppress(CannotDo):
        review_all(config)


def review_all(config: Config) -> int:
    """Review the sessions that are due; returns their number."""
    folder = review_folder(config)
    done = 0
    while waiting := sorted(folder.glob("*.due"), key=_age):
        # Held for one session at a time, so that a session added meanwhile is seen by the next look.
        with locked(folder / ".reviewing.lock", wait_seconds=0):
            done += _take(config, waiting[0])
    return done


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0  # another process took it a moment ago


def _take(config: Config, path: Path) -> int:
    try:
        due = msgspec.json.decode(path.read_bytes(), type=DueSession)
    except FileNotFoundError:
        return 0  # another process took it
    except (OSError, msgspec.DecodeError) as error:
        path.unlink(missing_ok=True)
        log(config.home, f"a due session cannot be read: {error}")
        return 0
    # Before the review: one that kills this process must not be started again and again.
    path.unlink(missing_ok=True)
    if not has_model(config):
        return 0
    log(config.home, f"review of {due.agent}:{due.session}: {_review(config, due)}")
    link_skills(config)
    return 1


def _review(config: Config, due: DueSession) -> str:
    """The output of the command that reviews."""
    reference = f"{due.agent}:{due.session}"
    try:
        # Hermes' environment has the plugin, and seldom the libraries that talk to models.
        python = reviewing_python(due.agent, home=config.home) or sys.executable
    except CannotDo as error:
        return str(error)
    words = [reference, *([due.path] if due.path else []), "--topic", due.topic]
    command = [python, "-P", "-m", "seasoned.cli.main", "review", *words]
    try:
        done = subprocess.run(
            command,
            env={**command_environment(), "SEASONED_HOME": str(config.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return " ".join((done.stderr or done.stdout).split())[:_SAID_CHARS] or f"exit code {done.returncode}"


def link_skills(config: Config) -> None:
    """Link skills that a review wrote into the folders of connected agents."""
    for agent in AGENTS:
        try:
            for folder in linked_folders(agent, home=config.home):
                make_links(folder)
        except CannotDo as error:
            log(config.home, str(error))


if __name__ == "__main__":
    main()
