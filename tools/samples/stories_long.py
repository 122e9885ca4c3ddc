"""The long session: carrier by carrier, through a compaction after which old mistakes come back for a while."""

from __future__ import annotations

from samples.commands import (
    bare_pytest,
    check,
    check_fails,
    commit,
    lint,
    log,
    push,
    status,
    wp_deploy,
    wp_late,
    wp_show,
)
from samples.stories_claude import MIDDLE, WEB_LOOKUP
from samples.story import Compact, Edit, Find, Plan, Read, Say, Shell, Step, Story, User, Write, do, each

CLIENT = "src/waypost/carriers/client.py"
PLAN = ("Back off between attempts", "Hollis & Byrne", "Arden Post", "Kestrel", "Lowmoor", "Staging")
_SUMMARY = """Summary:
1. Request: retries that back off, and one module for each carrier under src/waypost/carriers.
2. Done: client.py waits 2, 4 and 8 seconds; hollis.py and arden.py with their tests.
3. Left: kestrel.py, lowmoor.py, then staging.
4. Errors met: E501 in client.py, corrected. A test of arden failed once because of a wrong status word.
Next: write kestrel.py in the same way."""


def _module(name: str, words: dict[str, str]) -> str:
    rows = "\n".join(f'    "{theirs}": "{ours}",' for theirs, ours in words.items())
    return (
        f'"""What {name.title()} says, in our words."""\n\n'
        "from waypost.carriers.client import fetch\n\n"
        f"WORDS = {{\n{rows}\n}}\n\n\n"
        "def last_kind(reference: str) -> str:\n"
        f'    answer = fetch("{name}", reference)\n'
        '    return WORDS[str(answer["state"])]\n'
    )


def _test(name: str, theirs: str, ours: str) -> str:
    return (
        f"from waypost.carriers import {name}\n\n\n"
        "def test_words(monkeypatch):\n"
        f'    monkeypatch.setattr({name}, "fetch", lambda carrier, reference: {{"state": "{theirs}"}})\n'
        f'    assert {name}.last_kind("X-1") == "{ours}"\n'
    )


def _carrier(name: str, words: dict[str, str], number: int, passed: int) -> list[Step]:
    """The usual way to add a carrier, without mistakes."""
    theirs, ours = next(iter(words.items()))
    return [
        do(f"Next is {name}.", Write(f"src/waypost/carriers/{name}.py", _module(name, words))),
        *each(
            Write(f"tests/test_{name}.py", _test(name, theirs, ours)),
            check(f"tests/test_{name}.py", 1),
            lint(),
            wp_show(number),
            check("", passed),
            commit(f"Add the carrier {name}", 2, 19, 0),
        ),
    ]


_BACK_OFF: list[Step] = [
    User(
        "Retries hammer the carriers. Back off between attempts, then give each of the four carriers its own module.",
        0,
    ),
    do(Plan(PLAN)),
    do(Read(CLIENT), Read("tests/test_client.py")),
    do("What do the carriers ask for?", WEB_LOOKUP),
    do(Edit(CLIENT, "            time.sleep(1)", "            time.sleep(2 ** (attempt + 1))")),
    do(check("tests/test_client.py", 1)),
    do(
        Edit(
            "tests/test_client.py",
            '    monkeypatch.setattr(client.time, "sleep", lambda seconds: None)',
            '    waits = []\n    monkeypatch.setattr(client.time, "sleep", waits.append)',
        )
    ),
    do(
        Edit(
            "tests/test_client.py",
            '        client.fetch("hollis", "HB-77120")',
            '        client.fetch("hollis", "HB-77120")\n    assert waits == [2, 4]',
        )
    ),
    do(
        check_fails(
            "tests/test_client.py",
            "test_gives_up_after_three",
            "assert waits == [2, 4]\nassert [2, 4, 8] == [2, 4]\nLeft contains one more item: 8",
            passed=0,
        )
    ),
    do("It sleeps once more after the last attempt; that is wasted time.", Read(CLIENT, first=11, limit=14)),
    do(
        Edit(
            CLIENT,
            "        except httpx.HTTPError:\n            time.sleep(2 ** (attempt + 1))",
            "        except httpx.HTTPError:\n"
            "            if attempt < 2:\n                time.sleep(2 ** (attempt + 1))",
        )
    ),
    do(check("tests/test_client.py", 1)),
    do(lint(f"{CLIENT}:24:89: E501 Line too long (91 > 88)")),
    do(
        Edit(
            CLIENT,
            '    raise CarrierFailed(f"{carrier} failed three times")',
            '    raise CarrierFailed(f"{carrier} failed")',
        )
    ),
    do(lint()),
    do(check("", 43)),
    do(commit("Back off between attempts", 2, 6, 3)),
    do(Plan(PLAN, 1)),
]

