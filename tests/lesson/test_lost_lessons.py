"""The ways in which lessons of real sessions were lost, each with calls as agents make them."""

from __future__ import annotations

import pytest

from seasoned.lesson.evidence import evidence_of
from seasoned.lesson.kind import blamed_command, kind_of_failure
from seasoned.lesson.lesson import hint_text, sheet_text
from seasoned.lesson.project_lessons import ProjectLessons
from seasoned.outcome.track import Track
from tests.lesson.sessions import made, ran, session

NO_SCRIPT = 'npm error Missing script: "test"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run'
OLD_NODE = "ERROR: This version of pnpm requires at least Node.js v18.12\nThe current version of Node.js is v14.16.0"
NO_PYTHON = "Exit code 127\n(eval):1: command not found: python"
HOOK_FAILED = (
    "Exit code 1\nprettier.................................................................Failed\n- hook id: prettier"
)
COMMIT = "git commit -m \"$(cat <<'EOF'\nfix: round the totals\n\nThey were cut.\nEOF\n)\""


def known(*tracks: Track) -> ProjectLessons:
    found = ProjectLessons("example.org/team/shop")
    for track in tracks:
        found.add(evidence_of(track))
    return found


def told(lessons: ProjectLessons, command: str, error: str) -> str:
    """What a session is told after a failure, without the sessions behind it."""
    lesson = lessons.after(kind_of_failure("Bash", command, error))
    return "" if lesson is None else hint_text(lesson).partition(" (")[0]


def sheet(lessons: ProjectLessons) -> str:
    return sheet_text(lessons.sheet())


def test_errors_that_say_enough_are_not_repeated() -> None:
    edit = {"file_path": "/home/mira/shop/a.py", "old_string": "x", "new_string": "y"}
    missed = "<tool_use_error>String to replace not found in file.</tool_use_error>"
    read = made("Read", {"file_path": "/home/mira/shop/a.py"})
    lessons = known(*[session(day, made("Edit", edit, missed), read, made("Edit", edit)) for day in range(4)])
    assert lessons.after(kind_of_failure("Edit", None, missed)) is None


def test_a_check_that_could_not_run_is_a_mistake_and_its_way_out_is_told() -> None:
    some = [session(day, ran("pnpm test", OLD_NODE), ran("nvm use && pnpm test")) for day in range(2)]
    assert told(known(*some), "pnpm test", OLD_NODE) == "It worked here after `nvm use`"
    library = "error: no library targets found in package `mise`"
    cargo = [session(day, ran("cargo test --lib", library), ran("cargo test")) for day in range(2)]
    assert told(known(*cargo), "cargo test --lib", library) == "`cargo test` works here"
    red = "FAILED tests/test_cart.py::test_total - assert 3 == 4\n1 failed, 20 passed in 0.40s"
    tests = [session(day, ran("uv run pytest", red), ran("uv run pytest tests/test_cart.py")) for day in range(2)]
    assert told(known(*tests), "uv run pytest", red) == "", "failing tests are news about the code"


def test_modules_interpreters_and_absolute_programs_are_told_apart() -> None:
    some = [
        session(day, ran("python -m pytest tests -q", NO_PYTHON), ran(".venv/bin/python -m pytest tests -q"))
        for day in range(3)
    ]
    assert (
        told(known(*some), "python -m pytest tests -q", NO_PYTHON)
        == "Test: `.venv/bin/python -m pytest tests -q` works here"
    )
    assert "- Test: `.venv/bin/python -m pytest tests -q` (3 sessions)" in sheet(known(*some))
    no_go = "bash: go: command not found"
    go = [session(day, ran("go build ./...", no_go), ran("/usr/local/go/bin/go build ./...")) for day in range(2)]
    assert told(known(*go), "go build ./...", no_go) == "Build: `/usr/local/go/bin/go build ./...` works here"


def test_a_commit_of_several_lines_and_what_a_loop_runs_are_commands() -> None:
    assert kind_of_failure("Bash", f"git add -A && {COMMIT}", HOOK_FAILED).form == "git commit"
    some = [session(day, ran("for part in cart till; do just test $part; done")) for day in range(2)]
    assert "`just test …`" in sheet(known(*some)) or "`just test`" in sheet(known(*some))


