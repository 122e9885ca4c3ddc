"""Mira's first weeks with Claude Code, with all the mistakes that nobody told the agent about."""

from __future__ import annotations

from samples.commands import (
    bare_pytest,
    bare_tsc,
    check,
    check_fails,
    commit,
    go_test,
    grep_nothing,
    lint,
    log,
    push,
    status,
    typecheck,
    wp_deploy,
    wp_late,
    wp_show,
)
from samples.story import (
    Atlas,
    Edit,
    Find,
    Interrupt,
    Other,
    Read,
    Say,
    Shell,
    Story,
    User,
    do,
)

ETA = "src/waypost/tracking/eta.py"
OLD = {"version": "2.1.33", "model": "claude-sonnet-4-5-20250929"}
MIDDLE = {"version": "2.1.71", "model": "claude-sonnet-4-5-20250929"}
NEW = {"version": "2.1.197", "model": "claude-opus-4-8"}

FIRST_DAY = Story(
    "first day",
    "2026-02-09T08:12:04",
    (
        User(
            "Parcels scanned at exactly 14:00 get an ETA that is a day early. Find out why and fix it, with a test.", 0
        ),
        do(
            "I'll look at the code that estimates the day.",
            Read("waypost/tracking/eta.py", pattern="src-root"),
            Read("waypost/tracking/events.py", pattern="src-root"),
        ),
        do("The package is not at the top. Let me see where it is.", Find("CUTOFF_HOUR", names_only=True)),
        do(Read(ETA, pattern="src-root"), Read("tests/test_eta.py")),
        do(
            "`last.at.hour > CUTOFF_HOUR` leaves 14:00 itself on the same day. A test first.",
            Edit(
                "tests/test_eta.py",
                "def test_sunday_moves_to_monday():",
                "def test_the_cutoff_itself_counts_as_after():\n"
                '    assert estimate(scans("2026-02-03T14:00"), 2).day.isoformat() == "2026-02-06"\n\n\n'
                "def test_sunday_moves_to_monday():",
            ),
        ),
        do(bare_pytest("tests/test_eta.py")),
        do(
            "The tests need a prepared database. How does the project run them?",
            Read("tests/conftest.py"),
            Read("Makefile"),
        ),
        do(
            check_fails(
                "tests/test_eta.py",
                "test_the_cutoff_itself_counts_as_after",
                'assert estimate(scans("2026-02-03T14:00"), 2).day.isoformat() == "2026-02-06"\n'
                "AssertionError: assert '2026-02-05' == '2026-02-06'",
                passed=2,
            )
        ),
        do(
            "It fails for the right reason. Now the fix.",
            Edit(ETA, "    if last.at.hour > CUTOFF_HOUR:", "    if last.at.hour >= CUTOFF_HOUR:"),
        ),
        do(check("tests/test_eta.py", 3)),
        do(check("", 42)),
        Say("Fixed: 14:00 itself now counts as after the cutoff. There is a test for it, and all 42 tests pass."),
        User("Thanks. Can you look at parcel 417 on the live system, is its ETA right now?", 300),
        do(wp_show(417, "417")),
        do(wp_show(417, "P-417")),
        do("Ids have five digits and a prefix, as in `ids.py`.", Read("src/waypost/ids.py")),
        do(wp_show(417)),
        do(commit("Count the cutoff hour as after the cutoff", 2, 5, 1)),
        Say("#P-00417 is in transit with a two-day route, so the ETA is right. I committed the fix."),
    ),
    OLD,
)

A_QUESTION = Story(
    "a question",
    "2026-02-12T13:40:51",
    (
        User(
            "Which error does the page get when a carrier is down? And do we log the carrier's name as `carrier_name`?",
            0,
        ),
        do(Read("docs/errors.md"), Read("src/waypost/api/errors.py")),
        do(grep_nothing("carrier_name", "src")),
        do(Find("failed", "src")),
        Say(
            "It gets 502 with `carrier_error`. There is no `carrier_name` anywhere in `src`; "
            "the error's message has the name in its text."
        ),
    ),
    OLD,
)

