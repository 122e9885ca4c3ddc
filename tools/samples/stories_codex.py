"""Jonas's sessions with Codex, over four versions of it."""

from __future__ import annotations

from typing import Any

from samples.commands import (
    bare_pytest,
    check,
    check_fails,
    commit,
    go_test,
    lint,
    push,
    status,
    wp_deploy,
    wp_late,
    wp_show,
)
from samples.story import (
    Atlas,
    Compact,
    Edit,
    Find,
    Interrupt,
    Other,
    Plan,
    Poll,
    Read,
    Resume,
    Say,
    Shell,
    Story,
    User,
    Write,
    do,
)

IDS = "src/waypost/ids.py"
EVENTS = "src/waypost/tracking/events.py"
SCAN = "tools/wpscan/scan.go"
FAKE_TOKEN = "ghp_" + "EXAMPLE" * 5 + "0"
"""In the form of a real one, so that redaction can be shown."""


def _running(call: Shell, ends: str = "later", **more: Any) -> Shell:
    """The same command, still going when the first answer comes."""
    values = {**vars(call), "ends": ends, **more}
    return Shell(**values)


OLD_FILE = Story(
    "an old file",
    "2026-03-03T09:14:20",
    (
        User("Ids with spaces around them should be accepted.", 0),
        do("I'll read the parser first.", Read("waypost/ids.py", pattern="src-root")),
        do(Find("_PARCEL")),
        do(Read(IDS, pattern="src-root")),
        do(Edit(IDS, "    match = _PARCEL.match(text)", "    match = _PARCEL.match(text.strip())")),
        do(bare_pytest("tests/test_ids.py")),
        do(Read("Makefile")),
        do(check("tests/test_ids.py", 5)),
        do(wp_show(203, "203")),
        do(wp_show(203)),
        do(commit("Accept ids with spaces around them", 1, 1, 1)),
        Say("Spaces around an id are now ignored."),
    ),
    {"dialect": "flat"},
)

IN_A_SANDBOX = Story(
    "in a sandbox",
    "2026-03-10T13:22:41",
    (
        User("A scan that both we and the carrier have shows up twice. `merge` says it should not.", 0),
        do(Plan(("Reproduce", "Fix merge", "Tests"))),
        do(Read(EVENTS), Read("tests/test_events.py")),
        do(
            Edit(
                EVENTS,
                "    return sorted(ours + theirs)",
                "    return in_order(set(ours + theirs))",
                problem="absent",
                pattern="exact-text",
            )
        ),
        do("The line reads differently.", Read(EVENTS, first=17, limit=8)),
        do(
            Edit(
                EVENTS,
                "    return in_order(ours + theirs)",
                "    return in_order(list({*ours, *theirs}))",
                pattern="exact-text",
            )
        ),
        do(
            Other(
                "shell",
                {"command": ["bash", "-lc", "pip install pytest-randomly"], "workdir": "/home/jonas/src/waypost"},
                "failed in sandbox LinuxSeccomp with execution error: command timed out",
                failed=True,
                fault="environment",
            )
        ),
        do(bare_pytest("tests/test_events.py")),
        do(check("tests/test_events.py", 2)),
        do(
            Edit(
                "tests/test_events.py",
                "def test_merge_keeps_order():",
                'def test_a_scan_counts_once():\n    assert len(merge([scan("09:00")], [scan("09:00")])) == 1\n\n\n'
                "def test_merge_keeps_order():",
            )
        ),
        do(check("tests/test_events.py", 3)),
        do(Find("merge_twice", "tests")),
        do(Plan(("Reproduce", "Fix merge", "Tests"), 3)),
        do(wp_show(388, "#388")),
        do(wp_show(388)),
        do(Shell("git push --force origin main", "", 0, "Push", fate="declined")),
        do(commit("Count a scan once", 2, 5, 1)),
        Say("A scan that both sides have counts once now, with a test. I did not push."),
    ),
    {"dialect": "json"},
)