def test_another_program_for_the_same_purpose_is_a_repair() -> None:
    some = [session(day, ran("npm test", NO_SCRIPT), ran("pnpm test")) for day in range(2)]
    lessons = known(*some)
    assert told(lessons, "npm test", NO_SCRIPT) == "Test: `pnpm test` works here"
    before = lessons.before("npm test")
    assert before is not None and before.text == "pnpm test"


def test_the_program_that_failed_is_blamed_and_not_the_last_of_a_chain() -> None:
    zsh = blamed_command("hk install --mise && git status", "Exit code 127\n(eval):1: command not found: hk")
    assert zsh is not None and zsh.form == "hk install"
    bash = blamed_command("cd web && pnpm i && git push", "bash: line 1: pnpm: command not found")
    assert bash is not None and bash.program == "pnpm"
    unknown = 'Unknown JSON field: "mergedAt"'
    assert blamed_command("gh search prs --json mergedAt && gh pr view 3", unknown) is None, "either may have failed"


def test_a_glob_a_module_or_a_banner_does_not_make_every_case_new() -> None:
    kinds = {kind_of_failure("Bash", f"ls {glob}", f"(eval):1: no matches found: {glob}") for glob in ("*.py", "b?.ts")}
    assert len(kinds) == 1
    modules = {
        kind_of_failure("Bash", "bun run test", f"error: Cannot find module '@shop/{name}' from 'a.ts'")
        for name in ("core", "till")
    }
    assert len(modules) == 1
    plain = kind_of_failure("Bash", "uv run prek", "error: Failed to spawn: `prek`")
    noisy = kind_of_failure("Bash", "uv run prek", "snapshot.sh: alias: --: not found\nerror: Failed to spawn: `prek`")
    assert plain == noisy


def test_a_lesson_outlives_an_example_that_may_not_be_shown() -> None:
    own = "python3 /home/mira/.codex/plugins/check.py"
    some = [session(day, ran("python a.py", NO_PYTHON), ran(own)) for day in range(2)]
    some += [session(2, ran("python tools/check.py", NO_PYTHON), ran("python3 tools/check.py"))]
    assert "python3" in told(known(*some), "python tools/check.py", NO_PYTHON)


def test_the_share_is_among_sessions_that_did_the_same() -> None:
    reading = [session(day, made("Read", {"file_path": f"/home/mira/shop/{day}.md"})) for day in range(20)]
    testing = [session(20 + day, ran("mise run test:ci")) for day in range(3)]
    assert "- Test: `mise run test:ci` (3 sessions)" in sheet(known(*reading, *testing))


def test_what_had_to_run_first_goes_out_of_date() -> None:
    missing = "env: no project is set up"
    old = [session(d, ran("./env run", missing), ran("make env-chx && ./env run")) for d in range(3)]
    gone = "make: *** No rule to make target 'env-chx'.  Stop."
    new = [session(5 + day, ran("make env-chx", gone)) for day in range(2)]
    assert told(known(*old), "./env run", missing) != ""
    assert told(known(*old, *new), "./env run", missing) == ""


def test_an_option_that_looks_at_less_repairs_no_failing_check() -> None:
    red = 'error: script "test" exited with code 1\n 3 failed'
    some = [session(day, ran("bun run test", red), ran("bun run test --filter=cart")) for day in range(3)]
    assert told(known(*some), "bun run test", red) == ""


def test_what_fails_again_and_again_is_told_as_what_to_expect() -> None:
    access = "fatal: Could not read from remote repository.\nPlease make sure you have the correct access rights"
    some = [session(day, ran("git push", access)) for day in range(3)]
    said = told(known(*some), "git push", access)
    assert said == "`git push` does not reach the remote repository from here"
    assert told(known(*some[:2]), "git push", access) == ""
    lacks = "zsh:1: command not found: hk"
    hk = told(known(*[session(day, ran("hk install", lacks)) for day in range(3)]), "hk install", lacks)
    assert hk == "`hk` is not found by the shells of sessions here", "and never: it is not installed"