THE_PAGE = Story(
    "the page",
    "2026-02-18T09:02:37",
    (
        User("Show on the tracking page whether the day is sure, and put the week beside it (2026-W08).", 0),
        do(Read("web/src/TrackPage.tsx"), Read("web/src/api.ts"), Read("web/src/format.ts")),
        do(
            "I'll add `week` to the formats.",
            Edit(
                "web/src/format.ts",
                "export function day(eta: string): string {",
                "export function week(eta: string): string {\n"
                "  const date = new Date(eta);\n"
                "  const monday = date.getTime() - ((date.getUTCDay() + 6) % 7) * 864e5;\n"
                "  return isoWeek(monday);\n"
                "}\n\n"
                "export function day(eta: string): string {",
            ),
        ),
        do(bare_tsc()),
        do(
            "No configuration at the top; the page has its own.",
            Shell("ls web", "package.json\nsrc\ntsconfig.json", 0, "List the page's folder"),
        ),
        do(
            typecheck(
                "src/format.ts(6,10): error TS2304: Cannot find name 'isoWeek'.",
            )
        ),
        do(
            Edit(
                "web/src/format.ts",
                "  const date = new Date(eta);\n"
                "  const monday = date.getTime() - ((date.getUTCDay() + 6) % 7) * 864e5;\n"
                "  return isoWeek(monday);\n",
                "  const date = new Date(eta);\n"
                "  const thursday = new Date(date.getTime() + (3 - ((date.getUTCDay() + 6) % 7)) * 864e5);\n"
                "  const first = Date.UTC(thursday.getUTCFullYear(), 0, 1);\n"
                "  const number = Math.floor((thursday.getTime() - first) / 6048e5) + 1;\n"
                '  return `${thursday.getUTCFullYear()}-W${String(number).padStart(2, "0")}`;\n',
            )
        ),
        do(typecheck()),
        do(
            "Now the page itself.",
            Edit(
                "web/src/TrackPage.tsx",
                "  return <h1>Comes on {day(parcel.eta)}</h1>;",
                "  return <h1>{parcel.sure ? 'Comes' : 'May come'} on {day(parcel.eta)} ({week(parcel.eta)})</h1>;",
                fate="declined",
                reply="Not in the heading, please. Put a second line under it.",
            ),
        ),
        User("The heading stays as it is, the rest goes into a <p>.", 20),
        do(
            Edit(
                "web/src/TrackPage.tsx",
                "  return <h1>Comes on {day(parcel.eta)}</h1>;",
                "  return (\n    <>\n      <h1>Comes on {day(parcel.eta)}</h1>\n"
                "      <p>{parcel.sure ? 'Sure' : 'Not sure yet'}, week {week(parcel.eta)}</p>\n    </>\n  );",
            )
        ),
        do(typecheck("src/TrackPage.tsx(18,64): error TS2304: Cannot find name 'week'.")),
        do(Edit("web/src/TrackPage.tsx", 'import { day } from "./format";', 'import { day, week } from "./format";')),
        do(typecheck()),
        do(commit("Say on the page how sure the day is, and its week", 2, 18, 3)),
        do(push(offline=True)),
        do("No name resolution; I'll try once more.", push()),
        Say("The page has a second line now, types are clean, and the commit is pushed."),
    ),
    OLD,
)

