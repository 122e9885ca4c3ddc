"""Upkeep on scanned sessions: templates grow with new ones, what is stale retires, what harms is suspended."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from seasoned.config import load as load_config
from seasoned.example.block import Block
from seasoned.example.choose.offered import offered, schema_hash
from seasoned.example.example import Example
from seasoned.example.library.storage import (
    WarmBlock,
    keep_block,
    load,
    remember_block,
    save,
    set_state,
    snapshot,
    state_history,
)
from seasoned.example.library.upkeep import auto, changed, refresh, retire_stale, too_old, watch
from seasoned.example.mine.selection import MiningOptions
from seasoned.redact.key import Secrecy
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import Store, open_store
from tests.cli.run import seasoned
from tests.example.examples import example, template
from tests.example.guard_worlds import EXAMPLE, TOOL
from tests.history.claude_lines import ClaudeFile

KEY = Secrecy(b"k" * 32)
REDACTOR = KEY.redactor()
FIRST_DAY = 1_769_904_000.0
"""2026-02-01."""
DAY = 86_400.0
NOW = FIRST_DAY + 40 * DAY
SMALL = MiningOptions(min_messages=4)
FAILS = "Error: invalid order id: no such order"


class Place:
    """A folder of histories and the store that they are scanned into."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "projects" / "p"
        self.folder.mkdir(parents=True)
        self.path = folder / "home" / "seasoned.db"

    def session(self, name: str, day: int, *calls: tuple[str, dict[str, str], str, bool], words: str = "") -> None:
        """A session of that day of February; each call with its result and whether it failed."""
        file = ClaudeFile(name).user(words or "Please look up the order and tell me its state.")
        for number, (tool, arguments, result, has_failed) in enumerate(calls):
            call_id = f"toolu_{name}_{number}"
            file.says(f"I look at the order number {number}.").calls(call_id, tool, **arguments)
            file.result(call_id, result, has_failed)
        file.says("All of it is done now.")
        text = b"".join(file.lines).replace(b"2026-03-01", f"2026-02-{day:02}".encode())
        (self.folder / f"{name}.jsonl").write_bytes(text)

    def scanned(self) -> Store:
        scan(ScanTarget(self.path), [self.folder.parent], KEY, workers=1)
        return open_store(self.path)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def order(number: str, *, fails: bool = False) -> tuple[str, dict[str, str], str, bool]:
    return TOOL, {"order_id": number}, FAILS if fails else '{"state": "sent"}', fails


def shown_to(store: Store, session: str, *examples: Example) -> None:
    ids = tuple(one.id for one in examples)
    keep_block(store, WarmBlock(f"claude-code:{session}", "openai", "messages", "orders", 1, ids, b"[]", "d", 1.0))


def test_auto_builds_what_is_new_and_nothing_twice(place: Place) -> None:
    for number in range(3):
        place.session(f"s{number}", 1 + number, *(order(f"#W00{number}{k}123") for k in range(3)))
    with place.scanned() as store:
        (made,) = auto(store, now=NOW, redactor=REDACTOR, options=SMALL)
        assert (made.name, made.version, made.task_type) == ("auto-mixed", 1, "mixed")
        assert {one.tool for one in made.examples} == {TOOL}
        assert auto(store, now=NOW, redactor=REDACTOR, options=SMALL) == ()
    place.session("s9", 9, *(("Read", {"file_path": f"/home/mira/waypost/n{k}.md"}, "text", False) for k in range(4)))
    with place.scanned() as store:
        assert [made.name for made in auto(store, now=NOW, redactor=REDACTOR, options=SMALL)] == ["auto-file"]
    place.session("s8", 10, order("#W0099999"), ("get_user", {"user_id": "mira_hale_1234"}, '{"name": "M"}', False))
    with place.scanned() as store:
        (again,) = auto(store, now=NOW, redactor=REDACTOR, options=SMALL)
        assert (again.name, again.version) == ("auto-mixed", 2)
        assert {one.tool for one in again.examples} == {TOOL, "get_user"}
        assert load(store, "auto-mixed") == again


def test_auto_saves_nothing_where_there_is_nothing_good(place: Place) -> None:
    place.session("s0", 1, order("#W0012345", fails=True))
    with place.scanned() as store:
        assert auto(store, now=NOW, redactor=REDACTOR, options=SMALL) == ()
        assert snapshot(store).templates == ()


