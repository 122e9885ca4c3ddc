"""The team's Hermes: reports, logs, small repairs, and what it keeps in its memory."""

from __future__ import annotations

import json
from typing import Any

from samples.commands import bare_pytest, check, check_fails, commit, grep_nothing, lint, wp_deploy, wp_late, wp_show
from samples.story import Edit, Find, Other, Plan, Read, Say, Shell, Story, User, Write, do, each

ETA = "src/waypost/tracking/eta.py"
LOG = "logs/app-2026-03-11.log"
FAKE_BEARER = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJleGFtcGxlIn0.bm90LWEtcmVhbC1zaWduYXR1cmU"
_LOOP = (
    "\n\n[Tool loop warning: same_tool_failure_warning; count=3; patch has failed 3 times this turn. "
    "Look at the file before you try again.]"
)


def remember(content: str, entries: int, *, full: bool = False) -> Other:
    """Keep a note; a full store refuses it."""
    arguments = {"action": "add", "target": "memory", "content": content}
    if full:
        error = f"Memory at 2,188/2,200 chars. Adding this entry ({len(content)} chars) would exceed the limit."
        return Other("memory", arguments, {"success": False, "error": error, "usage": "2,188/2,200"}, failed=True)
    used = f"{entries * 4}% — {entries * 88}/2,200 chars"
    result = {"success": True, "done": True, "target": "memory", "usage": used, "entry_count": entries}
    return Other("memory", arguments, result | {"message": "Entry added."})


def run_code(code: str, output: str, *, error: str = "", **more: Any) -> Other:
    """Run Python; an exception is a failure."""
    sizes = {"tool_calls_made": 0, "duration_seconds": 0.07, "stdout_truncated": False}
    if error:
        trace = f'Traceback (most recent call last):\n  File "/tmp/sandbox/script.py", line 3, in <module>\n{error}\n'
        result = {"status": "error", "output": f"\n--- stderr ---\n{trace}", "exit_code": 1, **sizes, "error": trace}
        return Other("execute_code", {"code": code}, result, failed=True, **more)
    return Other(
        "execute_code", {"code": code}, {"status": "success", "output": output, "exit_code": 0, **sizes}, **more
    )


def failed_patch(path: str, old: str, new: str) -> Other:
    """The third patch in a row that does not fit, with the warning that Hermes adds."""
    arguments = {"mode": "replace", "path": f"/home/mira/waypost/{path}", "old_string": old, "new_string": new}
    result = json.dumps({"success": False, "error": "Could not find a match for old_string in the file"})
    return Other("patch", arguments, result + _LOOP, failed=True, pattern="exact-text")


MORNING_REPORT = Story(
    "morning report",
    "2026-02-20T07:00:12",
    (
        User("Every Friday I need the late parcels of the week, and where #417 and #389 are. Start with today.", 0),
        do("I'll get the report.", wp_late(8, "2026-02-20")),
        do(wp_late(8, "8")),
        do("Let me see how weeks are written.", Find("iso", "waypost", pattern="src-root")),
        do(Find("isocalendar", "src", pattern="src-root")),
        do(wp_late(8)),
        do(wp_show(417, "#417"), wp_show(389, "#389")),
        do(wp_show(417), wp_show(389)),
        do(remember("wp wants ids like #P-00417 and weeks like 2026-W08", 1)),
        Say("The report of 2026-W08 is above; both parcels are in transit."),
        User("Send it to Lena as well: lena.brandt@waypost.example, phone +1 555 0142.", 60),
        do(
            Shell(
                "wp mail send --to lena.brandt@waypost.example --report late --week 2026-W08",
                "queued m-20911",
                0,
                "Send the report",
            )
        ),
        Say("It is on its way to Lena."),
    ),
    {"platform": "telegram"},
)

