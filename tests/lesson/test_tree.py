"""What a checkout says about a command: what is gone is not told, and what it names itself counts as said."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.lesson import task_file
from seasoned.lesson.tree import agrees, contradiction

PROGRAMS = "mise just make npm pnpm yarn bun node turbo cargo go uv poetry python3 bash npx uvx task"


def plant(folder: Path, files: dict[str, str]) -> Path:
    """Write a tree, with the programs that its commands need."""
    programs = dict.fromkeys((f"bin/{name}" for name in PROGRAMS.split()), "#!/bin/sh\n")
    for name, text in {**files, **programs}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    (folder / ".git").mkdir()
    return folder


def check_commands(folder: Path, fine: str, held_back: str = "") -> None:
    """Check commands that nothing speaks against, and lines `command -> part of the reason`."""
    commands = [command.strip() for command in fine.split(";;")]
    assert {command: contradiction(command, folder) for command in commands} == dict.fromkeys(commands)
    expected = dict(line.strip().split(" -> ") for line in held_back.splitlines() if line.strip())
    found = {command: contradiction(command, folder) or "" for command in expected}
    assert {command: reason for command, reason in found.items() if expected[command] not in reason} == {}


def check_agrees(folder: Path, right: str, wrong: str) -> None:
    assert [command for command in right.split(";;") if not agrees(command.strip(), folder)] == []
    assert [command for command in wrong.split(";;") if agrees(command.strip(), folder)] == []


MISE = {
    "mise.toml": """