SLOW_TESTS = Story(
    "slow tests",
    "2026-03-19T10:41:07",
    (
        User(
            "Run everything, also the slow tests, and make `first_day('2026-14')` a clear error.",
            0,
        ),
        do("I'll start the slow run and read meanwhile.", _running(check("", 49))),
        do(Read("src/waypost/weeks.py")),
        do(Poll(running=True, verdict="unclear")),
        do(Poll()),
        do(
            Edit(
                "src/waypost/weeks.py",
                "def first_day(text: str) -> date:",
                "def first_day(week: str) -> date:",
                problem="absent",
                pattern="exact-text",
            )
        ),
        do(
            Edit(
                "src/waypost/weeks.py",
                '    year, number = week.split("-W")\n',
                '    year, dash, number = week.partition("-W")\n'
                '    if not dash:\n        raise ValueError(f"not a week: {week}")\n',
                pattern="exact-text",
            )
        ),
        do(
            Write(
                "tests/test_weeks.py",
                "import pytest\n\nfrom waypost.weeks import first_day\n\n\ndef test_says_what_is_wrong():\n"
                '    with pytest.raises(ValueError, match="not a week"):\n        first_day("2026-14")\n',
            )
        ),
        do(
            _running(
                check_fails(
                    "tests/test_weeks.py",
                    "test_weeks_of_next_year",
                    "assert week_of(date(2027, 1, 1)) == \"2027-W01\"\nAssertionError: assert '2026-W53' == '2027-W01'",
                    passed=3,
                )
            )
        ),
        do(Poll(verdict="failed", fault="none")),
        do("The test was wrong: 1 January 2027 is in 2026-W53.", check("tests/test_weeks.py", 4)),
        do(wp_late(11, "2026-11")),
        do(wp_late(11)),
        do(Atlas("first_day", "/home/jonas/src/waypost/src", pattern="ws-path")),
        do(Atlas("first_day", "ws/waypost/src", ("ws/waypost/src/waypost/weeks.py:12",), pattern="ws-path")),
        do(lint()),
        do(_running(Shell("wp tail --follow", about="Watch the log"), "never", verdict="unclear")),
        do(commit("Say what is wrong with a week", 2, 12, 1)),
        Say("Weeks are checked now, all tests pass. A log watcher is still running."),
    ),
    {"dialect": "text"},
)

STOPPED_AND_COMPACTED = Story(
    "stopped and compacted",
    "2026-04-08T08:17:55",
    (
        User("wpscan should write a summary per depot. Keep it fast, the files have 40,000 lines.", 0),
        do(Plan(("Count per depot", "Print", "Measure"))),
        do(Read(SCAN), Read("tools/wpscan/scan_test.go")),
        do(
            Edit(
                SCAN,
                "func parse(r io.Reader) ([]Scan, error) {",
                "func perDepot(scans []Scan) map[string]int {\n	counts := map[string]int{}\n"
                "	for _, scan := range scans {\n		counts[scan.Depot]++\n	}\n	return counts\n}\n\n"
                "func parse(r io.Reader) ([]Scan, error) {",
            )
        ),
        do(go_test(root=True)),
        do(go_test()),
        do(
            Shell(
                "go -C tools/wpscan vet ./... && gofmt -l tools/wpscan",
                "tools/wpscan/scan.go",
                0,
                "Vet and format",
            )
        ),
        do(Shell("gofmt -w tools/wpscan/scan.go", "", 0, "Format")),
        do(
            "Now a long measurement.",
            Shell("go -C tools/wpscan test -bench . -count 50", about="Measure", fate="lost", fault="interrupted"),
        ),
        Interrupt(),
        User("No need for 50 rounds. Five are enough.", 25),
        do(
            Shell(
                "go -C tools/wpscan test -bench . -count 5",
                "BenchmarkPerDepot-8   \t  2210\t    512034 ns/op\nPASS\nok  \twaypost.example/wpscan\t6.1s",
                0,
                "Measure",
                seconds=7,
            )
        ),
        do(Plan(("Count per depot", "Print", "Measure"), 3)),
        do(commit("wpscan: counts per depot", 1, 8, 0)),
        Compact(
            "Done: perDepot in tools/wpscan/scan.go, committed. The file from Tarn is next: how many scans per depot?"
        ),
        do(go_test(root=True)),
        do(
            Shell(
                "cd tools/wpscan && go test ./...",
                "ok  \twaypost.example/wpscan\t0.003s",
                0,
                "Run Go tests",
                pattern="go-root",
            )
        ),
        do(Atlas("Tarn 2026-W14", "depots/tarn", pattern="ws-path")),
        do(Atlas("Tarn 2026-W14", "ws/depots/tarn", ("ws/depots/tarn/2026-W14.csv",), pattern="ws-path")),
        do(
            Shell(
                "cd tools/wpscan && go run . --per-depot ws/depots/tarn/2026-W14.csv",
                "Tarn 38101\nKessel 211\nArden 9",
                0,
                "Count",
                seconds=3,
            )
        ),
        do(wp_show(433), wp_show(434)),
        do(
            Shell(
                "env | grep TOKEN",
                f"WP_MAP_TOKEN=not-a-real-token\nGITHUB_TOKEN={FAKE_TOKEN}",
                0,
                "Which tokens are set",
            )
        ),
        do(push()),
        Say("Tarn's file of 2026-W14 has 38,101 scans of its own and 220 strays."),
    ),
    {"dialect": "text"},
)