NEXT_FRIDAY = Story(
    "next friday",
    "2026-03-02T07:01:30",
    (
        User("The same for last week, please.", 0),
        do(wp_late(9)),
        do(wp_show(417), wp_show(389)),
        do(
            Shell(
                "wp mail send --to lena.brandt@waypost.example --report late --week 2026-W09",
                "wp: mail server answered 451, try again later",
                75,
                "Send the report",
                fault="environment",
            )
        ),
        do(
            Shell(
                "sleep 60; wp mail send --to lena.brandt@waypost.example --report late --week 2026-W09",
                "queued m-21544",
                0,
                "Send the report",
                seconds=61,
            )
        ),
        Say("Sent. The mail server refused it once and took it a minute later."),
    ),
    {"platform": "telegram"},
)

A_NIGHT_OF_ERRORS = Story(
    "a night of errors",
    "2026-03-12T08:15:40",
    (
        User("Yesterday's log is full of errors. What failed, how often, and what should we repair?", 0),
        do(Plan(("Read the log", "Count", "Find the cause of the 500"))),
        do(Read("app-2026-03-11.log", pattern="log-folder")),
        do(Read(LOG, pattern="log-folder")),
        do(
            run_code(
                "import collections\nlines = open('logs/app-2026-03-11.log')\n"
                "print(collections.Counter(l.split()[2] for l in lines if l.levelname == 'ERROR'))",
                "",
                error="AttributeError: 'str' object has no attribute 'levelname'",
                pattern="log-lines",
            )
        ),
        do(
            run_code(
                "import collections\nlines = open('logs/app-2026-03-11.log')\n"
                "print(collections.Counter(l.split()[2] for l in lines))",
                "Counter({'ERROR': 10, 'INFO': 4, 'WARN': 1})\n",
                pattern="log-lines",
            )
        ),
        do(Plan(("Read the log", "Count", "Find the cause of the 500"), 2)),
        do("The 500 is an IndexError in `estimate`.", Read("waypost/tracking/eta.py", pattern="src-root")),
        do(Read(ETA, pattern="src-root")),
        do(Find("no_scans", "src")),
        do(grep_nothing("events == []", "src tests")),
        do(Edit(ETA, "    last = events[-1]\n", "    if not events:\n        return None\n    last = events[-1]\n")),
        do(bare_pytest("tests/test_eta.py")),
        do(check("tests/test_eta.py", 3)),
        do(wp_show(502)),
        do(remember("Tests of waypost run through make check", 2)),
        do(Plan(("Read the log", "Count", "Find the cause of the 500"), 3)),
        Say("Ten error lines: five of carriers, one bad id, four of one fault: a parcel without scans. Repaired."),
    ),
)

THREE_PATCHES = Story(
    "three patches",
    "2026-03-27T16:40:02",
    (
        User("Add the depot to the ETA answer. Then delete the old logs.", 0),
        do(Read("src/waypost/api/routes.py")),
        do(
            Edit(
                "src/waypost/api/routes.py",
                '    return {"id": number, "eta": eta.day}',
                '    return {"id": number, "eta": eta.day, "depot": parcel.depot}',
                problem="absent",
                pattern="exact-text",
            )
        ),
        do(
            Edit(
                "src/waypost/api/routes.py",
                "    return {'id': number",
                "    return {'depot': parcel.events[-1].depot, 'id': number",
                problem="absent",
                pattern="exact-text",
            )
        ),
        do(failed_patch("src/waypost/api/routes.py", "return dict(id=number", "return dict(depot=depot, id=number")),
        do(Read("src/waypost/api/routes.py", first=14, limit=12)),
        do(
            Edit(
                "src/waypost/api/routes.py",
                "    eta = estimate(parcel.events, parcel.route_days)\n",
                "    eta = estimate(parcel.events, parcel.route_days)\n"
                "    depot = parcel.events[-1].depot  # for the page\n",
                pattern="exact-text",
            )
        ),
        do(
            Other(
                "apply_diff",
                {"path": "src/waypost/api/routes.py"},
                "Tool 'apply_diff' does not exist. Available tools: execute_code, memory, patch, read_file, "
                "search_files, terminal, todo, write_file",
                failed=True,
            )
        ),
        do(
            check_fails(
                "tests/test_routes.py",
                "test_show",
                "assert set(answer.json()) == {'id', 'eta', 'sure'}\nAssertionError: extra item 'depot'",
                passed=5,
            )
        ),
        do(
            Edit(
                "src/waypost/api/routes.py",
                "    depot = parcel.events[-1].depot  # for the page\n",
                "",
            )
        ),
        do(check("tests/test_routes.py", 6)),
        do(Shell("rm -rf logs", "", 0, "Delete logs", fate="declined")),
        User("Only those of February, and ask before you delete a folder.", 30),
        do(Shell("ls logs | grep 2026-02", "", 1, "Old logs", benign="No matches found")),
        do(remember("Mira wants to be asked before a folder is deleted", 3)),
        Say("There are no logs of February. The depot has to wait for the test of the page; I took it out again."),
    ),
)

