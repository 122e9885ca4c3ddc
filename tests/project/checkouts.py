"""Real checkouts for tests, made by git itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
# Nothing of the user's own configuration: a default branch or a rewritten address would change the checkouts.
_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(folder: Path, *words: str) -> None:
    """Run git in a folder."""
    command = ["git", "-c", "protocol.file.allow=always", "-C", str(folder), *words]
    subprocess.run(command, env={**os.environ, **_ENVIRONMENT}, check=True, capture_output=True)


def checkout(folder: Path, *, origin: str | None = None, **remotes: str) -> Path:
    """A checkout with one commit, and the remotes that are given."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    for name, url in {**({"origin": origin} if origin else {}), **remotes}.items():
        git(folder, "remote", "add", name, url)
    return folder