def test_twenty_sessions_with_a_command_and_six_in_which_another_replaces_it() -> None:
    old = [session(day, ran("yarn test")) for day in range(20)]
    broken = 'error: The engine "yarn" is not allowed here. Use pnpm.'
    new = [session(20 + day, ran("yarn test", broken), ran("pnpm test")) for day in range(6)]
    assert "`yarn test`" in sheet(known(*old))
    for count in range(2, 7):
        assert "yarn" not in sheet(known(*old, *new[:count])), "nothing wrong from the second on"
    lines = known(*old, *new[:3]).sheet()
    assert [(line.text, line.needs_tree) for line in lines] == [("pnpm test", False)]


def test_how_one_test_is_run_is_a_line_of_its_own() -> None:
    some = [session(day, ran("just test"), ran(f"pnpm vitest run src/part{day}.test.ts")) for day in range(3)]
    assert sheet(known(*some)).splitlines()[1:] == [
        "- Test: `just test` (3 sessions)",
        "- One test: `pnpm vitest run …` (3 sessions)",
    ]
    usual = [session(day, ran(f"go test ./till -run TestSum{day}")) for day in range(3)]
    assert sheet(known(*usual)) == "", "every agent tries that first"


def test_a_way_that_is_too_long_to_show_is_told_by_its_beginning() -> None:
    long = "pnpm test " + " ".join(f"--reporter=part{n}" for n in range(16))
    some = [session(day, ran("npm test", NO_SCRIPT), ran(long)) for day in range(2)]
    assert told(known(*some), "npm test", NO_SCRIPT) == "Test: `pnpm test …` works here"


def test_a_program_that_the_project_uses_may_be_shown_whoever_knows_it() -> None:
    error = "error: week out of range: want YYYY-Www"
    some = [session(d, ran("wp report --week 9", error), ran("wp report --week 2026-W09")) for d in range(3)]
    assert told(known(*some), "wp report --week 9", error) == "`wp report --week 2026-W09` works here"
    assert told(known(*some[:2]), "wp report --week 9", error) == "", "two sessions can be planted"
    root = [session(day, ran("sudo shop-ctl check")) for day in range(4)]
    assert sheet(known(*root)) == "", "what runs as another user is not a program of the project"


def test_a_monorepo_tool_and_a_tool_to_install_are_seen_behind_their_runner() -> None:
    lacks = "zsh:1: command not found: turbo"
    turbo = known(*[session(day, ran("turbo run test", lacks), ran("pnpm turbo run test")) for day in range(2)])
    assert "pnpm turbo run test" in told(turbo, "turbo run test", lacks)
    nx = known(*[session(day, ran(f"npx nx test {name}")) for day, name in enumerate(("cart", "till"))])
    assert "`npx nx test …`" in sheet(nx) or "`npx nx test`" in sheet(nx)


def test_a_host_is_left_out_and_the_option_that_names_it_is_told() -> None:
    error = "error: no host given: pass --host"
    some = [session(d, ran("forge status", error), ran(f"forge status --host forge{d}.example.lan")) for d in range(3)]
    assert told(known(*some), "forge status", error) == "`forge status --host …` works here"
    java = "ERROR: JAVA_HOME is set to an invalid directory: /usr/lib/jvm/java-11"
    some = [session(d, ran("./gradlew test", java), ran("JAVA_HOME=/opt/jdk21 ./gradlew test")) for d in range(3)]
    assert told(known(*some), "./gradlew test", java) == "`JAVA_HOME=… ./gradlew test` works here"


def test_an_option_with_its_value_is_one_change() -> None:
    error = 'Error from server (Forbidden): pods is forbidden: User "dev" cannot list resource "pods"'
    pods = known(*[session(d, ran("kubectl get pods", error), ran("kubectl get pods -n shop-dev")) for d in range(3)])
    assert told(pods, "kubectl get pods", error) == "`kubectl get pods -n shop-dev` works here"
    socket = "psql: error: connection to server on socket failed: No such file or directory"
    asks = [session(d, ran("psql -c 'select 1'", socket), ran("psql -h localhost -c 'select 1'")) for d in range(3)]
    assert told(known(*asks), "psql -c 'select 1'", socket) == "`psql -h localhost -c …` works here"


