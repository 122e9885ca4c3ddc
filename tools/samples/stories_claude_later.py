"""Mira's later sessions with Claude Code: fewer mistakes, until a flag gets another name."""

from __future__ import annotations

from samples.commands import (
    check,
    check_fails,
    commit,
    go_test,
    grep_nothing,
    lint,
    push,
    status,
    typecheck,
    wp_deploy,
    wp_late,
    wp_show,
)
from samples.stories_claude import ETA, MIDDLE, NEW
from samples.story import (
    ApiError,
    Atlas,
    Broken,
    Delegate,
    Edit,
    Find,
    Interrupt,
    Plan,
    Read,
    Resume,
    Say,
    Shell,
    Story,
    User,
    Write,
    do,
)

WITH_A_SUBAGENT = Story(
    "where errors come from",
    "2026-03-24T09:45:30",
    (
        User("I want one place where carrier failures become API errors. Find out first where they are raised.", 0),
        do(Plan(("Find where errors are raised", "Move it to one place", "Run the tests"))),
        Delegate(
            "Find raised errors",
            "List every place under src/ that raises CarrierFailed or catches httpx errors. Report file and line.",
            (
                do(Find("CarrierFailed", "waypost", pattern="src-root")),
                do(Find("CarrierFailed", "src", pattern="src-root"), Find("httpx.HTTPError", "src")),
                do(Read("src/waypost/carriers/client.py")),
                do(Atlas("CarrierFailed", "src/waypost", pattern="ws-path")),
                do(
                    Atlas(
                        "CarrierFailed",
                        "ws/waypost/src",
                        ("ws/waypost/src/waypost/carriers/client.py:24",),
                        pattern="ws-path",
                    )
                ),
                do(Read("src/waypost/api/errors.py")),
            ),
            "CarrierFailed is defined in src/waypost/api/errors.py and raised in src/waypost/carriers/client.py only. "
            "Nothing else catches httpx errors.",
        ),
        do(Read("src/waypost/api/routes.py"), Read("src/waypost/api/errors.py", first=20, limit=12)),
        do(
            "One place is enough: a handler in `errors.py`.",
            Edit(
                "src/waypost/api/errors.py",
                '    return {"error": error.code, "detail": str(error)}',
                '    return {"error": error.code, "detail": str(error), "status": str(error.status)}',
                problem="absent",
                pattern="exact-text",
            ),
        ),
        do(
            Edit(
                "src/waypost/api/errors.py",
                '    return {"error": error.code, "message": str(error) or "unknown error"}',
                '    return {"error": error.code, "message": str(error) or "unknown error"}\n\n\n'
                "def from_carrier(carrier: str, attempts: int) -> CarrierFailed:\n"
                '    return CarrierFailed(f"{carrier} failed {attempts} times")',
                pattern="exact-text",
            )
        ),
        do(check("tests/test_client.py", 3)),
        do(wp_show(502), wp_late(12)),
        do(lint("src/waypost/api/errors.py:38:89: E501 Line too long (89 > 88)")),
        do(Edit("src/waypost/api/errors.py", 'str(error) or "unknown error"}', 'str(error) or "unknown"}')),
        do(lint()),
        do(check("", 55)),
        do(Plan(("Find where errors are raised", "Move it to one place", "Run the tests"), 3)),
        do(commit("Make carrier failures in one place", 1, 5, 1)),
        Say("Carrier failures are now made in `errors.py` by `from_carrier`. All 55 tests pass."),
    ),
    MIDDLE,
)

