"""Commands of the project with what they print: kept conventions, broken ones, tests, builds, git."""

from __future__ import annotations

from typing import Any

from samples.dice import Dice
from samples.story import Shell

DEPOTS = ("Arden", "Kessel", "Brook", "Tarn")


def wp_show(number: int, written: str | None = None, **more: Any) -> Shell:
    """Look a parcel up with the company's own tool; any other spelling of the id is refused."""
    right = f"#P-{number:05d}"
    if written is not None:
        return Shell(
            f"wp parcel show {written}", f"wp: bad id: {written}", 2, "Show the parcel", pattern="wp-id", **more
        )
    dice, week = Dice(f"parcel {number}"), 4 + max(0, (number - 380) // 20)
    scans = [
        f"  2026-W{week:02d}-{n + 1} {dice.number(6, 19):02d}:{dice.number(0, 59):02d}  "
        f"{DEPOTS[(number + n) % 4]:<7} {kind}"
        for n, kind in enumerate(("accepted", "sorted", "loaded")[: 1 + number % 3])
    ]
    output = "\n".join([f"{right}  in transit  hollis  route 2 days", *scans])
    return Shell(f"wp parcel show '{right}'", output, 0, "Show the parcel", pattern="wp-id", **more)


def wp_late(week: int, written: str | None = None, **more: Any) -> Shell:
    """The report of late parcels of a week; a date is not a week."""
    if written is not None:
        return Shell(
            f"wp report late --week {written}", f"wp: bad week: {written}", 2, "Late parcels", pattern="wp-week", **more
        )
    dice = Dice(f"week {week}")
    rows = [f"{depot:<8}{dice.number(40, 220):>6}{dice.number(0, 14):>6}" for depot in DEPOTS]
    output = "\n".join([f"late parcels, 2026-W{week:02d}", "depot   parcels  late", *rows])
    return Shell(f"wp report late --week 2026-W{week:02d}", output, 0, "Late parcels", pattern="wp-week", **more)


def wp_deploy(flag: str | None, *, renamed: bool = False, target: str = "staging", **more: Any) -> Shell:
    """Put the branch on a machine. The flag --env is required, and is called --stage from 20 April 2026 on."""
    wanted, pattern = ("--stage", "wp-stage") if renamed else ("--env", "wp-env")
    command = "wp deploy preview" if target == "staging" else "wp deploy release"
    command += f" {flag} {target}" if flag else ""
    if flag == wanted:
        host = "stage1" if target == "staging" else "app"
        output = f"building waypost:{Dice(command + str(more)).hex(7)}\npushed\n{target}: 2 of 2 replicas ready\n"
        output += f"https://{host}.waypost.example/healthz ok"
        return Shell(command, output, 0, f"Deploy to {target}", pattern=pattern, seconds=48, **more)
    output = f"wp: unknown flag: {flag}" if flag else f"wp: missing {wanted}"
    return Shell(command, output, 2, f"Deploy to {target}", pattern=pattern, **more)


def check(tests: str = "", passed: int = 41, **more: Any) -> Shell:
    """The tests, run the project's way, all passing."""
    command = f"make check T={tests}" if tests else "make check"
    dots = "." * min(passed, 72)
    output = f"{dots}{' ' * (73 - len(dots))}[100%]\n{passed} passed in {0.4 + passed * 0.021:.2f}s"
    return Shell(command, output, 0, "Run the tests", pattern="make-check", seconds=4, **more)


def bare_pytest(tests: str, **more: Any) -> Shell:
    """The tests, run without the preparation that `make check` does."""
    output = (
        "ImportError while loading conftest '/home/mira/waypost/tests/conftest.py'.\n"
        "tests/conftest.py:7: in <module>\n"
        '    raise RuntimeError("WAYPOST_DB is not set")\n'
        "E   RuntimeError: WAYPOST_DB is not set"
    )
    return Shell(f"python -m pytest {tests} -q", output, 4, "Run the tests", pattern="make-check", seconds=2, **more)


def check_fails(tests: str, name: str, reason: str, *, passed: int = 1, tail: bool = False, **more: Any) -> Shell:
    """The tests, run the right way, with one that truly fails; behind a pipe the exit code is lost."""
    file = tests.split("::")[0]
    lines = [
        "F" + "." * passed + " " * (72 - passed) + "[100%]",
        "=================================== FAILURES ===================================",
        f"{f' {name} ':_^80}",
        "",
        f"    def {name}():",
        f">       {reason.splitlines()[0]}",
        *[f"E       {line}" for line in reason.splitlines()[1:]],
        "",
        f"{file}:{Dice(name).number(9, 40)}: AssertionError",
        "=========================== short test summary info ============================",
        f"FAILED {file}::{name} - {reason.splitlines()[-1]}",
        f"1 failed, {passed} passed in {0.5 + passed * 0.021:.2f}s",
    ]
    if tail:
        command, output, code = f"make check T={tests} 2>&1 | tail -3", "\n".join(lines[-2:]), 0
        return Shell(command, output, code, "Run the tests", verdict="failed", fault="none", seconds=4, **more)
    output = "\n".join(lines) + "\nmake: *** [Makefile:7: check] Error 1"
    return Shell(f"make check T={tests}", output, 2, "Run the tests", fault="none", seconds=4, **more)


def lint(problem: str = "", **more: Any) -> Shell:
    """The linter, content or not."""
    if not problem:
        return Shell("make lint", "All checks passed!", 0, "Lint", **more)
    output = f"{problem}\nFound 1 error.\nmake: *** [Makefile:11: lint] Error 1"
    return Shell("make lint", output, 2, "Lint", fault="none", **more)


def typecheck(problem: str = "", **more: Any) -> Shell:
    """The page's types, checked the project's way."""
    head = "\n> waypost-web@0.9.2 typecheck\n> tsc -p tsconfig.json\n\n"
    if not problem:
        return Shell("npm --prefix web run typecheck", head, 0, "Check types", pattern="web-root", seconds=6, **more)
    return Shell("npm --prefix web run typecheck", head + problem, 2, "Check types", fault="none", seconds=6, **more)


def bare_tsc(**more: Any) -> Shell:
    """The compiler at the top of the checkout, where there is no configuration."""
    output = "error TS5057: Cannot find a tsconfig.json file at the specified directory: '.'."
    return Shell("npx tsc -p . --noEmit", output, 1, "Check types", pattern="web-root", **more)


def go_test(*, root: bool = False, failing: str = "", **more: Any) -> Shell:
    """The tests of the scanner tool, from its own folder or wrongly from the top."""
    if root:
        output = "pattern ./...: directory prefix . does not contain main module or its selected dependencies"
        return Shell("go test ./...", output, 1, "Run Go tests", pattern="go-root", **more)
    command = "go -C tools/wpscan test ./..."
    if failing:
        output = f"--- FAIL: {failing}\nFAIL\nFAIL\twaypost.example/wpscan\t0.004s\nFAIL"
        return Shell(command, output, 1, "Run Go tests", fault="none", seconds=3, **more)
    return Shell(
        command, "ok  \twaypost.example/wpscan\t0.003s", 0, "Run Go tests", pattern="go-root", seconds=3, **more
    )


def status(*changed: str, branch: str = "main") -> Shell:
    """What git says has changed."""
    lines = [f"## {branch}...origin/{branch}", *[f" M {path}" for path in changed]]
    return Shell("git status --short --branch", "\n".join(lines), 0, "See what changed")


def commit(message: str, files: int = 1, added: int = 6, removed: int = 2) -> Shell:
    """A commit of everything that changed."""
    words = f"{files} file{'s' if files > 1 else ''} changed, {added} insertions(+), {removed} deletions(-)"
    output = f"[main {Dice(message).hex(7)}] {message}\n {words}"
    return Shell(f'git commit -qam "{message}" && git log -1 --stat | tail -1', output, 0, "Commit")


def log(*messages: str) -> Shell:
    """The last commits."""
    lines = [f"{Dice(message).hex(7)} {message}" for message in messages]
    return Shell(f"git log --oneline -{len(lines)}", "\n".join(lines), 0, "Recent commits")


def push(*, offline: bool = False) -> Shell:
    """Send the commits to the server, if it can be reached."""
    if offline:
        output = (
            "ssh: Could not resolve hostname git.waypost.example: Temporary failure in name resolution\n"
            "fatal: Could not read from remote repository."
        )
        return Shell("git push origin main", output, 128, "Push", fault="environment", pattern="push", seconds=10)
    dice = Dice("push")
    output = f"To git.waypost.example:waypost.git\n   {dice.hex(7)}..{dice.hex(7)}  main -> main"
    return Shell("git push origin main", output, 0, "Push", pattern="push", seconds=3)


def grep_nothing(text: str, path: str) -> Shell:
    """A search in the shell that finds nothing, which is an answer."""
    return Shell(f"grep -rn '{text}' {path}", "", 1, f"Look for {text}", benign="No matches found")
