"""The real agents for tests, of pinned versions, and a place with no network but loopback.

`python -m tests.real_clients` installs them in advance. They are kept in .venv and never part of the project.
"""

from __future__ import annotations

import fcntl
import functools
import json
import os
import platform
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import ROOT

VENV = ROOT / ".venv"
CLIENTS = VENV / "clients"
HERMES = VENV / "hermes-0.19.0"
CLAUDE_VERSION, CODEX_VERSION = "2.1.325", "0.166.0"
GEMINI_VERSION, QWEN_VERSION, COPILOT_VERSION, OPENCODE_VERSION = "0.61.0", "0.24.4", "1.0.102", "1.18.33"
GOOSE_VERSION = "0.20.2"  # of the package; the program says 1.37.0
# Qwen Code needs a newer one than many systems have.
NODE_VERSION = "22.23.3"
INSTALL_SECONDS = 600


def run(*command: object, timeout: int = 600, **environment: str) -> subprocess.CompletedProcess[str]:
    """A program with little of our environment."""
    keep = {name: value for name, value in os.environ.items() if name.startswith(("PATH", "PIP_", "LANG", "SSL"))}
    return subprocess.run(
        list(map(str, command)),
        env={**keep, "HOME": os.environ["HOME"], **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def pip(python: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Our own pip for another environment. Only what is imported there is compiled, and only then."""
    compile_later = ["--no-compile"] if arguments[0] == "install" else []
    return run(sys.executable, "-m", "pip", "--python", python, *arguments, *compile_later)


def claude_code() -> Path:
    """The program of Claude Code; the test is skipped where it cannot be had."""
    return _skip_unless(*_claude_code())


def codex() -> Path:
    """The program of Codex; the test is skipped where it cannot be had."""
    return _skip_unless(*_codex())


def gemini() -> list[object]:
    """The command of Gemini CLI; the test is skipped where it cannot be had."""
    return ["node", _skip_unless(*_gemini())]


def qwen() -> list[object]:
    """The command of Qwen Code; the test is skipped where it cannot be had."""
    return [_skip_unless(*_node()), _skip_unless(*_qwen())]


def copilot() -> Path:
    """The program of Copilot CLI; the test is skipped where it cannot be had."""
    return _skip_unless(*_copilot())


def opencode() -> Path:
    """The program of OpenCode; the test is skipped where it cannot be had."""
    return _skip_unless(*_opencode())


def goose() -> Path:
    """The program of Goose; the test is skipped where it cannot be had."""
    return _skip_unless(*_goose())


def hermes_python() -> Path:
    """The Python of an environment in which Hermes is installed; the test is skipped where it cannot be had."""
    return _skip_unless(*_hermes())


def run_alone(
    command: Sequence[object],
    *,
    env: Mapping[str, str],
    cwd: Path,
    timeout: float = 60,
    before: Sequence[Sequence[object]] = (),
) -> subprocess.CompletedProcess[str]:
    """Run a program where there is no network but loopback, and no environment but PATH and `env`.

    The programs in `before` are servers: each is started in there when the one before it listens, and asked to end
    (SIGTERM) when `command` has ended. Fixed ports are free in there. What servers print goes to `cwd`/server-N.log.
    """
    alone = _alone()
    if alone is None:
        pytest.skip("this machine allows no network namespace (unshare -rn): real clients are not run without one")
    plan = {
        "command": list(map(str, command)),
        "before": [list(map(str, one)) for one in before],
        "env": {"PATH": os.environ["PATH"], **env},
        "server_env": {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **env},
        "cwd": str(cwd),
        "timeout": timeout,
    }
    python = [sys.executable, str(ROOT / "tests" / "alone.py")]
    return subprocess.run(
        [*alone, *python],
        input=json.dumps(plan),
        capture_output=True,
        text=True,
        timeout=timeout + 60,
        check=False,
    )


@functools.cache
def _alone() -> tuple[str, ...] | None:
    """How to begin a command that has no network but loopback."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return None
    for flags in ("-rn", "-n"):
        if subprocess.run([unshare, flags, "true"], capture_output=True, check=False).returncode == 0:
            return (unshare, flags)
    return None


def _skip_unless(program: Path | None, why: str) -> Path:
    if program is None:
        pytest.skip(why)
    return program


@functools.cache
def _claude_code() -> tuple[Path | None, str]:
    name = f"@anthropic-ai/claude-code-{_platform()}"
    return _npm("Claude Code", name, CLAUDE_VERSION, f"{name}@{CLAUDE_VERSION}", "claude")


@functools.cache
def _codex() -> tuple[Path | None, str]:
    name, version = f"@openai/codex-{_platform()}", f"{CODEX_VERSION}-{_platform()}"
    return _npm("Codex", name, version, f"{name}@npm:@openai/codex@{version}", "vendor/*/bin/codex")


@functools.cache
def _gemini() -> tuple[Path | None, str]:
    name = "@google/gemini-cli"
    return _npm("Gemini CLI", name, GEMINI_VERSION, f"{name}@{GEMINI_VERSION}", "bundle/gemini.js")


@functools.cache
def _qwen() -> tuple[Path | None, str]:
    name = "@qwen-code/qwen-code"
    return _npm("Qwen Code", name, QWEN_VERSION, f"{name}@{QWEN_VERSION}", "cli.js")


@functools.cache
def _node() -> tuple[Path | None, str]:
    name = f"node-{_platform()}"
    return _npm("Node", name, NODE_VERSION, f"{name}@{NODE_VERSION}", "bin/node")


@functools.cache
def _copilot() -> tuple[Path | None, str]:
    name = f"@github/copilot-{_platform()}"
    return _npm("Copilot CLI", name, COPILOT_VERSION, f"{name}@{COPILOT_VERSION}", "copilot")


@functools.cache
def _opencode() -> tuple[Path | None, str]:
    name = f"opencode-{_platform()}"
    return _npm("OpenCode", name, OPENCODE_VERSION, f"{name}@{OPENCODE_VERSION}", "bin/opencode")


@functools.cache
def _goose() -> tuple[Path | None, str]:
    name = f"@aaif/goose-binary-{_platform()}"
    return _npm("Goose", name, GOOSE_VERSION, f"{name}@{GOOSE_VERSION}", "bin/goose")


def _platform() -> str:
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"{platform.system().lower()}-{machine}"


def _npm(client: str, name: str, version: str, asked: str, program: str) -> tuple[Path | None, str]:
    """The program of a package, installed when it is not there."""
    folder = CLIENTS / "node_modules" / name
    with _locked("clients"):
        if not _has(folder, version):
            npm = shutil.which("npm")
            if npm is None:
                return None, f"{client} {version} cannot be had here: npm is not on the path"
            CLIENTS.mkdir(exist_ok=True)
            # Without their own check of the engine: Node is given to those that need a newer one.
            options = (
                "--save-exact",
                "--force",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
                "--prefix",
                str(CLIENTS),
            )
            user_home = pwd.getpwuid(os.getuid()).pw_dir
            try:
                installed = subprocess.run(
                    [npm, "install", *options, asked],
                    env={**os.environ, "HOME": user_home},
                    capture_output=True,
                    text=True,
                    timeout=INSTALL_SECONDS,
                    check=False,
                    stdin=subprocess.DEVNULL,
                )
            except subprocess.TimeoutExpired:
                return None, f"{client} {version} cannot be had here: npm took more than {INSTALL_SECONDS} s"
            if installed.returncode or not _has(folder, version):
                said = (installed.stderr.strip() or "npm installed something else").splitlines()[0]
                return None, f"{client} {version} cannot be had here: {said[:200]}"
    found = sorted(folder.glob(program))
    return (found[0], "") if found else (None, f"{client} {version} has no program {program}")


def _has(folder: Path, version: str) -> bool:
    try:
        return bool(json.loads((folder / "package.json").read_text())["version"] == version)
    except (OSError, ValueError, KeyError):
        return False


@functools.cache
def _hermes() -> tuple[Path | None, str]:
    python = HERMES / "bin" / "python"
    with _locked("hermes"):
        if not (HERMES / "done").exists():
            run(sys.executable, "-m", "venv", "--without-pip", HERMES)
            installed = pip(python, "install", "-q", "hermes-agent==0.19.0")
            if installed.returncode:
                said = installed.stderr.strip().splitlines()[-1][:200]
                return None, f"hermes-agent 0.19.0 cannot be had here: {said}"
            (HERMES / "done").touch()
    return python, ""


@contextmanager
def _locked(name: str) -> Iterator[None]:
    """One process at a time: tests run in several."""
    with (VENV / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> None:
    for find in (_claude_code, _codex, _gemini, _qwen, _node, _copilot, _opencode):
        program, why = find()
        sys.stderr.write(f"{program}\n" if program else f"{why}: the tests that use it will be skipped\n")


if __name__ == "__main__":
    main()