[tools]
hk = "latest"
[task_config]
includes = ["tasks.toml", "xtasks"]
[tasks."perf:record"]
run = "tak run --record"
""",
    "tasks.toml": 'clean = "cargo clean"\n[build]\nalias = "b"\nrun = "x"\n["docs:setup"]\nrun = ["bun i"]\n',
    "xtasks/lint/clippy": "#!/usr/bin/env bash\n",
    "xtasks/lint/_default": "#!/usr/bin/env bash\n",
    "xtasks/lint-fix.sh": "#!/usr/bin/env bash\n",
    ".mise/tasks/deploy": "#!/bin/sh\n",
    "mise.dev.toml": '[tasks.local]\nrun = "x"\n',
    "web/mise.toml": '[tasks]\ndev = "vite"\n',
    "Cargo.toml": '[package]\nname = "mise"\n',
}


def test_tasks_of_mise_come_from_files_that_it_includes_and_from_scripts(tmp_path: Path) -> None:
    plant(tmp_path, MISE)
    known = "perf:record clean build b docs:setup lint lint:clippy lint-fix lint-fix.sh deploy local dev //web:x"
    check_commands(tmp_path, ";;".join(f"mise run {name}" for name in known.split()))
    fine = """mise run lint ::: gone;; mise r lint -- gone;; mise run 'lint:*';; mise trust;; mise exec -- hk check;;
        mise -C web run x;; cd web && mise run build;; hk check;; cargo xtask gen;; cargo test -p gone"""
    held_back = """
        mise run lint:full -> no task 'lint:full'
        cd web && mise run gone -> no task 'gone'
        mise x node@22 -- npm test -> there is no package.json"""
    check_commands(tmp_path, fine, held_back)
    right = "mise run lint:clippy 2>&1 | tail -5;;cargo test;;mise run b && mise r clean"
    check_agrees(tmp_path, right, "mise run gone;;go test;;cargo test -p a;;mise x -- gone x;;mise -C web run dev")


@pytest.mark.parametrize("include", ["git::https://example.com/x.git//tasks", "{{ root }}/tasks", "a.toml", "*.toml"])
def test_nothing_is_said_about_tasks_of_an_include_that_is_not_read(tmp_path: Path, include: str) -> None:
    plant(tmp_path, {"mise.toml": f'[task_config]\nincludes = ["{include}"]\n[tasks.here]\nrun = "x"\n'})
    check_commands(tmp_path, "mise run anything")
    check_agrees(tmp_path, "mise run here", "mise run anything")


def test_scripts_in_a_folder_are_tasks_of_mise_and_may_have_other_names(tmp_path: Path) -> None:
    plant(tmp_path, {"mise-tasks/fmt": "#!/bin/sh\n"})
    check_commands(tmp_path, "mise run fmt", "mise run f -> no task 'f'")
    (tmp_path / "mise-tasks/fmt").write_text("#!/bin/sh\n#MISE alias='f'\n")
    check_commands(tmp_path, "mise run f")


PACKAGE = '{"packageManager": "pnpm@10.33.0", "scripts": {"build": "turbo run build", "lint": "x", "test": "x"}}'


def test_scripts_of_a_package(tmp_path: Path) -> None:
    plant(tmp_path, {"package.json": PACKAGE, "docs/package.json": '{"scripts": {"serve": "x"}}', "x.ts": ""})
    fine = """pnpm test;; pnpm gone;; pnpm vitest run;; pnpm licenses list;; pnpm -C x run a;; pnpm --dir=x run a;;
        pnpm run '/^build:/';; pnpm run --if-present gone;; pnpm exec gone;; npm ci && npm run gone;; npm view gone;;
        bun test a;; bun run x.ts;; yarn run eslint;; npm run serve;; npx turbo run gone;; turbo run a;; npx nosuch-7"""
    held_back = """
        pnpm -s run gone -> package.json has no script 'gone'
        mise x -- npm run gone -> no script 'gone'"""
    check_commands(tmp_path, fine, held_back)
    # Scripts of another package are not looked up.
    filtered = "pnpm --filter web run gone;;pnpm -F web run gone;;npm run gone -w web;;npm run gone --workspace=web"
    check_commands(tmp_path, f"{filtered};;pnpm -r run gone;;yarn workspace web test;;bun run --filter '*' gone")
    (tmp_path / "pnpm-workspace.yaml").write_text("packages:\n  - 'apps/*'\n")
    check_commands(tmp_path, "pnpm run gone")


def test_the_lock_file_says_which_package_manager_works_here(tmp_path: Path) -> None:
    plant(tmp_path, {"package.json": PACKAGE, "node_modules/.bin/vitest": "", "web/a": "", "pnpm-lock.yaml": ""})
    right = "pnpm test;;pnpm run lint;;pnpm lint;;pnpm install;;cd web && pnpm test;;CI=1 nice pnpm test;;pnpm vitest"
    wrong = "npm test;;npm run lint;;yarn test;;bun test;;pnpm run gone;;pnpm gone;;echo 1 && pnpm test;;pnpm"
    check_agrees(tmp_path, right, wrong)
    (tmp_path / "package.json").write_text('{"scripts": {"lint": "x"}}')
    check_agrees(tmp_path, "pnpm run lint", "npm run lint")
    (tmp_path / "package-lock.json").write_text("{}")
    assert not agrees("pnpm run lint", tmp_path) and not agrees("npm run lint", tmp_path)
    (tmp_path / "pnpm-lock.yaml").unlink()
    (tmp_path / "package-lock.json").unlink()
    check_agrees(tmp_path, "npm run lint", "npm test;;pnpm lint;;npm install")


MAKE = """
BIN := $(shell pwd)/bin
URL = https://example.com
.PHONY: test lint
test lint: deps ; echo
build: $(BIN)/tool
$(BIN)/tool: main.c
\tcc x: y
"""


def test_targets_of_make(tmp_path: Path) -> None:
    plant(tmp_path, {"Makefile": MAKE, "docs/Makefile": "html:\n\techo\n", "a.md": ""})
    fine = """make;; make test;; make -j4 build;; make -j 8 lint;; make CI=1 test;; make a.md;; make bin/x;; make html;;
        make -f o.mk gone;; make -C gone x;; make $TARGET;; make gone || true;; git checkout x && make gone;;
        cd $HERE && make gone;; (cd docs && make html) && (cd web && make gone);; cd docs && make test"""
    held_back = """
        make test gone -> Makefile has no task 'gone'
        make URL -> no task 'URL'
        cd gone && make test -> no folder 'gone'"""
    check_commands(tmp_path, fine, held_back)
    check_agrees(tmp_path, "make test lint", "make gone;;make;;make -C docs html")


@pytest.mark.parametrize("more", ["include mk/*.mk", "-include $(X)", "release-%:", "$(TOOL): a", "$(eval $(call x))"])
def test_nothing_is_said_about_targets_that_may_come_from_elsewhere(tmp_path: Path, more: str) -> None:
    check_commands(plant(tmp_path, {"Makefile": f"{MAKE}\n{more}\n"}), "make gone")
    check_agrees(tmp_path, "make test", "make gone")


def test_recipes_of_just(tmp_path: Path) -> None:
    text = """
