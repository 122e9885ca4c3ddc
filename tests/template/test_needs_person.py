"""What needs a person is never shown as a call: at most a note tells how its arguments are written."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from seasoned.command.risk import needs_person
from seasoned.redact import Redactor, Secrecy
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import open_store
from seasoned.template.library.storage import Library
from seasoned.template.mine.miner import build, mine
from seasoned.template.mine.selection import MiningOptions
from seasoned.template.provision import provision
from tests.history.claude_lines import ClaudeFile
from tests.template import sessions
from tests.template.examples import example, template
from tests.template.sessions import call, session

HELD = [
    "stripe payouts create --amount 5000 --currency usd",
    "supabase db reset --linked",
    "bq rm -r -f analytics",
    "cqlsh -e 'DROP KEYSPACE orders'",
]
EVERYDAY = ["make check T=tests/test_eta.py", "wp report late --week 2026-W11"]
NOW = datetime(2026, 3, 10, tzinfo=UTC).timestamp()


def test_a_template_holds_nothing_of_what_needs_a_person(tmp_path: Path) -> None:
    assert all(needs_person("Bash", {"command": command}) for command in HELD)
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(3):
        file = ClaudeFile(f"{number:08d}-2222-4333-8444-555555555555").user("Run the monthly routine, please.")
        for at, command in enumerate([*HELD, *EVERYDAY] * 3):
            call_id = f"toolu_{number:08d}{at:016d}"
            file.says(f"The routine: {command.split()[0]}.").calls(call_id, "Bash", command=command)
            file.result(call_id, "done: 1 line", is_error=False)
        file.says("The routine is finished.").write(folder / f"{number}.jsonl")
    scan(ScanTarget(tmp_path / "seasoned.db"), [folder], Secrecy(b"k" * 32), workers=1)
    store = open_store(tmp_path / "seasoned.db")
    options = MiningOptions(min_messages=2)
    made = build(store, name="routine", now=NOW, redactor=Redactor(b"k" * 32), options=options)
    learned = msgspec.json.encode((made.examples, made.notes, made.workflows)).decode()
    assert [command for command in EVERYDAY if command.split()[0] not in learned] == []
    assert [command for command in HELD if command.split()[0] in learned] == []


def test_an_older_template_shows_nothing_that_needs_a_person() -> None:
    shown = [example("Bash", arguments={"command": command}, pattern=command) for command in (HELD[0], EVERYDAY[0])]
    library = Library(templates=(template("routine", *shown, notes=(), workflows=()),))
    made = provision([], library=library, tools=["Bash"], task="Find where it starts, as in the monthly routine.")
    assert EVERYDAY[0] in str(made.messages)
    assert "stripe" not in str(made.messages)


def test_a_payment_is_told_as_a_note_and_never_as_a_call() -> None:
    tracks = [
        session(
            f"s{at}",
            call("transfer_funds", amount=100 * at + 999, account=f"#A-77{at}41"),
            call("get_parcel", parcel_id=f"#P-0041{at}"),
        )
        for at in range(4)
    ]
    made = mine(tracks, name="routine", now=sessions.NOW, redactor=sessions.REDACTOR, options=sessions.SMALL)
    assert made is not None
    assert {one.tool for one in made.examples} == {"get_parcel"}
    library = Library(templates=(made,))
    tools = ["transfer_funds", "get_parcel"]
    guided = provision([], library=library, tools=tools, task="Send the money.", form="guidance")
    assert "`transfer_funds`: give `amount` as a whole number" in str(guided.messages)
    called = provision([], library=library, tools=tools, task="Send the money.")
    assert "get_parcel" in str(called.messages) and "transfer_funds" not in str(called.messages)