@pytest.mark.parametrize(
    ("wrong", "error", "right", "said"),
    [
        ("mypy .", 'error: Duplicate module named "till"', "mypy --explicit-package-bases .", ""),
        ("terraform plan", "Error: No value for required variable", "terraform plan -var-file=env/dev.tfvars", ""),
        ("redis-cli ping", "Could not connect to Redis: Connection refused", "redis-cli -p 6380 ping", ""),
        ("npx eslint src", "couldn't find an eslint.config.js file", "npx eslint -c conf/eslint.config.mjs src", ""),
        ("psql -d shop", "psql: error: connection to port 5432 failed: Connection refused", "psql -p 5433 -d shop", ""),
        ("pip install -r dev.txt", "Could not open requirements: 'dev.txt'", "pip install -r requirements/dev.txt", ""),
        ("node tools/a.ts", "TypeError [ERR_UNKNOWN_FILE_EXTENSION]: .ts", "npx tsx tools/a.ts", ""),
        ("yarn add zod", "Usage Error: This project is configured to use pnpm", "pnpm add zod", "pnpm add"),
        ("python manage.py migrate", "can't open file 'manage.py': No such file or directory",
         "cd api && python manage.py migrate", "cd api && python manage.py …"),
    ],
)  # fmt: skip
def test_what_three_sessions_changed_is_told_with_its_value(wrong: str, error: str, right: str, said: str) -> None:
    some = known(*[session(day, ran(wrong, error), ran(right)) for day in range(3)])
    assert f"`{said or right}` works here" in told(some, wrong, error)


def test_a_command_is_never_told_without_what_stands_inside_its_form() -> None:
    error = "IllegalStateException: Could not find a valid Docker environment"
    right = "DOCKER_HOST=unix:///run/user/1000/podman.sock mvn -pl api verify"
    some = known(*[session(day, ran("mvn -pl api verify", error), ran(right)) for day in range(3)])
    assert "mvn verify" not in sheet(some)
    assert told(some, "mvn -pl api verify", error) == "`DOCKER_HOST=… mvn -pl api verify` works here"
    jest = known(*[session(day, ran(f"npx jest --testPathPatterns=part{day}")) for day in range(3)])
    assert "`npx jest --testPathPatterns=…`" in sheet(jest)


def test_a_missing_wrapper_is_to_be_expected_whatever_it_starts() -> None:
    lacks = "zsh:1: command not found: timeout"
    some = [session(d, ran(f"timeout 60 {c}", lacks), ran(c)) for d, c in enumerate(("npm test", "go vet", "make"))]
    assert told(known(*some), "timeout 9 go test", lacks) == "`timeout` is not found by the shells of sessions here"


def test_an_install_that_fails_is_no_news_about_the_code() -> None:
    lock = "npm error The `npm ci` command can only install with an existing package-lock.json"
    some = [session(day, ran("npm ci", lock), ran("pnpm install --frozen-lockfile")) for day in range(2)]
    assert told(known(*some), "npm ci", lock) == "Install: `pnpm install --frozen-lockfile` works here"


def test_a_port_in_use_is_to_be_expected() -> None:
    taken = "Error: listen EADDRINUSE: address already in use :::3000"
    some = [session(day, ran("npm run dev", taken)) for day in range(3)]
    assert told(known(*some), "npm run dev", taken) == "`npm run dev` finds its port in use here"


def test_a_missing_wrapper_that_is_part_of_the_form_is_answered_at_the_call() -> None:
    lacks = "/bin/bash: line 1: rtk: command not found"
    before = known(*[session(d, ran("rtk make test", lacks), ran("make test")) for d in range(2)]).before(
        "rtk make test"
    )
    assert before is not None and before.text == "make test"
