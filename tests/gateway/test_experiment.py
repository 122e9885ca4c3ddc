"""Experiments through a real gateway: arms that hold, effects that are found where they are, examples that must go."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from seasoned.config import Config, WarmSettings
from seasoned.example.library.storage import ExampleState, set_state, snapshot
from seasoned.experiment.live import live_session
from seasoned.experiment.live.assignment import ArmShare, keep_split, new_split
from seasoned.experiment.live.live_report import LiveReport, live_report
from seasoned.gateway.record import example_watch
from seasoned.store import open_store
from tests.example.examples import states_of
from tests.gateway.live_world import EXAMPLE, NEW, Customer, World, converse, hurry, is_warm, serve_world, teach
from tests.gateway.running import Running, config_in, rows, run_gateway, settings_for, wait_until

HOUR = 3600.0


@pytest.fixture
def config(tmp_path: Path) -> Config:
    made = config_in(tmp_path)
    teach(made)
    return made


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    hurry(monkeypatch)
    yield


def _begin(config: Config, *arms: str, name: str = "autumn") -> Config:
    """The settings with which the experiment runs."""
    with open_store(config.store_path) as store:
        keep_split(store, new_split(name, [ArmShare(one) for one in arms], salt="s"), now=time.time())
    return msgspec.structs.replace(config, warm=WarmSettings(experiment=name))


def _report(config: Config, name: str = "autumn", later: float = 2 * HOUR) -> LiveReport:
    with open_store(config.store_path) as store:
        return live_report(store, name, now=time.time() + later)


def _state(config: Config) -> ExampleState | None:
    with open_store(config.store_path) as store:
        return snapshot(store).states.get(EXAMPLE.id)


def _shown(config: Config) -> set[str]:
    return {row["lineage_root"] for row in rows(config, "template.blocks")}


def _one_by_one(gateway: Running, world: World, names: list[str]) -> list[bool]:
    """Conversations that begin when the one before is written down and looked at; which of them were shown a block."""
    for name in names:
        converse(gateway, world, [name], at_once=1)
        wait_until(lambda: not gateway.service.recorder._watch.is_due(time.time() + 1))
    shown = _shown(gateway.config)
    return [f"gateway:{name}" in shown for name in names]


def test_a_convention_that_changes_is_noticed_within_five_conversations(
    config: Config, caplog: pytest.LogCaptureFixture
) -> None:
    """While a conversation that was shown the example goes on with the very bytes that it began with."""
    caplog.set_level(logging.WARNING, "seasoned.gateway")
    with serve_world() as world, run_gateway(config, settings_for(config, world.url)) as gateway:
        running = Customer(gateway.url, "running")
        running.ask(world)
        assert all(_one_by_one(gateway, world, [f"before{number}" for number in range(6)]))
        assert _state(config) is None
        world.convention = NEW
        after = _one_by_one(gateway, world, [f"after{number}" for number in range(6)])
        running.ask(world, "And my other order?")
        assert gateway.failed_open() == {}
    gone = after.index(False)
    print(f"\nthe stale example was shown to {gone} conversations after the change")  # noqa: T201
    assert gone <= 5 and not any(after[gone:])
    state = _state(config)
    assert state is not None and state.state == "suspended" and "failed" in state.reason
    assert [one for one in caplog.messages if EXAMPLE.id in one and "suspended" in one and "--undo" in one]
    blocks = {
        heard.body.split(b'"content": "Where is my order')[0].partition(b"[seasoned:warm")[2]
        for heard in world.server.heard
        if b"(running)" in heard.body
    }
    assert len(blocks) == 1 and is_warm(world.server.heard[-1].body)


def test_what_works_again_comes_back_by_itself_or_by_hand(config: Config, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "seasoned.gateway")
    with open_store(config.store_path) as store:
        set_state(store, EXAMPLE.id, "suspended", "it failed", now=time.time())
    with (
        serve_world(cold=1.0) as world,
        run_gateway(config, settings_for(config, world.url)) as gateway,
    ):
        shown = _one_by_one(gateway, world, [f"s{number}" for number in range(7)])
        assert not shown[0] and shown[-1], "one conversation must show it, and soon after it is back"
        with open_store(config.store_path) as store:
            set_state(store, EXAMPLE.id, "retired", "by hand", now=time.time())
        assert _one_by_one(gateway, world, ["t0"]) == [False]
        with open_store(config.store_path) as store:
            set_state(store, EXAMPLE.id, "active", "restored by hand", now=time.time())
            history = states_of(store, EXAMPLE.id)
        assert _one_by_one(gateway, world, ["t1"]) == [True]
    assert history == ["suspended", "active", "retired", "active"]
    assert any("may be shown again" in one for one in caplog.messages)


def test_an_example_that_hurts_in_another_way_is_retired_while_the_gateway_runs(
    config: Config, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions that see it do not call as it shows, and fail more often: only the comparison can know."""
    caplog.set_level(logging.WARNING, "seasoned.gateway")
    monkeypatch.setattr(live_session, "PAUSE_SECONDS", 0.1)
    monkeypatch.setattr(example_watch, "_EFFECT_SECONDS", 0.1)
    config = _begin(config, "cold", "warm")
    with serve_world(cold=0.95, distracts=0.9, attempts=1) as world:
        settings = settings_for(config, world.url)
        with run_gateway(config, settings) as gateway:
            for batch in range(8):
                converse(gateway, world, [f"s{batch}-{number}" for number in range(15)])
                if _state(config) is not None:
                    break
            wait_until(lambda: _state(config) is not None)
            converse(gateway, world, [f"t{number}" for number in range(8)])
            assert gateway.failed_open() == {}
        state = _state(config)
        assert state is not None and state.state == "retired" and "autumn" in state.reason
        assert not {one for one in _shown(config) if ":t" in one}
        (one,) = _report(config).examples
        assert one.state == "retired" and one.state_reason == state.reason and one.changed_at == state.changed_at
        assert any("is retired" in message and EXAMPLE.id in message for message in caplog.messages)
        with open_store(config.store_path) as store:
            set_state(store, EXAMPLE.id, "active", "restored by hand", now=time.time())
        with run_gateway(config, settings) as gateway:
            converse(gateway, world, [f"u{number}" for number in range(8)])
            time.sleep(0.3)
        assert {one for one in _shown(config) if ":u" in one} and _state(config) is None, "judged by what comes after"


def test_a_watch_that_breaks_is_counted_and_nobody_notices(config: Config) -> None:
    with serve_world() as world, run_gateway(config, settings_for(config, world.url)) as gateway:
        Customer(gateway.url, "first").ask(world)
        with open_store(config.store_path) as store:
            set_state(store, EXAMPLE.id, "active", "by hand", now=time.time())
            with store.write():
                store.connection.execute("UPDATE example_state SET evidence = 'no json'")
        Customer(gateway.url, "second").ask(world)
        wait_until(lambda: gateway.failed_open().get("guard", 0) > 0)
        third = Customer(gateway.url, "third")
        third.ask(world)
        assert third.messages[-1]["content"] == "That is all I found."
        wait_until(lambda: gateway.service.recorder.waiting == 0)
    assert {row["native_id"] for row in rows(config, "session.tracks", agent=None, project=None)} >= {
        "first",
        "second",
        "third",
    }