RENAMED_FLAG = Story(
    "the flag, again",
    "2026-04-28T09:33:10",
    (
        User("Put the scanner summary on staging.", 0),
        do(status(), go_test()),
        do(wp_deploy("--env", renamed=True)),
        do(wp_deploy(None, renamed=True)),
        do(wp_deploy("--stage", renamed=True)),
        do(check("", 59)),
        Say("Staging is up. The flag is called `--stage` now."),
        Resume(25.2),
        User("Yesterday's deploy lacks the carrier Lowmoor. Why?", 10),
        do(Find("lowmoor", "src", names_only=True)),
        do(Read("waypost/carriers/lowmoor.py", pattern="src-root")),
        do(Read("src/waypost/carriers/lowmoor.py", pattern="src-root")),
        do(Read("ops/deploy.yaml")),
        do(Find("lowmoor", "ops")),
        do(
            Edit(
                "src/waypost/settings.py",
                '            "arden": "https://track.ardenpost.example",\n',
                '            "arden": "https://track.ardenpost.example",\n            "lowmoor": "https://lowmoor.example/track",\n',
            )
        ),
        do(check("tests/test_lowmoor.py", 1)),
        do(wp_deploy("--stage", renamed=True)),
        Say("Lowmoor had no address in the settings. It has one now, and staging runs it."),
    ),
    {"dialect": "items"},
)

FORKED = Story(
    "a fork",
    "2026-05-07T11:02:26",
    (
        User("In this copy: give Kestrel its address, too.", 0),
        do(
            Edit(
                "src/waypost/settings.py",
                '            "kestrel": "",\n',
                '            "kestrel": "https://kestrel.example/v1",\n',
                problem="absent",
                pattern="exact-text",
            )
        ),
        do(
            Edit(
                "src/waypost/settings.py",
                '            "lowmoor": "https://lowmoor.example/track",\n',
                '            "lowmoor": "https://lowmoor.example/track",\n            "kestrel": "https://kestrel.example/v1",\n',
                pattern="exact-text",
            )
        ),
        do(check("tests/test_kestrel.py", 1)),
        do(lint()),
        do(wp_show(470)),
        do(wp_deploy("--stage", renamed=True)),
        do(commit("Addresses of Lowmoor and Kestrel", 1, 2, 0)),
        Say("Kestrel has its address, and staging runs it."),
    ),
    {"dialect": "items"},
)

ALL = (OLD_FILE, IN_A_SANDBOX, SLOW_TESTS, STOPPED_AND_COMPACTED, RENAMED_FLAG, FORKED)
