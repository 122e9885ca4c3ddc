"""What instruction files already say is not said again."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.lesson.instruction_file import instructions_say

AGENTS = """# Repository guidelines

## Commands

- Run the unit tests with `pnpm test`; for a single file use `pnpm vitest run path/to/file`.
- **Type check**: `pnpm  run typecheck`

```sh
uv run pytest -q
make test-all
```

We never import inside of functions: put all imports
at the top of the file.
Use pnpm, not npm, to install packages. Open pull requests against `develop`.
Before you commit, check everything with `bun run verify`.
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "AGENTS.md").write_text(AGENTS)
    (tmp_path / "packages" / "web").mkdir(parents=True)
    return tmp_path


WRITTEN = """pnpm test | `PNPM test` | pnpm run typecheck | uv run pytest | make test-all
    | Put all imports at the top of the file. | Never import inside functions, put imports at the top of the file
    | use pnpm to install packages, not npm | Always check everything with `bun run verify`
    | open pull requests against develop"""
NOT_WRITTEN = """make test | npm test | pytest -x | test-all.sh | never commit | `` | always import inside functions
    | use npm to install packages, not pnpm | never open pull requests against develop
    | never open pull requests against release branches | open pull requests against main
    | check the migrations with `bun run verify:db`"""


@pytest.mark.parametrize("text", WRITTEN.split("|"))
def test_a_command_or_rule_that_stands_there(checkout: Path, text: str) -> None:
    assert instructions_say(text, checkout) and instructions_say(text, checkout / "packages" / "web")


@pytest.mark.parametrize("text", NOT_WRITTEN.split("|"))
def test_a_command_or_rule_that_does_not(checkout: Path, text: str) -> None:
    assert not instructions_say(text, checkout)


def test_files_that_are_imported_and_files_of_a_part_are_read(checkout: Path) -> None:
    (checkout / ".claude").mkdir()
    (checkout / ".claude" / "CLAUDE.md").write_text("See @../docs/rules.md for more, and ask me@example.com\n")
    (checkout / "docs").mkdir()
    (checkout / "docs" / "rules.md").write_text("Deploy with `make ship`.\n@rules.md\n")
    (checkout / "packages" / "web" / "GEMINI.md").write_text("Start it with `pnpm dev`.\n")
    assert instructions_say("make ship", checkout / "packages" / "web")
    assert instructions_say("pnpm dev", checkout / "packages" / "web")
    assert not instructions_say("pnpm dev", checkout)


def test_files_above_the_checkout_and_those_that_cannot_be_read_say_nothing(checkout: Path) -> None:
    inner = checkout / "vendor" / "other"
    (inner / ".git").mkdir(parents=True)
    (inner / "CLAUDE.md").symlink_to(inner / "CLAUDE.md")
    (inner / "GEMINI.md").mkdir()
    (inner / "AGENTS.md").write_bytes(b"\xff\xfe\x00 @gone.md make ship")
    assert instructions_say("make ship", inner) and not instructions_say("pnpm test", inner / "gone")
