"""However a session begins, the same holds: its arm, its block or nothing, and what is kept of that."""

from __future__ import annotations

import json
import logging
import time
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP library is not installed")

from seasoned.config import Config, load
from seasoned.example.library.storage import cached_library, save, set_state
from seasoned.experiment.live.assignment import ArmShare, keep_split, new_split
from seasoned.store import open_store
from tests.begin.entry_points import ASK, ENTRY_POINTS, RETRACTS, EntryPoint, HookEntry, ask_gateway, block_in, locked
from tests.example.examples import example, template

MANY, FEW = 1e9, 1e-9
every_entry_point = pytest.mark.parametrize("entry", ENTRY_POINTS, ids=lambda one: type(one).__name__)


@pytest.fixture(autouse=True)
def config() -> Config:
    """A home with a template of each kind that an entry point can show."""
    found = load()
    with open_store(found.store_path) as store:
        save(store, _template("pytest -q"))
    return found


def _template(command: str, name: str = "house") -> Any:
    return template(
        name, *[example(tool, arguments={"command": command}, intent="Run the tests.") for tool in ("terminal", "Bash")]
    )


def _run_experiment(config: Config, cold: float, other: ArmShare) -> None:
    (config.home / "config.toml").write_text('[warm]\nexperiment = "autumn"\n')
    with open_store(config.store_path) as store:
        keep_split(store, new_split("autumn", [ArmShare("cold", cold), other], salt="s"), now=time.time())


def _kept(config: Config) -> dict[str, list[Any]]:
    """What the store has: blocks, arms, exposures, what was held back, and uses."""
    with open_store(config.store_path) as store:
        return {
            name: [tuple(row) for row in store.connection.execute(select)]
            for name, select in {
                "blocks": "SELECT lineage_root FROM warm_block",
                "arms": "SELECT session, arm FROM assignment",
                "exposed": "SELECT session, arm, example_ids FROM exposure WHERE is_shown = 1",
                "foregone": "SELECT session, arm, example_ids FROM exposure WHERE is_shown = 0",
                "uses": "SELECT sum(uses) FROM template_name",
            }.items()
        }


@every_entry_point
def test_without_an_experiment_the_template_that_fits_is_shown(entry: EntryPoint, config: Config) -> None:
    shown = entry.begin("s1")
    assert shown is not None and "house@1" in shown and "pytest -q" in shown
    assert _kept(config) == {
        "blocks": [(f"{entry.agent}:s1",)],
        "arms": [],
        "exposed": [],
        "foregone": [],
        "uses": [(1,)],
    }


@every_entry_point
def test_the_control_is_shown_nothing_and_what_it_forgoes_is_logged(entry: EntryPoint, config: Config) -> None:
    _run_experiment(config, MANY, ArmShare("template:house", FEW))
    assert entry.begin("s1") is None
    kept, session = _kept(config), f"{entry.agent}:s1"
    ((held_back, arm, ids),) = kept.pop("foregone")
    assert (held_back, arm, len(json.loads(ids))) == (session, "template:house", 1)
    assert kept == {"blocks": [], "arms": [(session, "cold")], "exposed": [], "uses": [(0,)]}


@every_entry_point
def test_another_arm_is_shown_its_template_and_that_is_logged(entry: EntryPoint, config: Config) -> None:
    with open_store(config.store_path) as store:
        save(store, _template("make check", "other"))
    _run_experiment(config, FEW, ArmShare("template:other", MANY))
    shown = entry.begin("s1")
    assert shown is not None and "other@1" in shown
    kept, session = _kept(config), f"{entry.agent}:s1"
    ((exposed, arm, ids),) = kept.pop("exposed")
    assert (exposed, arm, len(json.loads(ids))) == (session, "template:other", 1)
    assert kept == {"blocks": [(session,)], "arms": [(session, "template:other")], "foregone": [], "uses": [(1,)]}


@every_entry_point
def test_while_the_template_of_an_arm_is_missing_no_session_is_assigned_and_that_is_said(
    entry: EntryPoint, config: Config, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "seasoned")
    _run_experiment(config, FEW, ArmShare("template:gone", MANY))
    assert entry.begin("s1") is None
    hook_log = config.log_folder / "hooks.log"
    said = " ".join(caplog.messages) + (hook_log.read_text() if hook_log.exists() else "")
    assert "'template:gone'" in said and "shows nothing" in said
    # Otherwise its sessions would be missing in that arm only.
    assert _kept(config)["arms"] == []