THE_SCANNER = Story(
    "the scanner tool",
    "2026-02-26T10:20:15",
    (
        User(
            "wpscan stops at lines with a trailing semicolon. Make it ignore an empty last field. Jonas needs it.",
            0,
        ),
        do(
            go_test(root=True),
            Read("tools/wpscan/parse.go", fate="cancelled"),
            Find("Split", "tools/wpscan", fate="cancelled"),
        ),
        do("The module is in `tools/wpscan`.", Find("strings.Split", "tools")),
        do(Read("tools/wpscan/scan.go"), Read("tools/wpscan/scan_test.go")),
        do(go_test()),
        do(
            Edit(
                "tools/wpscan/scan.go",
                '		parts := strings.Split(lines.Text(), ";")',
                '		parts := strings.Split(strings.TrimSuffix(lines.Text(), ";"), ";")',
            ),
            Edit(
                "tools/wpscan/scan_test.go",
                "func TestParse(t *testing.T) {",
                "func TestParseTrailing(t *testing.T) {\n"
                '	scans, err := parse(strings.NewReader("#P-00417;Arden;sorted;\\n"))\n'
                "	if err != nil || len(scans) != 1 {\n"
                '		t.Fatalf("got %v, %v", scans, err)\n'
                "	}\n}\n\nfunc TestParse(t *testing.T) {",
            ),
        ),
        do(go_test()),
        User("Run it over the file from Kessel too, ws/depots has it. And build for arm.", 120),
        do(Atlas("scanner file Kessel", "/home/mira/waypost/ws/depots", pattern="ws-path")),
        do(Atlas("scanner file Kessel", "depots", pattern="ws-path")),
        do(
            Atlas(
                "scanner file Kessel",
                "ws/depots",
                ("ws/depots/kessel/2026-W09.csv", "ws/depots/kessel/2026-W08.csv"),
                pattern="ws-path",
            )
        ),
        do(
            Shell("GOOS=linux GOARCH=arm64 go -C tools/wpscan build -o /tmp/wpscan-arm .", "", 0, "Build for arm"),
            Shell(
                "go -C tools/wpscan run . ws/depots/kessel/2026-W09.csv",
                "41210 scans, 0 bad lines\n312 parcels without a delivery",
                0,
                "Run over the file",
                fate="late",
                seconds=4,
            ),
        ),
        do(wp_show(390, "390")),
        do(wp_show(390)),
        do(lint()),
        do(commit("wpscan: ignore an empty last field", 2, 9, 1)),
        Say(
            "Done: the trailing semicolon is ignored. "
            "Kessel's file has 41,210 scans without a bad line, and the arm build is in /tmp."
        ),
    ),
    MIDDLE,
)

A_DEPLOY = Story(
    "a deploy",
    "2026-03-05T14:31:09",
    (
        User("Put main on staging and tell me how late we were last week.", 0),
        do(status(), log("wpscan: ignore an empty last field", "Say on the page how sure the day is, and its week")),
        do(check("", 49)),
        do(wp_deploy(None)),
        do(wp_deploy("--env")),
        do(wp_late(9, "2026-02-23")),
        do(wp_late(9, "9")),
        do("Weeks are written as in `weeks.py`.", Read("waypost/weeks.py", pattern="src-root")),
        do(Read("src/waypost/weeks.py", pattern="src-root")),
        do(wp_late(9)),
        Say("Staging runs main, 2 of 2 replicas are ready. The late parcels of 2026-W09 are above."),
        User("Good. Which carriers are configured there? I need the user name only.", 90),
        do(Read("ops/carriers.env"), Read("ops/deploy.yaml")),
        Say("`HOLLIS_USER` is waypost-demo; the passwords there are examples."),
        User("Then go on to production.", 60),
        do(wp_deploy("--env", target="production", fate="declined")),
        Interrupt(),
        User("Wait, Lena wants to look at staging first. Leave production alone.", 30),
        do(Shell("curl -s https://stage1.waypost.example/healthz", '{"ok":true,"errors":0}', 0, "Check the health")),
        Say("I left production alone. Staging is healthy."),
    ),
    MIDDLE,
)

WEB_LOOKUP = Other(
    "WebFetch",
    {"url": "https://docs.hollis-byrne.example/limits", "prompt": "What are the limits for retries?"},
    "The page says: at most 4 requests a second; after an error wait 2, 4 and 8 seconds. Error 429 means too many.",
    data={"code": 200, "codeText": "OK", "bytes": 8120, "url": "https://docs.hollis-byrne.example/limits"},
)

EARLY = (FIRST_DAY, A_QUESTION, THE_PAGE, THE_SCANNER, A_DEPLOY)
