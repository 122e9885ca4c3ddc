"""Inside its own project an example has real names; what crosses a border or leaves the machine has placeholders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seasoned.redact import Secrecy
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import Store, open_store
from seasoned.store.forget import forget_sessions
from seasoned.template.library.exchange import write_template
from seasoned.template.library.project import library_for
from seasoned.template.library.storage import cached_library, load, save, set_state
from seasoned.template.mine.miner import build
from seasoned.template.provision import provision
from tests.history.claude_lines import ClaudeFile
from tests.template.sessions import NOW, REDACTOR, SMALL

VAULT, SHOP = "/home/mira/vault", "/home/mira/shop"
# Each in one session: what recurs over sessions counts as a convention, and stays.
NAMES = ("lumenry", "sablework", "quillbox")
FIND = "mcp__atlas__find"


def _write(folder: Path, number: int, cwd: str, *calls: tuple[str, dict[str, Any]]) -> None:
    file = ClaudeFile(f"0000000{number}-2222-4333-8444-555555555555").user("Test the crypto package.", cwd=cwd)
    for at, (tool, given) in enumerate(calls):
        file.says("I run the tests of the crypto package.", cwd=cwd)
        file.calls(f"toolu_{number}{at}", tool, **given).result(f"toolu_{number}{at}", "5 passed", is_error=False)
    file.write(folder / f"{number}.jsonl")
    # The helper writes one folder into all lines.
    path = folder / f"{number}.jsonl"
    path.write_text(path.read_text().replace('"cwd":"/home/mira/waypost"', f'"cwd":"{cwd}"'))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    folder = tmp_path / "histories"
    folder.mkdir()
    for number, name in enumerate(NAMES):
        made = ("Bash", {"command": f"pnpm --filter @{name}/crypto test"}), (FIND, {"path": f"ws/{name}", "depth": 2})
        _write(folder, number, VAULT, *made)
    person = FIND, {"path": "ws/till", "full_name": "Miranda Castellanos"}
    shell = "Bash", {"command": "./tally.sh --author 'Miranda Castellanos' --month 03"}
    for number in range(3, 6):
        _write(folder, number, SHOP, person, shell)
    scan(ScanTarget(tmp_path / "s.db"), [folder], Secrecy(b"k" * 32), workers=1)
    with open_store(tmp_path / "s.db") as opened:
        save(opened, build(opened, name="house", now=NOW, redactor=REDACTOR, options=SMALL))
        yield opened


def _shown(store: Store, project: str | None) -> str:
    made = provision("Test the crypto package.", library=library_for(store, project, now=NOW))
    return "" if made.rendered is None else made.rendered.content.decode()


def _real(text: str) -> bool:
    return any(name in text for name in NAMES)


def test_a_session_of_the_project_sees_its_real_names_and_another_none_of_them(store: Store) -> None:
    own = _shown(store, VAULT)
    assert any(f"pnpm --filter @{name}/crypto test" in own for name in NAMES)
    assert any(f"ws/{name}" in own for name in NAMES)
    assert "from earlier sessions of this project" in own and "placeholders" not in own
    assert not _real(_shown(store, SHOP)) and not _real(_shown(store, None))
    assert _shown(store, "/home/mira/empty") == ""


def test_what_is_kept_and_exported_has_placeholders(store: Store) -> None:
    _shown(store, VAULT)
    for shape in ("seasoned", "warm-v1", "warm-v2", "session-template"):
        assert not _real(write_template(load(store, "house"), shape).decode())  # type: ignore[arg-type]
    whole = provision("", library=cached_library(store, now=NOW)).rendered
    assert whole is not None and not _real(whole.content.decode())


def test_a_name_of_a_person_is_not_real_anywhere(store: Store) -> None:
    shown = _shown(store, SHOP)
    assert FIND in shown, "how a named tool is called is shown with placeholders"
    assert "Castellanos" not in shown and "Miranda" not in shown
    assert "tally" not in shown, "a command with invented names would teach nothing"


def test_an_example_is_suspended_under_the_name_that_it_is_kept_by(store: Store) -> None:
    (kept,) = [one for one in load(store, "house").examples if "pnpm" in one.arguments]
    assert "pnpm" in _shown(store, VAULT)
    set_state(store, kept.id, "suspended", "it fails", now=NOW)
    assert "pnpm" not in _shown(store, VAULT)


def test_what_a_forgotten_session_wrote_is_shown_no_more(store: Store) -> None:
    rows = store.connection.execute("SELECT id FROM session WHERE project = ?", (VAULT,)).fetchall()
    assert _real(_shown(store, VAULT))
    forget_sessions(store, [row["id"] for row in rows], now=NOW)
    assert not _real(_shown(store, VAULT))
