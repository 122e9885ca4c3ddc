"""A call of high risk in six real agents: allowed once, denied, allowed in the project, and what breaks meanwhile.

No service runs, and nobody sits at the agent's own terminal. With SEASONED_DECISIONS_TABLE each agent adds its line to
that file: what the model saw.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.confirm.serving import credentials_for
from tests.conftest import ROOT
from tests.hooks.agents import Copilot, Gemini, OpenCode, Qwen
from tests.hooks.connected import Connected
from tests.hooks.test_seven_agents import ClaudeCode, Codex, _texts

DANGER = "gem push late.gem"
# Claude Code, Qwen Code and Copilot CLI ask with their own question, which no one answers here.
ASK_THEMSELVES = (ClaudeCode, Qwen, Copilot)
PROMPT = "Publish it."


def _programs(place: Connected) -> None:
    """Our programs where they can be broken, the dangerous one, and `stage`, which does what a person does."""
    home, found = place.home, place.home / "programs"
    found.mkdir()
    (found / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    for name in ("seasoned", "seasoned-hook"):
        (found / name).write_bytes((Path(sys.executable).parent / name).read_bytes())
    (found / "gem").write_text(f"#!/bin/sh\necho ran >> {home}/published; echo published\n")
    call = shlex.join([sys.executable, "-m", "tests.hooks.stage", str(home), str(place.work)])
    (found / "stage").write_text(f'#!/bin/sh\ncd {ROOT}; exec {call} "$@"\n')
    for path in found.iterdir():
        path.chmod(0o755)
    # Login shells make their own path.
    (home / ".profile").write_text(f'PATH="{found}:$PATH"\n')
    place.variables = {**place.variables, "PATH": f"{found}:{os.environ['PATH']}"}  # type: ignore[misc]


def _connect(place: Connected) -> None:
    start = "import sys; sys.executable = sys.argv.pop(1); from seasoned.cli.main import main; main(sys.argv[1:])"
    words = [sys.executable, "-c", start, place.home / "programs" / "python", "connect", place.agent, "--yes"]
    own = {"HOME": str(place.home), "SEASONED_HOME": str(place.config.home)}
    done = subprocess.run(
        [*words, "--parts", "confirmations"], env={**os.environ, **own}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", [ClaudeCode, Codex, Gemini, Qwen, Copilot, OpenCode])
def test_what_a_person_decides_holds_and_what_breaks_never_lets_a_call_run(kind: Any, home: Path) -> None:
    place: Connected = kind(home)
    kind.prepare(home)
    _programs(place)
    tokens = credentials_for(place.config)
    (place.config.home / "secrets").mkdir(mode=0o700, exist_ok=True)
    (place.config.home / "secrets" / "confirm_token").write_text(tokens["agent"])
    _connect(place)
    asks = kind in ASK_THEMSELVES
    # Each stage, and whether the call that follows runs.
    stages = [("", False), *([] if asks else [("approve", True), ("", False), ("deny", False)]), ("allow", True)]
    stages += [("end", False), ("lock", False), ("full", False), ("gone", False)]
    calls = [
        step for what, _ in stages for step in ([kind.shell(f"stage {what}")] if what else []) + [kind.shell(DANGER)]
    ]
    title = [{"match": "title generator", "text": "Parcels"}] if kind is OpenCode else []
    _, asked, _ = place.run([*title, *calls, {"text": "Done."}], _asked(place))
    bodies = [line["body"] for line in asked if PROMPT in json.dumps(line["body"]) and line["body"].get("tools")]
    seen = [_new(earlier, later) for earlier, later in pairwise(bodies)]
    # After each stage, what the model read of the call; the stage's own answer comes before it.
    after = [said for said, step in zip(seen, calls, strict=True) if DANGER in json.dumps(step)]
    ran = ["published" in said for said in after]
    assert ran == [runs for _, runs in stages], after
    told = {what or f"nobody {at}": said for at, ((what, _), said) in enumerate(zip(stages, after, strict=True))}
    assert "publish_package" in told["nobody 0"], told
    if asks:
        assert "seasoned confirm allow publish_package --project" in told["nobody 0"], told
    else:
        assert "`seasoned confirm approve " in told["nobody 0"], told
    assert "could not check this call" in told["gone"] or "hook exited with code 2" in told["gone"], told
    assert (home / "published").read_text().count("ran") == sum(ran)
    if table := os.environ.get("SEASONED_DECISIONS_TABLE"):
        with Path(table).open("a") as file:
            file.write(
                "".join(f"{place.agent}\t{what}\t{' '.join(said.split())[:400]}\n" for what, said in told.items())
            )


def _asked(place: Any) -> list[object]:
    # Only the confirmations are connected, so Codex has no server of ours to leave out.
    found: list[object] = place.ask(PROMPT, tools=True) if isinstance(place, Codex) else place.ask(PROMPT)
    return found


def _new(earlier: Any, later: Any) -> str:
    """What a model reads that it had not read before."""
    before, now = list(_texts(earlier)), list(_texts(later))
    for text in before:
        if text in now:
            now.remove(text)
    return "\n".join(now)
