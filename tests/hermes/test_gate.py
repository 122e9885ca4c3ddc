"""The gate: what it refuses and why, that it passes all else at once, and that nothing opens it but a yes."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from seasoned.app.confirm import open_book
from seasoned.config import Config
from seasoned.hermes_plugin import confirmation as gate_module
from seasoned.hermes_plugin.confirmation import CallGate
from seasoned.outcome.judge import judge
from seasoned.session import Result, ToolCall
from tests.confirm.keys import unlock
from tests.confirm.serving import Serving, credentials_for, serving
from tests.each_case import each_case
from tests.hooks.test_pre_tool_use import decide_next

RISKY = {"command": "rm -rf /srv/data"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("service")) as found:
        yield found


@pytest.fixture
def configured(service: Serving, monkeypatch: pytest.MonkeyPatch) -> Serving:
    monkeypatch.setenv("SEASONED_CONFIRM_URL", service.url)
    monkeypatch.setenv("SEASONED_CONFIRM_TOKEN", service.tokens["agent"])
    return service


def refused(arguments: Any, tool: str = "terminal", wait_seconds: float = 20.0) -> str | None:
    """The reason that the model is given; None where the call may run."""
    told: list[str] = []
    found = CallGate(wait_seconds=wait_seconds, tell=told.append).check(tool, arguments, "s1")
    if found is None:
        return None
    assert found["action"] == "block"
    return found["message"]


@each_case(
    ("tool", "arguments"),
    [
        ("terminal", {"command": "pytest -q && git status"}),
        ("terminal", {"command": "rm -rf build"}),
        ("read_file", {"path": "/etc/hosts"}),
        ("terminal", None),
        ("", {}),
        ("todo", {"todos": [{"content": "x"}]}),
    ],
)
def test_a_call_of_no_high_risk_passes_at_once_without_any_service(tool: str, arguments: Any) -> None:
    begun = time.monotonic()
    assert refused(arguments, tool) is None
    assert time.monotonic() - begun < 1


@pytest.mark.parametrize("arguments", ["rm -rf /srv/data", ["rm", "-rf", "/srv/data"]])
def test_arguments_of_another_shape_are_looked_at_too(arguments: Any) -> None:
    assert refused(arguments) is not None


def test_without_a_service_high_risk_is_refused_with_what_to_do() -> None:
    assert "`seasoned confirm token make YOUR_NAME --role admin --alone`" in str(refused(RISKY))


def test_without_a_service_a_person_at_a_terminal_allows_exactly_one_call(home: Path) -> None:
    config = Config(home=home / ".seasoned")
    config.home.mkdir(mode=0o700)
    (config.home / "secrets").mkdir(mode=0o700)
    (config.home / "secrets" / "confirm_token").write_text(credentials_for(config)["agent"])
    reason = str(refused(RISKY))
    found = re.search(r"`seasoned confirm approve (\S+)` allows exactly this call", reason)
    assert found is not None, reason
    with open_book(config) as book:
        book.decide(unlock(book.database, "root"), found[1], approve=True)
    assert refused({"command": "rm -rf /srv/other"}) is not None
    assert refused(RISKY) is None
    assert refused(RISKY) is not None, "once"


def test_a_no_says_why_and_a_yes_lets_exactly_that_call_of_this_session_run_once(configured: Serving) -> None:
    decide_next(configured, "deny", reason="not on a Sunday")
    assert "alice denied 'delete_data': not on a Sunday" in str(refused(RISKY))
    asked = decide_next(configured, "approve")
    assert refused(RISKY) is None
    while not asked:
        time.sleep(0.01)
    assert (asked[0]["details"]["arguments"], asked[0]["session_key"]) == (RISKY, "hermes:s1")
    assert "was not decided in the time available" in str(refused(RISKY, wait_seconds=1.0))


def test_arguments_that_change_while_a_person_thinks_are_refused(configured: Serving) -> None:
    given = dict(RISKY)

    def change() -> None:
        time.sleep(0.3)
        given["command"] = "rm -rf /"
        decide_next(configured, "approve")

    threading.Thread(target=change, daemon=True).start()
    assert "arguments changed" in str(refused(given))


def test_code_and_other_tools_are_looked_at_too() -> None:
    code = {"code": "import shutil\nshutil.rmtree('/srv/data')"}
    assert refused(code, "execute_code") is not None
    assert refused({"command": "npm publish"}, "terminal") is not None


def test_a_configuration_that_cannot_be_read_means_no(home: Path) -> None:
    (home / ".seasoned").mkdir()
    (home / ".seasoned" / "config.toml").write_text("confirm_url = [")
    assert "cannot be read" in str(refused(RISKY))


def test_whatever_breaks_in_the_gate_means_no(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("secret words")

    monkeypatch.setattr(gate_module, "need_of_call", broken)
    reason = str(refused({"command": "ls"}))
    assert "could not be checked" in reason
    assert "secret words" not in reason


def test_whatever_breaks_while_asking_means_no(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("secret words")

    monkeypatch.setattr(gate_module, "decide_call", broken)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    assert "asking for it failed" in str(refused(RISKY))


def test_the_user_can_interrupt_the_wait(configured: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hermes says so in a module of its own; the wait ends with a refusal."""
    told = ModuleType("tools.interrupt")
    told.is_interrupted = lambda: True  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tools.interrupt", told)
    begun = time.monotonic()
    assert "interrupted" in str(refused(RISKY))
    assert time.monotonic() - begun < 5


def test_a_refusal_counts_as_declined_when_the_session_is_read_later() -> None:
    """Neither the model nor its example is blamed for a person's no."""
    text = json.dumps({"error": refused(RISKY)})
    assert judge(ToolCall("c", "terminal", RISKY, Result(text)), agent="hermes").fault == "user_declined"