_TWO_CARRIERS: list[Step] = [
    *_carrier("hollis", {"ACC": "accepted", "SRT": "sorted", "DLV": "delivered"}, 417, 44),
    do(Plan(PLAN, 2)),
    User("Looks good. Arden writes its states in lower case, keep that in mind.", 200),
    do(Write("src/waypost/carriers/arden.py", _module("arden", {"angenommen": "accepted", "sortiert": "sorted"}))),
    do(Write("tests/test_arden.py", _test("arden", "zugestellt", "delivered"))),
    do(
        check_fails(
            "tests/test_arden.py",
            "test_words",
            "return WORDS[str(answer[\"state\"])]\nKeyError: 'zugestellt'",
            passed=0,
        )
    ),
    do(
        Edit(
            "src/waypost/carriers/arden.py",
            '    "sortiert": "sorted",',
            '    "sortiert": "sorted",\n    "zugestellt": "delivered",',
        )
    ),
    do(check("tests/test_arden.py", 1)),
    do(lint()),
    do(wp_show(389), wp_show(401)),
    do(check("", 45)),
    do(commit("Add the carrier arden", 2, 20, 0)),
    do(status(), log("Add the carrier arden", "Add the carrier hollis", "Back off between attempts")),
    do(Plan(PLAN, 3)),
]

_AFTERWARDS: list[Step] = [
    do("Going on with kestrel.", Read("waypost/carriers/arden.py", pattern="src-root")),
    do(Read("src/waypost/carriers/arden.py", pattern="src-root")),
    do(
        Write(
            "src/waypost/carriers/kestrel.py", _module("kestrel", {"10": "accepted", "20": "sorted", "90": "delivered"})
        )
    ),
    do(Write("tests/test_kestrel.py", _test("kestrel", "90", "delivered"))),
    do(bare_pytest("tests/test_kestrel.py")),
    do(bare_pytest("tests")),
    do("The tests go through make here.", Read("Makefile")),
    do(check("tests/test_kestrel.py", 1)),
    do(lint()),
    do(wp_show(402, "402")),
    do(wp_show(402, "P-00402")),
    do(Find("#P-", "src")),
    do(wp_show(402)),
    do(check("", 46)),
    do(commit("Add the carrier kestrel", 2, 19, 0)),
    do(Plan(PLAN, 4)),
    User("And lowmoor, then staging. Tell me how late W11 was, too.", 150),
    *_carrier("lowmoor", {"IN": "accepted", "OUT": "out", "END": "delivered"}, 431, 47),
    do(Plan(PLAN, 5)),
    do(wp_late(11, "11")),
    do(wp_late(11)),
    do(wp_deploy(None)),
    do(wp_deploy("--env")),
    do(Shell("curl -s https://stage1.waypost.example/healthz", '{"ok":true,"errors":0}', 0, "Check the health")),
    do(push()),
    do(Plan(PLAN, 6)),
    Say(
        "All four carriers have modules with tests, retries back off, staging runs it. The report of 2026-W11 is above."
    ),
]

CARRIER_BY_CARRIER = Story(
    "carrier by carrier",
    "2026-03-16T08:04:33",
    (*_BACK_OFF, *_TWO_CARRIERS, Compact(_SUMMARY), *_AFTERWARDS),
    MIDDLE,
)