BEHIND_A_PIPE = Story(
    "behind a pipe",
    "2026-04-02T08:55:12",
    (
        User("Returned parcels should have no ETA. Make `estimate` return None for them.", 0),
        do(Find("def estimate", "src"), Read("src/waypost/tracking/events.py")),
        do(
            Edit(
                ETA,
                "    start = last.at.date()\n",
                "    if last.kind == 'returned':\n        return None\n    start = last.at.date()\n",
                problem="unread",
                pattern="read-first",
            ),
        ),
        do(Read(ETA)),
        do(
            Edit(
                ETA,
                "    start = last.at.date()\n",
                '    if last.kind == "returned":\n        return None\n    start = last.at.date()\n',
                pattern="read-first",
            )
        ),
        do(
            check_fails(
                "tests/test_eta.py",
                "test_a_returned_parcel_has_no_day",
                "assert show(parcel)['eta'] is None\nAttributeError: 'NoneType' object has no attribute 'day'",
                passed=4,
                tail=True,
            )
        ),
        do("The route reads `.day` without looking.", Read("src/waypost/api/routes.py", first=14, limit=14)),
        do(
            Edit(
                "src/waypost/api/routes.py",
                '    return {"id": number, "eta": eta.day.isoformat(), "sure": eta.sure}',
                "    if eta is None:\n"
                '        return {"id": number, "eta": None, "sure": False}\n'
                '    return {"id": number, "eta": eta.day.isoformat(), "sure": eta.sure}',
            )
        ),
        do(
            check_fails(
                "tests/test_routes.py",
                "test_show_returned",
                "assert answer.json()['sure'] is None\nAssertionError: assert False is None",
                passed=6,
                tail=True,
            )
        ),
        do(Shell("make check 2>&1", "................", 0, "Run all tests", fate="aborted", seconds=31)),
        Interrupt(),
        User("That test was wrong, Ines corrected it on main. Pull and run again.", 50),
        do(
            Shell(
                "git pull -q --rebase --autostash && git log -1 --oneline",
                "b7c01de Correct the test of returned parcels",
                0,
                "Pull",
            )
        ),
        do(check("", 58)),
        do(wp_show(388), wp_show(401), wp_show(417)),
        do(wp_deploy("--env")),
        do(commit("No day for returned parcels", 2, 7, 1)),
        Say("Returned parcels have no ETA any more, on staging too. 58 tests pass."),
    ),
    NEW,
)

TAKEN_UP_AGAIN = Story(
    "taken up again",
    "2026-04-09T15:10:44",
    (
        User("Start on the weekly mail to the depots: late parcels per depot, sent on Mondays.", 0),
        do(Plan(("Find what the report gives", "Write the mail", "Try it on staging"))),
        do(Find("late", "src"), Find("week_of", "src", names_only=True)),
        do(wp_late(14)),
        do(
            Write(
                "src/waypost/mail/weekly.py",
                '"""The mail that depots get on Mondays."""\n\nfrom waypost.weeks import week_of\n\n\n'
                "def subject(today):\n    return f'Late parcels, {week_of(today)}'\n",
            )
        ),
        do(lint("src/waypost/mail/weekly.py:7:12: Q000 Single quotes found but double quotes preferred")),
        do(
            Edit(
                "src/waypost/mail/weekly.py",
                "    return f'Late parcels, {week_of(today)}'",
                '    return f"Late parcels, {week_of(today)}"',
            )
        ),
        do(lint()),
        do("Let me see how long a full run takes.", Shell("make check", "", 0, "Run all tests", fate="lost")),
        Broken(),
        Resume(16.5),
        User("My machine went down yesterday. Go on, please.", 5),
        do(status("src/waypost/mail/weekly.py")),
        do(check("", 58)),
        do(Read("src/waypost/mail/weekly.py"), Read("src/waypost/weeks.py")),
        do(
            Edit(
                "src/waypost/mail/weekly.py",
                "def subject(today):",
                "def body(rows):\n"
                '    return "\\n".join(f"{depot}: {late} of {parcels} late" for depot, parcels, late in rows)\n\n\n'
                "def subject(today):",
            )
        ),
        do(
            Write(
                "tests/test_weekly.py",
                "from waypost.mail.weekly import body\n\n\ndef test_a_line_for_each_depot():\n"
                '    assert body([("Arden", 120, 4)]) == "Arden: 4 of 120 late"\n',
            )
        ),
        do(check("tests/test_weekly.py", 1)),
        do(wp_deploy("--env")),
        do(Plan(("Find what the report gives", "Write the mail", "Try it on staging"), 3)),
        do(commit("Weekly mail to the depots", 2, 17, 0)),
        Say("The weekly mail is there with a test, and staging runs it."),
    ),
    NEW,
)

ANOTHER_WAY = Story(
    "another way",
    "2026-04-14T09:20:00",
    (
        User("Try another way here: one mail for each depot instead of one for all.", 0),
        do(Read("src/waypost/mail/weekly.py")),
        do(
            Edit(
                "src/waypost/mail/weekly.py",
                "def subject(today):\n",
                "def mails(rows, today):\n"
                "    return [(depot, subject(today), body([row])) for row in rows]\n\n\ndef subject(today):\n",
            )
        ),
        do(lint("src/waypost/mail/weekly.py:11:14: F821 Undefined name `depot`")),
        do(Edit("src/waypost/mail/weekly.py", "[(depot, subject(today)", "[(row[0], subject(today)")),
        do(lint(), check("tests/test_weekly.py", 1)),
        do(wp_late(15)),
        Say("`mails` gives one mail for each depot."),
    ),
    NEW,
)

