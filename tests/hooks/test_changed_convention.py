"""Twenty sessions with `npm test`, then some in which it fails and `pnpm test` works: what the next one is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seasoned.config import Config
from seasoned.lesson.ask import LessonLookup
from seasoned.lesson.storage import refresh
from seasoned.redact.key import Secrecy, load_key
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import open_store
from seasoned.store.project import list_projects
from tests.hooks.changed_command import BEFORE, MISSING, NEW, OLD, PIPED, SINCE, write_claude_code


@pytest.mark.parametrize("says_so", ["nothing", "a lock file", "packageManager"])
def test_start_prompt_and_hint_name_the_new_command_from_the_third_session_on(says_so: str, tmp_path: Path) -> None:
    for new in range(7):
        home, work = tmp_path / f"home-{new}", tmp_path / f"work-{new}"
        home.mkdir()
        (work / ".git").mkdir(parents=True)
        more = {"packageManager": "pnpm@9.1.0"} if says_so == "packageManager" else {}
        (work / "package.json").write_text(json.dumps({"scripts": {"test": "vitest run"}, **more}))
        if says_so == "a lock file":
            (work / "pnpm-lock.yaml").write_text("lockfileVersion: '9.0'\n")
        write_claude_code(home, work, [*[BEFORE] * 20, *[SINCE] * new])
        scan(ScanTarget(Config(home=home).store_path), [home / ".claude"], Secrecy(load_key(home)), workers=1)
        with open_store(Config(home=home).store_path) as store:
            refresh(store)
            asked = LessonLookup(store, list_projects(store)[0].key, "claude-code:next", str(work))
            shell = {"command": PIPED}
            told = (asked.sheet()[0], asked.first_prompt("Run the tests."), asked.before("Bash", shell))
            after = asked.after("Bash", shell, MISSING)
        wrong = [text for text in (*told, after) if OLD in text.replace(NEW, "")]
        assert wrong == [], "what everyone tries first is not said, and what fails never is"
        # Two sessions suffice where the checkout says the same; one is enough after the failure.
        first = 3 if says_so == "nothing" else 2
        assert [NEW in text for text in told] == [new >= first, new >= first, new >= 2], (new, told)
        assert (NEW in after) == (new >= 1)