def test_another_schema_retires_an_example_and_a_reworded_one_does_not() -> None:
    schema = {"type": "object", "properties": {"order_id": {"type": "string", "description": "Which."}}}
    one = msgspec.structs.replace(EXAMPLE, schema_hash=schema_hash(schema))
    reworded = {"type": "object", "properties": {"order_id": {"type": "string", "description": "What."}}}
    renamed = {"type": "object", "properties": {"order": {"type": "string"}}}
    assert changed([one], offered({TOOL: reworded})) == ()
    (found,) = changed([one], offered({TOOL: renamed}))
    assert found.reason == "The schema of its tool has changed since it was made."
    assert found.evidence == {"was": schema_hash(schema), "is": schema_hash(renamed)}
    assert changed([EXAMPLE], offered({TOOL: renamed})) == ()


def test_two_later_sessions_that_fail_in_its_manner_retire_an_example_and_earlier_ones_do_not(place: Place) -> None:
    one = msgspec.structs.replace(EXAMPLE, last_seen=FIRST_DAY + 9.9 * DAY)
    for day in (3, 4, 5, 20):
        place.session(f"s{day}", day, order("#W0012345", fails=True))
    with place.scanned() as store:
        save(store, template("orders", one))
        assert retire_stale(store, snapshot(store), now=NOW) == (), "one session can be mistaken"
    place.session("s21", 21, order("#W0012346", fails=True), order("W-12346"))
    with place.scanned() as store:
        (found,) = retire_stale(store, snapshot(store), now=NOW)
        assert found.reason == (
            "Later sessions contradict it: calls made as it shows failed in 2 sessions since one last worked."
        )
        assert found.evidence["lineages"] == 2


def test_a_scan_retires_what_its_sessions_contradict(place: Place, home: Path) -> None:
    one = msgspec.structs.replace(EXAMPLE, last_seen=FIRST_DAY)
    for day in (5, 6):
        place.session(f"s{day}", day, order("#W0012345", fails=True))
    with open_store(load_config().store_path) as store:
        save(store, template("auto-mixed", one))
    seasoned("scan", place.folder.parent)
    with open_store(load_config().store_path) as store:
        assert snapshot(store).state_of(one.id) == "retired"


def test_what_failures_retired_is_shown_again_when_it_works(place: Place) -> None:
    one = msgspec.structs.replace(EXAMPLE, last_seen=FIRST_DAY)
    for day in (5, 6):
        place.session(f"s{day}", day, order("#W0012345", fails=True))
    with place.scanned() as store:
        save(store, template("orders", one))
        assert len(retire_stale(store, snapshot(store), now=NOW)) == 1
        assert retire_stale(store, snapshot(store), now=NOW) == ()
        assert snapshot(store).state_of(one.id) == "retired"
    place.session("s7", 7, order("#W0012345"))
    with place.scanned() as store:
        assert retire_stale(store, snapshot(store), now=NOW) == ()
        assert snapshot(store).state_of(one.id) == "active"


def test_the_guard_suspends_and_restores_in_the_store(place: Place) -> None:
    other = example("read_file", arguments={"path": "src/x"})
    for day in range(1, 4):
        place.session(f"cold{day}", day, *(order(f"#W001234{k}") for k in range(5)))
    for day in range(5, 8):
        place.session(f"warm{day}", day, order("#W0012345", fails=True), order("#W0012346", fails=True))
    with place.scanned() as store:
        save(store, template("orders", EXAMPLE, other))
        for day in range(5, 8):
            shown_to(store, f"warm{day}", EXAMPLE, other)
        (ruling,) = watch(store, snapshot(store), now=FIRST_DAY + 10 * DAY)
        assert (ruling.example_id, ruling.decision) == (EXAMPLE.id, "suspend")
        assert ruling.usual < 0.1
        library = snapshot(store)
        assert library.state_of(EXAMPLE.id) == "suspended"
        assert library.states[EXAMPLE.id].evidence["calls"][0]["session"] == "claude-code:warm5"
        assert watch(store, library, now=FIRST_DAY + 11 * DAY) == ()
    for day in range(15, 20):
        place.session(f"later{day}", day, order("#W0012345"), order("#W0012346"))
    with place.scanned() as store:
        (ruling,) = watch(store, snapshot(store), now=FIRST_DAY + 25 * DAY)
        assert ruling.decision == "restore"
        library = snapshot(store)
        assert library.state_of(EXAMPLE.id) == "active"
        assert [state.state for state in state_history(store, EXAMPLE.id)] == ["suspended", "active"]
        # What it was suspended for lies before the restoration and is not held against it again.
        assert watch(store, library, now=FIRST_DAY + 26 * DAY) == ()