RENAMED = Story(
    "the flag is renamed",
    "2026-04-23T10:05:18",
    (
        User("Send the weekly mail at 7 instead of 8 and put it on staging.", 0),
        do(Find("Mondays", "src"), Read("src/waypost/mail/weekly.py")),
        do(
            Edit(
                "src/waypost/mail/weekly.py",
                "from waypost.weeks import week_of\n",
                "from waypost.weeks import week_of\n\nSEND_AT_HOUR = 7\n",
            )
        ),
        do(check("", 59)),
        do("Staging next.", wp_deploy("--env", renamed=True)),
        do(wp_deploy("--env", renamed=True)),
        do(
            "The flag is gone. What does the tool say?",
            Shell(
                "wp deploy --help",
                "wp deploy preview|release --stage STAGE\n\n  --stage  staging or production (was --env until 4.0)\n",
                0,
                "Help of wp deploy",
            ),
        ),
        do(wp_deploy("--stage", renamed=True)),
        do(wp_show(431), wp_show(433)),
        do(commit("Send the weekly mail at 7", 1, 2, 0)),
        do(push()),
        Say("The mail goes out at 7. `wp` 4.0 calls the flag `--stage`; staging is up."),
        User("Does the readme say anything about --env?", 200),
        do(Find("--env", "README.md"), grep_nothing("--env", "docs ops")),
        Say("No, nothing to correct."),
    ),
    NEW,
)

KNOWN_GROUND = Story(
    "known ground",
    "2026-05-06T08:30:02",
    (
        User("Parcels that wait for customs should show 'waiting'. Backend, page and scanner tool, please.", 0),
        do(Plan(("Backend", "Page", "Scanner tool", "Staging"))),
        do(Read("src/waypost/tracking/events.py"), Read(ETA), Read("web/src/TrackPage.tsx")),
        do(Edit("src/waypost/tracking/events.py", '"out", "delivered"', '"customs", "out", "delivered"')),
        do(
            Edit(
                ETA,
                '    if last.kind == "returned":',
                '    if last.kind in ("returned", "customs"):',
            )
        ),
        do(check("tests/test_eta.py", 6)),
        do(check("tests/test_events.py", 4)),
        do(Plan(("Backend", "Page", "Scanner tool", "Staging"), 1)),
        do(
            Edit(
                "web/src/TrackPage.tsx",
                "  if (!parcel) return <p>Looking for {id}…</p>;",
                "  if (!parcel) return <p>Looking for {id}…</p>;\n  if (!parcel.eta) return <h1>Waiting</h1>;",
            )
        ),
        do(typecheck()),
        do(Read("tools/wpscan/scan.go", first=10, limit=20)),
        do(go_test()),
        do(
            Atlas("customs", "ws/depots", ("ws/depots/tarn/2026-W18.csv:88: #P-00460;Tarn;customs",), pattern="ws-path")
        ),
        do(wp_show(460)),
        do(Plan(("Backend", "Page", "Scanner tool", "Staging"), 3)),
        do(lint(), check("", 61)),
        do(wp_deploy("--env", renamed=True)),
        do(wp_deploy("--stage", renamed=True)),
        do(wp_late(18)),
        do(commit("Show parcels that wait for customs", 3, 6, 2)),
        do(push()),
        Say("Parcels in customs show 'Waiting'. The scanner tool needed no change. Staging is up, everything passes."),
    ),
    NEW,
)

SHORT_AND_WELL = Story(
    "short and well",
    "2026-05-12T16:02:40",
    (
        User("How late was Tarn in week 19? And does main still pass?", 0),
        ApiError(),
        User("Again, please.", 15),
        do(wp_late(19), check("", 61)),
        Say("The row of Tarn is the last one of the report. All 61 tests pass."),
    ),
    NEW,
)

LATER = (
    WITH_A_SUBAGENT,
    BEHIND_A_PIPE,
    TAKEN_UP_AGAIN,
    ANOTHER_WAY,
    RENAMED,
    KNOWN_GROUND,
    SHORT_AND_WELL,
)
