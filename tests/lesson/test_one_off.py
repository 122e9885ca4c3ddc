"""Which words of a command belong to one day's work."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.lesson.one_off import head_of, without_one_offs


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("npm test -- tests/unit/till.test.ts", "npm test -- …"),
        ("uv run pytest tests/test_till.py::test_sum -q", "uv run pytest … -q"),
        ("go test ./till -run TestSum -v", "go test ./till -run … -v"),
        ("npx mocha --grep=sums -R dot", "npx mocha --grep=… -R dot"),
        ("plan work --draft-id bad8ec5e", "plan work --draft-id …"),
        ("plan attach 1f0c7c1e-5d0e-4c55-9d5b-0c6f6a1f2b3c --json", "plan attach … --json"),
        ("plan export --into=/home/mira/out", "plan export --into=…"),
        ("git log --oneline v1.2..v1.3", "git log --oneline …"),
        ("git commit -m 'Sum up the till'", "git commit -m …"),
        ("python3 -c 'import till; till.main()'", "python3 -c …"),
        ("gh pr checks 14 --watch --interval 15", "gh pr checks … --watch --interval 15"),
        ("cd web && npm test -- a.test.ts b.test.ts", "cd web && npm test -- …"),
        ("env GOCACHE=/tmp/a go vet ./...", "env GOCACHE=… go vet ./..."),
        ("/opt/tools/bin/plan export 42", "/opt/tools/bin/plan export …"),
    ],
)
def test_the_words_of_one_day_are_left_out(command: str, kept: str) -> None:
    assert without_one_offs(command) == kept


@pytest.mark.parametrize(
    "command",
    [
        "pip install -r requirements.txt",
        "docker compose -f compose.test.yml up --build",
        "terraform plan -var-file=env/dev.tfvars",
        "bazel test //till:all",
        "mise exec -- golangci-lint run --timeout=30m ./...",
        "PYTHONPATH=. pytest -q",
        "wp report late --week 2026-W14",
        "make -C backend test",
        "cd web && npm test",
        "",
    ],
)
def test_what_other_sessions_can_run_stays_as_it_was_written(command: str) -> None:
    assert without_one_offs(command) == command


def test_the_head_of_a_command_has_the_options_before_the_last_word_of_its_form() -> None:
    assert head_of("fnm exec --using=24 pnpm test a.ts", "fnm exec pnpm test") == "fnm exec --using=24 pnpm test"
    assert head_of("/opt/bin/go test ./x", "go test") == "go test", "the form, if the program is written otherwise"


@given(st.text(max_size=80))
def test_any_text_keeps_its_beginning_and_is_left_alone_the_second_time(text: str) -> None:
    kept = without_one_offs(text)
    assert kept == text or "…" in kept