def test_a_person_who_restores_an_example_is_heard(place: Place) -> None:
    for day in range(5, 8):
        place.session(f"warm{day}", day, order("#W0012345", fails=True), order("#W0012346", fails=True))
    with place.scanned() as store:
        save(store, template("orders", EXAMPLE))
        for day in range(5, 8):
            shown_to(store, f"warm{day}", EXAMPLE)
        set_state(store, EXAMPLE.id, "active", "The tool was mended.", None, now=FIRST_DAY + 12 * DAY)
        assert watch(store, snapshot(store), now=FIRST_DAY + 13 * DAY) == ()


def test_auto_learns_nothing_that_is_too_old_to_be_shown_and_says_how_much(place: Place) -> None:
    for number in range(3):
        place.session(f"s{number}", 1 + number, *(order(f"#W00{number}{k}123") for k in range(3)))
    with place.scanned() as store:
        late = FIRST_DAY + 200 * DAY
        assert auto(store, now=late, redactor=REDACTOR, options=SMALL) == ()
        assert too_old(store, now=late, options=SMALL) == 3 and too_old(store, now=NOW, options=SMALL) == 0
        some = FIRST_DAY + 181.9 * DAY
        (made,) = auto(store, now=some, redactor=REDACTOR, options=SMALL)
        assert made.sources == ("claude-code:s2",) and too_old(store, now=some, options=SMALL) == 2
        assert snapshot(store, now=some).active(made) == made.examples


def test_what_a_person_built_is_left_alone_where_that_is_asked(place: Place) -> None:
    mine, own = (msgspec.structs.replace(EXAMPLE, last_seen=FIRST_DAY, intent=text) for text in ("Mine.", "Its own."))
    for day in range(5, 9):
        place.session(f"s{day}", day, order("#W0012345", fails=True), order("#W0012346", fails=True))
    with place.scanned() as store:
        save(store, template("orders", mine))
        save(store, template("auto-mixed", mine, own))
        (found,) = retire_stale(store, snapshot(store), now=NOW, only_auto=True)
        assert found.example_id == own.id
        assert [one.example_id for one in retire_stale(store, snapshot(store), now=NOW)] == [mine.id]


def test_a_session_that_carries_a_block_is_watched_wherever_it_was_put_in(place: Place) -> None:
    block = Block("orders@1", (EXAMPLE,))
    for day in range(1, 4):
        place.session(f"cold{day}", day, *(order(f"#W001234{k}") for k in range(5)))
    for day in range(5, 8):
        calls = (order("#W0012345", fails=True), order("#W0012346", fails=True))
        place.session(f"warm{day}", day, *calls, words=f"{block.mark}\nExamples.\n[seasoned:end]")
    with place.scanned() as store:
        save(store, template("orders", EXAMPLE))
        marks = {row["marks"] for row in store.connection.execute("SELECT marks FROM session")}
        assert marks == {None, f'["{block.digest}"]'}
        assert watch(store, snapshot(store), now=FIRST_DAY + 10 * DAY) == (), "nobody knows yet what it showed"
        remember_block(store, block.digest, [EXAMPLE.id], now=1.0)
        (ruling,) = watch(store, snapshot(store), now=FIRST_DAY + 10 * DAY)
        assert (ruling.example_id, ruling.decision, ruling.lineages) == (EXAMPLE.id, "suspend", 2)
        assert ruling.usual < 0.1, "their failures are not those of cold sessions"


def test_what_a_tool_returns_or_the_model_says_marks_no_session(place: Place) -> None:
    mark = Block("orders@1", (EXAMPLE,)).mark
    place.session("s1", 1, (TOOL, {"order_id": "#W1"}, mark, False))
    file = ClaudeFile("s2").user("Look.").says(mark)
    (place.folder / "s2.jsonl").write_bytes(b"".join(file.lines))
    with place.scanned() as store:
        assert store.connection.execute("SELECT count(marks) FROM session").fetchone()[0] == 0


def test_what_followed_an_example_that_was_shown_is_counted(place: Place) -> None:
    for day in (5, 6):
        place.session(f"warm{day}", day, order("#W0012345"), order("#W0012346"))
    with place.scanned() as store:
        save(store, template("orders", EXAMPLE))
        for day in (5, 6):
            shown_to(store, f"warm{day}", EXAMPLE)
        assert watch(store, snapshot(store), now=NOW) == ()
        assert snapshot(store).effects == {EXAMPLE.id: (4, 0)}


def test_an_imported_example_is_proven_by_a_call_written_like_it(place: Place) -> None:
    known, strange = (msgspec.structs.replace(EXAMPLE, tier="imported", tool=tool) for tool in (TOOL, "other_tool"))
    place.session("s1", 5, order("#W0012345"))
    with place.scanned() as store:
        save(store, template("orders", known, strange))
        refresh(store, now=NOW, redactor=REDACTOR, options=SMALL)
        assert snapshot(store).effects == {known.id: (1, 0)}
