"""Reviews by a real agent, killed one after the other: `python -m tests.runner.killed FOLDER KILLS AGENT…`, as JSON.

Each is killed a little later than the one before, so that every step of a review is met; the last one may end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from seasoned.config import Config
from seasoned.review.memory_file import kept_for_projects
from seasoned.store import open_store
from tests.review import scripted
from tests.runner.chain import ALONE, NOTE, REVIEW, SKILL
from tests.runner.users import answer, login, project
from tests.scripted_server import serve_script

# How long what was killed may take to take its agent with it.
_END_SECONDS = 10.0


def play(folder: Path, kills: int, agent: str, path: str) -> dict[str, Any]:
    with serve_script() as server:
        home = folder / agent
        home.mkdir()
        work, own = project(home / "work"), login(home, agent, server.url)
        config = Config(home=home / ".seasoned")
        config.home.mkdir(mode=0o700)
        limits = "review_per_day = 99\nreview_tokens_per_day = 9000000\n"
        (config.home / "config.toml").write_text(limits)
        variables = {"PATH": path, "HOME": str(home), "SEASONED_TEST": "1", **own}
        server.script[:] = [{"match": "title generator", "text": "Parcels"}, {"text": "Three."}]
        subprocess.run(
            [*ALONE[agent], "How many were late?"],
            env=variables,
            cwd=work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        command = [sys.executable, "-m", "seasoned.cli.main"]
        subprocess.run([*command, "scan"], env=variables, cwd=home, capture_output=True, check=True)

        def review(proposals: list[dict[str, str]], seconds: float | None) -> float:
            server.script[:] = [answer(agent, scripted.data(*proposals), match=REVIEW)]
            begun = time.monotonic()
            ran = subprocess.Popen(
                [*command, "review"], env=variables, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            try:
                ran.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                ran.kill()
                ran.communicate()
            return time.monotonic() - begun

        whole = review([], None)
        proposals = [scripted.note(NOTE), scripted.skill(SKILL)]
        left, problems = [], []
        for number in range(1, kills + 1):
            review(proposals, whole * 1.1 * number / kills)
            left.append(_left(home))
            problems.append(_problems(config))
        review(proposals, None)
        with open_store(config.store_path) as store:
            (kept,) = kept_for_projects(store, config.home)
            states = [row["state"] for row in store.connection.execute("SELECT state FROM learned ORDER BY id")]
        return {
            "left": left,
            "problems": problems,
            "notes": kept.notes.entries,
            "skills": [one.id for one in kept.skills],
            "states": states,
        }


def _problems(config: Config) -> list[str]:
    """What of memory and skills is not whole."""
    with open_store(config.store_path) as store:
        kept = kept_for_projects(store, config.home)
        said = [*(one.notes.problem for one in kept), *(skill.problem for one in kept for skill in one.skills)]
        found = [one for one in said if one]
        found += [f"note {one.notes.entries}" for one in kept if one.notes.entries not in ((), (NOTE,))]
        integrity = store.connection.execute("PRAGMA integrity_check").fetchone()[0]
    return found if integrity == "ok" else [*found, integrity]


def _left(home: Path) -> list[str]:
    """Programs of this person that still run, once they have had time to end."""
    until = time.monotonic() + _END_SECONDS
    while (found := [*_running(home)]) and time.monotonic() < until:
        time.sleep(0.05)
    return found


def _running(home: Path) -> list[str]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if f"HOME={home}\0".encode() in (place / "environ").read_bytes():
                found.append((place / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue  # it ended, or belongs to someone else
    return found


def main() -> None:
    folder, kills, *agents = Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    print(json.dumps({agent: play(folder, kills, agent, path) for agent in agents}))  # noqa: T201


if __name__ == "__main__":
    main()