@every_entry_point
def test_a_resumed_session_keeps_its_bytes_whatever_the_library_became(entry: EntryPoint, config: Config) -> None:
    shown = entry.begin("s1")
    with open_store(config.store_path) as store:
        save(store, _template("make test"))
    (config.home / "config.toml").write_text("[warm]\nbudget = 900\n")
    assert shown is not None and entry.resume("s1") == shown
    assert _kept(config)["uses"] == [(1,)]
    assert "make test" in str(entry.begin("s2")), "a new session is shown what the library has now"


@pytest.mark.parametrize("entry", ENTRY_POINTS[:3], ids=lambda one: type(one).__name__)
def test_a_session_that_began_without_a_block_goes_on_without(entry: EntryPoint, config: Config) -> None:
    with open_store(config.store_path) as store:
        _suspend_all(store)
    assert entry.begin("s1") is None
    with open_store(config.store_path) as store:
        save(store, _template("make test", "later"))
    assert entry.resume("s1") is None


@every_entry_point
def test_a_suspended_example_is_retracted_and_shown_to_no_new_session(entry: EntryPoint, config: Config) -> None:
    shown = entry.begin("s1")
    with open_store(config.store_path) as store:
        _suspend_all(store)
    again = entry.resume("s1")
    assert shown is not None and again == shown + (RETRACTS if entry.retracts else ""), "the block itself never changes"
    assert entry.begin("s2") is None


def _suspend_all(store: Any) -> None:
    for one in cached_library(store, now=time.time()).templates[0].examples:
        set_state(store, one.id, "suspended", "it fails", now=time.time())


@every_entry_point
def test_a_block_that_cannot_be_kept_is_not_shown(entry: EntryPoint, config: Config) -> None:
    with open_store(config.store_path) as store:
        store.connection.execute("CREATE TRIGGER full BEFORE INSERT ON warm_block BEGIN SELECT RAISE(ABORT, 'no'); END")
    assert entry.begin("s1") is None
    assert _kept(config)["blocks"] == []


@pytest.mark.parametrize(("entry", "seconds"), [*zip(ENTRY_POINTS[:3], (2.0, 6.0, 7.0), strict=True)])
def test_a_block_that_comes_too_late_is_not_kept(entry: EntryPoint, seconds: float, config: Config) -> None:
    """The MCP server waits for the store; a request, or an agent that runs a hook, does not for long."""
    with locked(config, seconds):
        assert entry.begin("s1") is None
    assert entry.resume("s1") is None
    assert _kept(config)["blocks"] == []


@pytest.mark.parametrize("entry", ENTRY_POINTS[:3], ids=lambda one: one.agent)
def test_a_conversation_that_carries_a_block_gets_no_second_one(entry: EntryPoint, config: Config) -> None:
    shown = entry.begin("s1")
    assert shown is not None
    assert entry.carrying("s1", f"{json.loads(json.dumps(shown))}\n[seasoned:end]") == 1


def test_behind_the_gateway_the_hook_shows_the_template_and_the_gateway_none(config: Config) -> None:
    def sent(session: str) -> str | None:
        return block_in(json.dumps(ask_gateway(None, session, ASK, header="x-claude-code-session-id")))

    assert HookEntry().begin("s1") is not None and sent("s1") is None
    assert sent("s2") is not None, "this one has no hooks"


@pytest.mark.parametrize("switch", ["enabled = false", 'off = ["gateway", "hermes", "claude-code"]'])
@pytest.mark.parametrize("entry", ENTRY_POINTS[:3], ids=lambda one: one.agent)
def test_warm_starts_can_be_switched_off(entry: EntryPoint, config: Config, switch: str) -> None:
    _run_experiment(config, FEW, ArmShare("warm", MANY))
    (config.home / "config.toml").write_text(f'[warm]\n{switch}\nexperiment = "autumn"\n')
    assert entry.begin("s1") is None
    assert _kept(config)["arms"] == [], "a session that is switched off takes no part"
