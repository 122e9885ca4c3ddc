"""Two machines and one experiment in a real PostgreSQL: each shows what the arm names, and both are counted."""

from __future__ import annotations

from pathlib import Path

import msgspec

from seasoned.app import experiment as experiments
from seasoned.app.stores import shared_database
from seasoned.begin.warm_start import NewSession, begin
from seasoned.config import Config, WarmSettings
from seasoned.example.library.storage import delete, save
from seasoned.example.provision import Begun
from seasoned.experiment.live.live_session import share_outcomes
from seasoned.store import Store, open_store
from tests.example.examples import example, keep_session, template
from tests.experiment.stored import add_call, add_session

TASK = ({"role": "user", "content": "Book the parcel."},)
TOOLS = [{"name": "book_parcel", "parameters": {"type": "object", "properties": {"size": {"type": "string"}}}}]
BOOKED = example("book_parcel", sessions=("codex:a", "codex:b"), result="booked")
HOUSE = template(
    "house",
    # As mining writes arguments, without spaces.
    msgspec.structs.replace(BOOKED, arguments='{"size":"XL"}'),
)


def _begin(config: Config, store: Store, session: str, said: list[str], project: str | None = "app:shop") -> Begun:
    return begin(
        store,
        config,
        NewSession(conversation=session, format="openai", messages=TASK, tools=TOOLS, project=project),
        WarmSettings(experiment="autumn"),
        now=1_760_000_000.0,
        warn=said.append,
    )


def _end(store: Store, session: str, *, ok: int, failed: int) -> None:
    """What a scan would write of a session: its calls, all soon after it began."""
    row = add_session(store, session)
    for number in range(ok + failed):
        kind = "ok" if number < ok else "failed"
        add_call(store, row, number, kind, 1_760_000_001.0, tool="book_parcel")


def test_each_machine_shows_what_the_arm_names_and_all_outcomes_count(tmp_path: Path, postgres_url: str) -> None:
    homes = [Config(home=tmp_path / name, database_url=postgres_url) for name in ("first", "second")]
    said: list[str] = []
    with open_store(homes[0].store_path) as first, open_store(homes[1].store_path) as second:
        for store in (first, second):
            for session in ("codex:a", "codex:b"):
                keep_session(store, session, application="shop")
        save(first, HOUSE)
        # The second has another template of the same name, which must not be shown, and the right one under another.
        save(second, template("house", example("other_tool")))
        save(second, msgspec.structs.replace(HOUSE, name="copy"))
        split = experiments.begin(homes[0], "autumn", "cold,template:house")
        begun = {
            f"codex:{at}-{n}": (at, _begin(homes[at], store, f"codex:{at}-{n}", said))
            for at, store in enumerate((first, second))
            for n in range(12)
        }
        assert not said
        # Every session in the arm was shown the template of the arm, on both machines; no other was shown any.
        for at in (0, 1):
            arms = {(one.arm, one.content is not None) for where, one in begun.values() if where == at}
            assert arms == {("cold", False), ("template:house", True)}
        ids = {one.example_ids for _, one in begun.values() if one.content is not None}
        assert ids == {(HOUSE.examples[0].id,)}
        for session, (at, _) in begun.items():
            _end((first, second)[at], session, ok=2, failed=at)
        for at, store in enumerate((first, second)):
            with shared_database(homes[at]) as database:
                assert share_outcomes(database, store, now=1_770_000_000.0) == 12
                assert share_outcomes(database, store, now=1_770_000_000.0) == 0
        report = experiments.live_experiment(homes[0], "autumn")
    assert report.split == split.digest
    assert sum(one.calls for one in report.arms) == 12 * 2 + 12 * 3
    assert sum(one.exposed for one in report.arms) == sum(one.content is not None for _, one in begun.values())


def test_a_machine_without_the_template_assigns_no_session_and_says_so(tmp_path: Path, postgres_url: str) -> None:
    homes = [Config(home=tmp_path / name, database_url=postgres_url) for name in ("first", "second")]
    said: list[str] = []
    with open_store(homes[0].store_path) as first, open_store(homes[1].store_path) as second:
        save(first, HOUSE)
        experiments.begin(homes[0], "autumn", "cold,template:house")
        shown = [_begin(homes[1], second, f"codex:{n}", said) for n in range(8)]
        assert {one.arm for one in shown} == {None} and {one.content for one in shown} == {None}
        assert len(said) == 8 and "'template:house'" in said[0] and "template import" in said[0]
        with shared_database(homes[0]) as database:
            assert not database.rows("experiment.assignments", {"experiment": "autumn"})
        assert _begin(homes[0], first, "codex:own", said).arm is not None
        delete(first, "house")
        assert _begin(homes[0], first, "codex:late", said).arm is None
