"""The form of a call: what was written stays, what varies from call to call is masked."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from seasoned.insight.mistake.call_form import LONGEST, command_form, form_of, form_of_call, value_shape
from seasoned.insight.track import JudgedCall
from tests.each_case import each_case


@each_case(
    ("command", "form"),
    [
        ("bun run test", "bun run test"),
        ("rtk bun run test 2>&1 | tail -5", "rtk bun run test"),
        ("go test ./...", "go test ./..."),
        ("go test -run TestA ./cli/list -v", "go test -run …"),
        ('git -C /home/me/x commit -m "a message"', "git -C … commit -m …"),
        ("PYTHONPATH=. pytest -q tests/test_a.py", "PYTHONPATH=… pytest …"),
        ("env PYTHONPATH=. pytest", "PYTHONPATH=… pytest"),
        ("uv run pytest -q", "uv run pytest"),
        ("poetry run ruff check . --fix", "poetry run ruff check --fix ."),
        ("python -m pytest tests", "python -m pytest …"),
        (".venv/bin/pytest", ".venv/bin/pytest"),
        ("/home/me/work/shop/.venv/bin/pytest", "…/.venv/bin/pytest"),
        ("sudo timeout 60 make build", "sudo timeout make build"),
        ("mise exec -- golangci-lint run ./...", "mise exec golangci-lint run ./..."),
        ("corepack pnpm --filter web test", "corepack pnpm --filter … test"),
        ("cd web && npm run build", "cd web && npm run build"),
        ("cd /home/me/work/shop && npm test", "cd …/shop && npm test"),
        ("git add -A && git commit -m x && git push origin main", "git add -A && git commit -m … && git push …"),
        ("git status; npm test; echo done", "npm test"),
        ("git status", "git status"),
        ("ls -la src", "ls …"),
        ("python scripts/make_docs.py --all now", "python scripts/make_docs.py --all …"),
        ("python -c 'print(1)'", "python -c …"),
        ("apply_patch <<'P'\n*** Begin Patch\n*** Update File: a.py\n*** End Patch\nP", "apply_patch"),
    ],
)
def test_a_command_has_the_form_in_which_it_was_written(command: str, form: str) -> None:
    assert command_form(command) == form


def test_two_commands_of_one_form_differ_only_in_what_varies() -> None:
    assert command_form("git commit -m one") == command_form("git commit -m 'two words'")
    assert command_form("npm test") != command_form("npx npm test")
    assert command_form("make check") != command_form("make lint")


def test_another_tool_has_its_name_and_what_it_was_given() -> None:
    edit = {"file_path": "/a/b.py", "old_string": "x", "new_string": "y", "replace_all": False, "timeout": 3}
    assert form_of_call("Edit", edit) == "Edit(file_path, new_string, old_string)"
    assert form_of_call("get_order", {"order_id": "#W9502127"}) == "get_order(order_id:#A0)"
    assert form_of_call("get_order", {"order_id": "9502127"}) == "get_order(order_id:0)"
    assert form_of_call("Bash", {}) is None


@each_case(
    ("value", "shape"),
    [
        ("4ce84f4e-af33-43fe-a749-cfe9c112f7ed", "uuid"),
        ("2026-01-31", "day"),
        ("2026-01-31T10:00:00Z", "time"),
        ("2026-W11", "0-A0"),
        ("https://example.org", "url"),
        ("ws/notes.txt", "ws/path"),
        ("/home/me/notes.txt", "/path"),
        ("open", "word"),
        ("two words", "words"),
        (7, "number"),
        (True, "switch"),
        ([1, "a"], "[number|word]"),
        ({"b": 1, "a": 2}, "{a,b}"),
    ],
)
def test_a_value_has_the_shape_in_which_it_is_written(value: object, shape: str) -> None:
    assert value_shape(value) == shape


@given(st.text(max_size=300))
def test_any_command_has_a_form_or_none(command: str) -> None:
    form = command_form(command)
    assert form is None or 0 < len(form) <= LONGEST
    raw = msgspec.json.encode({"command": command}).decode("utf-8", "replace")
    form_of(JudgedCall(0, 0, "Bash", "terminal", "ok", "ok", "none", raw_arguments=raw))