set shell := ["bash", "-c"]
version := "a: b"
alias t := test
@fmt arg='x' *rest:
    echo a:b
[private]
_hidden:
test filter="a:b": build
"""
    plant(tmp_path, {"justfile": text})
    check_commands(
        tmp_path, "just;;just t;;just fmt;;just test x;;just _hidden;;just --list", "just gone -> no task 'gone'"
    )
    check_commands(tmp_path, "cd bin && just fmt", "just version -> no task 'version'")
    check_agrees(tmp_path, "just fmt", "just gone")
    for more in ("import 'ci.just'", "mod web", "set fallback"):
        (tmp_path / "justfile").write_text(f"{text}{more}\n")
        check_commands(tmp_path, "just gone")


def test_a_project_of_uv(tmp_path: Path) -> None:
    plant(tmp_path, {"pyproject.toml": "[project]\n", "uv.lock": "", "scripts/a.py": "", "gradlew": "", "dist/t": ""})
    fine = """uv run acme;; uv run pytest -q;; uv sync;; uvx ruff check;; poetry run acme;; uv run scripts/a.py;;
        uv run python -m acme;; .venv/bin/python -m pytest;; source .venv/bin/activate && gone9;; python3 dist/made.py;;
        python3 scripts/a.py --fast;; ./acme-server;; uv run --directory scripts python gone.py;; python3 a.py;;
        python3 -X dev gone.py;; ./gradlew x;; go version;; go install example.com/x@latest;; task gone;; make -v"""
    held_back = """
        uv run scripts/x.py -> no file 'scripts/x.py'
        uv run python scripts/x.py -> no file 'scripts/x.py'
        bash scripts/gone.sh -> no file 'scripts/gone.sh'
        ./scripts/gone -> no file 'scripts/gone'
        npm test -> no package.json
        go build ./... -> no go.mod
        cargo test -> no Cargo.toml
        make test -> no Makefile
        just -> no justfile"""
    check_commands(tmp_path, fine, held_back)
    check_agrees(tmp_path, "uv run pytest -q;;uv sync;;./gradlew x", "poetry run x;;pytest;;uv run x.py;;./dist/t")


def test_whether_a_program_is_installed_is_not_looked_at(tmp_path: Path) -> None:
    held_back = "/opt/gone/bin/go test -> no file '/opt/gone/bin/go'"
    check_commands(tmp_path, "gone9 x;; timeout 5 gone9;; $TOOL x;; . ./env.sh && gone9", held_back)


def test_what_cannot_be_read_speaks_against_nothing(tmp_path: Path) -> None:
    plant(tmp_path, {"mise.toml": "not = [valid", "package.json": "{", "Makefile": "x" * 1_000_001})
    check_commands(tmp_path, "mise run x;;npm run x;;make x;;cd ~nosuchuser9 && make x;;make a\0b")
    assert not any(agrees(command, tmp_path) for command in ("npm run x", "cd ~nosuchuser9 && make x", "make x"))


def test_each_file_is_read_once_for_a_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {f"p{n}/package.json": '{"scripts": {"build": "x"}}' for n in range(80)}
    plant(tmp_path, {**MISE, **parts, "package.json": PACKAGE})
    read, original = list[Path](), task_file.read_small
    monkeypatch.setattr(task_file, "read_small", lambda path: read.append(path) or original(path))
    for command in ("npm run gone", "mise run gone", "mise run build && pnpm test && pnpm lint"):
        read.clear()
        assert (contradiction(command, tmp_path) is None) == agrees(command, tmp_path)
        assert max(map(read.count, read)) <= 2, command  # once for each of the two questions
