"""A call of high risk in seven real agents: allowed once, denied, allowed in the project, and what breaks meanwhile.

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

from seasoned.config import Config
from tests.confirm.serving import credentials_for
from tests.conftest import ROOT
from tests.hermes.house import House, terminal, turn
from tests.hooks.agents import Copilot, Gemini, OpenCode, Qwen
from tests.hooks.connected import Connected, new_folder
from tests.hooks.test_seven_agents import ClaudeCode, Codex, _texts
from tests.scripted_server import serve_script
from tests.torture import TORTURE

DANGER = "gem push"
# Claude Code, Qwen Code and Copilot CLI ask with their own question, which no one answers here.
ASK_THEMSELVES = (ClaudeCode, Qwen, Copilot)
PROMPT = "Publish it."
# Each stage, and whether the call that follows runs; those from the second to the fourth need no question of the agent.
STAGES = [
    ("", False),
    ("approve", True),
    ("", False),
    ("deny", False),
    ("allow", True),
    ("end", False),
    ("lock", False),
]
# What a full disk does to the process in which the plugin runs, and an upgrade that stopped half-way.
FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))"
HALF = "import sys; sys.modules['seasoned.hermes_plugin.plugin'] = None"


def _programs(home: Path, work: Path) -> dict[str, str]:
    """Our programs where they can be broken, the dangerous one, and `stage`, which does what a person does."""
    found = home / "programs"
    found.mkdir()
    (found / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    for name in ("seasoned", "seasoned-hook"):
        (found / name).write_bytes((Path(sys.executable).parent / name).read_bytes())
    (found / "gem").write_text(f"#!/bin/sh\necho ran >> {home}/published; echo published\n")
    call = shlex.join([sys.executable, "-m", "tests.hooks.stage", str(home), str(work)])
    (found / "stage").write_text(f'#!/bin/sh\ncd {ROOT}; exec {call} "$@"\n')
    for path in found.iterdir():
        path.chmod(0o755)
    # Login shells make their own path.
    (home / ".profile").write_text(f'PATH="{found}:$PATH"\n')
    return {"PATH": f"{found}:{os.environ['PATH']}"}


def _may_ask(config: Config) -> None:
    """Have people who decide, and this machine's agents as those who ask."""
    (config.home / "secrets").mkdir(parents=True, mode=0o700, exist_ok=True)
    (config.home / "secrets" / "confirm_token").write_text(credentials_for(config)["agent"])


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
    place.variables = {**place.variables, **_programs(home, place.work)}  # type: ignore[misc]
    _may_ask(place.config)
    _connect(place)
    asks = kind in ASK_THEMSELVES
    stages = [*(STAGES[:1] if asks else STAGES[:4]), *STAGES[4:], ("full", False), ("gone", False)]
    calls = []
    for at, (what, _) in enumerate(stages):
        calls += [*([kind.shell(f"stage {what}")] if what else []), kind.shell(_danger(at))]
    title = [{"match": "title generator", "text": "Parcels"}] if kind is OpenCode else []
    _, asked, _ = place.run([*title, *calls, {"text": "Done."}], _asked(place))
    bodies = [line["body"] for line in asked if PROMPT in json.dumps(line["body"]) and line["body"].get("tools")]
    seen = [_new(earlier, later) for earlier, later in pairwise(bodies)]
    # After each stage, what the model read of the call; the stage's own answer comes before it.
    after = [said for said, step in zip(seen, calls, strict=True) if DANGER in json.dumps(step)]
    ran = ["published" in said for said in after]
    assert ran == [runs for _, runs in stages], after
    told = _by_stage(stages, after)
    assert "publish_package" in told["nobody 0"], told
    if asks:
        assert "seasoned confirm allow publish_package --project" in told["nobody 0"], told
    else:
        assert "`seasoned confirm approve " in told["nobody 0"], told
        assert "root denied 'publish_package': not today" in told["deny"], told
    assert "could not check this call" in told["gone"] or "hook exited with code 2" in told["gone"], told
    assert (home / "published").read_text().count("ran") == sum(ran)
    _add_to_table(place.agent, told)


@pytest.mark.slow
def test_what_a_person_decides_holds_in_hermes_and_what_breaks_never_lets_a_call_run(tmp_path: Path) -> None:
    """Its plugin runs in its own process, so the disk is full for both, and a missing part is missing at its start."""
    stages = [*STAGES, ("full", False), ("gone", False)]
    steps = []
    for at, (what, _) in enumerate(stages):
        stage = [] if what in ("", "full", "gone") else [turn(calls=[terminal(f"stage {what}", f"stage_{at}")])]
        steps += [*stage, turn(calls=[terminal(_danger(at), f"call_{at}")]), turn(text="Done.")]
    with serve_script(*steps) as server:
        house = House(tmp_path / "user", server)
        work = new_folder(house.folder, "work")
        (house.folder / ".seasoned").symlink_to(house.ours)
        programs = _programs(house.folder, work)
        _may_ask(house.config)
        moved = f"import os; os.chdir({str(work)!r}); os.environ['TERMINAL_CWD'] = {str(work)!r}"
        unlocked = f"open({str(house.folder / 'unlocked')!r}, 'w').close(); import time; time.sleep(0.3)"
        house.play(
            {"turns": [PROMPT] * len(STAGES), "toolsets": ["terminal"], "before": moved},
            {"turns": [PROMPT], "toolsets": ["terminal"], "before": f"{unlocked}; {FULL}"},
            **programs,
        )
        house.play({"turns": [PROMPT], "toolsets": ["terminal"], "before": moved}, code=HALF, **programs)
        said = {one.get("tool_call_id"): str(one["content"]) for body in house.requests() for one in body["messages"]}
    after = [said[f"call_{at}"] for at in range(len(stages))]
    assert ["published" in one for one in after] == [runs for _, runs in stages], after
    told = _by_stage(stages, after)
    assert "`seasoned confirm approve " in told["nobody 0"], told
    assert "root denied 'publish_package': not today" in told["deny"], told
    assert "cannot be used" in told["full"], told
    assert (house.folder / "published").read_text().count("ran") == sum(runs for _, runs in stages)
    _add_to_table("hermes", told)


def _danger(stage: int) -> str:
    """The call after a stage: a decision is about the same package as the call before it."""
    # A new request waits half a minute for a locked store.
    packages = (0, 0, 1, 1, 2, 3, 4 if TORTURE else 3, 5, 6)
    return f"{DANGER} parcels-{packages[stage]}.gem"


def _by_stage(stages: list[tuple[str, bool]], after: list[str]) -> dict[str, str]:
    return {what or f"nobody {at}": said for at, ((what, _), said) in enumerate(zip(stages, after, strict=True))}


def _add_to_table(agent: str, told: dict[str, str]) -> None:
    if table := os.environ.get("SEASONED_DECISIONS_TABLE"):
        with Path(table).open("a") as file:
            file.write("".join(f"{agent}\t{what}\t{' '.join(said.split())[:400]}\n" for what, said in told.items()))


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