STAGE_AND_MEMORY = Story(
    "stage and memory",
    "2026-04-22T09:10:00",
    (
        User("Deploy main to staging and check three parcels there.", 0),
        do(wp_deploy("--env", renamed=True)),
        do(Shell("wp version", "wp 4.0.1 (2026-04-20)", 0, "Version")),
        do(wp_deploy("--stage", renamed=True)),
        do(wp_show(440), wp_show(441), wp_show(442)),
        do(
            remember(
                "wp deploy takes --stage since 4.0, no longer --env; say so to everyone who still uses the old flag.",
                4,
                full=True,
            )
        ),
        do(remember("wp 4.0: --stage replaces --env", 4)),
        do(
            Shell(
                f"curl -s -H 'Authorization: Bearer {FAKE_BEARER}' https://stage1.waypost.example/parcels/%23P-00440",
                '{"id":"#P-00440","eta":"2026-04-24","sure":true}',
                0,
                "Ask the API",
            )
        ),
        do(check("", 59)),
        do(lint()),
        do(wp_late(16)),
        Say("Staging is up and the three parcels are there. The flag is `--stage` since version 4.0."),
    ),
)

WELL_KNOWN = Story(
    "well known",
    "2026-05-11T07:00:05",
    (
        User("Monday report: last week's late parcels, #P-00460, and whether staging is healthy.", 0),
        *each(
            wp_late(19),
            wp_show(460),
            Shell("curl -s https://stage1.waypost.example/healthz", '{"ok":true,"errors":0}', 0, "Check the health"),
        ),
        do(
            "And the carriers' own status page.",
            Other(
                "carrier_status",
                {"carrier": "hollis"},
                {"result": json.dumps({"status": "up", "errors_last_hour": 0, "error": None})},
            ),
        ),
        do(
            Write(
                "reports/2026-W19.md",
                "# Week 2026-W19\n\nStaging is healthy, no carrier failed. Late parcels: see `wp report late`.\n",
            )
        ),
        do(Read("reports/2026-W19.md")),
        do(
            run_code("import re\nprint(bool(re.match(r'#P-[0-9]{5}', '#P-00460')))", "True\n"),
            Find("2026-W19", "reports"),
        ),
        do(check("", 61)),
        do(wp_deploy("--stage", renamed=True)),
        do(commit("Report of 2026-W19", 1, 3, 0)),
        do(
            Shell(
                "wp mail send --to lena.brandt@waypost.example --report late --week 2026-W19",
                "queued m-26002",
                0,
                "Send the report",
            )
        ),
        Say("The report is written and sent; staging is healthy and #P-00460 is in transit."),
    ),
)

ALL = (MORNING_REPORT, NEXT_FRIDAY, A_NIGHT_OF_ERRORS, THREE_PATCHES, STAGE_AND_MEMORY, WELL_KNOWN)
