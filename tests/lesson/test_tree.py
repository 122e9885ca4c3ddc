"""What a checkout says about a command: what is gone is not told, and what it names itself counts as said.

The trees are laid out as those of well-known repositories: jdx/mise, a pnpm and turbo monorepo, a workspace of cargo,
a project of uv.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import pytest

from seasoned.lesson.tree import agrees, contradiction

PROGRAMS = "mise just task make npm pnpm yarn bun node turbo deno cargo go uv poetry python3 bash npx uvx nx"


def plant(folder: Path, files: dict[str, str]) -> Path:
    """Write a tree, with the programs that its commands need."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / ".git").mkdir()
    for name in PROGRAMS.split():
        program = folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    return folder


def check_commands(folder: Path, cases: dict[str, str | None]) -> None:
    """Compare the reason against each command with a part of it; None if nothing speaks against the command."""
    found = {command: contradiction(command, folder) for command in cases}
    wrong = {
        command: reason
        for command, reason in found.items()
        if (reason is None) != ((part := cases[command]) is None) or (part and reason and part not in reason)
    }
    assert not wrong


MISE = {
    "mise.toml": """
min_version = "2026.8.16"
[tools]
hk = "latest"
"npm:prettier" = "3.9.6"
[task_config]
includes = ["tasks.toml", "xtasks"]
[tasks.perf]
run = ["cargo build --release", "tak run"]
[tasks."perf:record"]
run = "tak run --record"
""",
    "tasks.toml": """
clean = "cargo clean"
[build]
alias = "b"
run = "cargo build"
["docs:setup"]
run = ["bun i"]
""",
    "xtasks/lint/clippy": "#!/usr/bin/env bash\n",
    "xtasks/lint/_default": "#!/usr/bin/env bash\n",
    "xtasks/lint-fix.sh": "#!/usr/bin/env bash\n",
    "xtasks/test/e2e": '#!/usr/bin/env bash\n#MISE description="run them" alias="e"\n',
    ".mise/tasks/deploy": "#!/bin/sh\n",
    "web/mise.toml": '[tasks]\ndev = "vite"\n',
    "Cargo.toml": '[package]\nname = "mise"\n',
    ".cargo/config.toml": '[alias]\nxtask = "run --package xtask --"\n',
    "Cargo.lock": '[[package]]\nname = "mise"\n\n[[package]]\nname = "vfox"\n',
}


def test_tasks_of_mise_come_from_files_that_it_includes_and_from_scripts(tmp_path: Path) -> None:
    known = "perf perf:record clean build b docs:setup lint lint:clippy lint-fix lint-fix.sh test:e2e e deploy dev"
    cases: dict[str, str | None] = {f"mise run {name}": None for name in known.split()}
    cases |= {
        "mise run lint ::: gone": None,
        "mise run lint:full": "no task 'lint:full'",
        "mise tasks run gone": "no task 'gone'",
        "mise r test:e2e -- --filter gone": None,
        "mise run //web:dev": None,
        "mise run 'lint:*'": None,
        "mise trust": None,
        "mise exec -- hk check": None,
        "mise x node@22 -- npm test": "there is no package.json",
        "mise exec hk install": None,
        "mise -C web run dev": None,
        "cd web && mise run perf": None,
        "cd web && mise run gone": "no task 'gone'",
        "hk check": None,  # mise installs it
        "cargo xtask gen": None,
        "cargo test -p vfox": None,
        "cargo test -p gone": "no package 'gone'",
        "cargo run -- -p gone": None,
        "cargo +nightly fmt": None,
        "cargo nosuchthing-9": "no subcommand",
    }
    check_commands(plant(tmp_path, MISE), cases)
    assert agrees("mise run lint:clippy 2>&1 | tail -5", tmp_path)
    assert agrees("cargo xtask gen", tmp_path) and agrees("cargo test", tmp_path)
    assert agrees("mise exec -- prettier --check .", tmp_path) and not agrees("mise exec -- gone x", tmp_path)
    assert not agrees("mise run gone", tmp_path) and not agrees("go test ./...", tmp_path)


@pytest.mark.parametrize(
    "include", ["git::https://example.com/shared.git//tasks", "{{ config_root }}/tasks", "gone.toml"]
)
def test_nothing_is_said_about_tasks_of_an_include_that_is_not_read(tmp_path: Path, include: str) -> None:
    plant(tmp_path, {"mise.toml": f'[task_config]\nincludes = ["{include}"]\n[tasks.here]\nrun = "x"\n'})
    check_commands(tmp_path, {"mise run anything": None})
    assert agrees("mise run here", tmp_path) and not agrees("mise run anything", tmp_path)


def test_a_folder_of_tasks_is_enough_for_mise(tmp_path: Path) -> None:
    check_commands(
        plant(tmp_path, {"mise-tasks/fmt": "#!/bin/sh\n"}), {"mise run fmt": None, "mise run gone": "no task 'gone'"}
    )


MONOREPO = {
    "package.json": '{"name": "acme", "packageManager": "pnpm@10.33.0", "scripts": {"build": "turbo run build",'
    ' "lint": "x", "test": "x"}, "devDependencies": {"turbo": "2"}}',
    "pnpm-lock.yaml": "lockfileVersion: '9.0'\n",
    "pnpm-workspace.yaml": "packages:\n  - 'apps/*'\n  - \"packages/*\"\n  - '!packages/old'\n",
    "turbo.json": '{\n  // comments are fine here\n  "tasks": {"build": {}, "lint": {}, "@acme/web#e2e": {}}\n}\n',
    "apps/web/package.json": '{"name": "@acme/web", "scripts": {"dev": "vite", "typecheck": "tsc"}}',
    "packages/ui/package.json": '{"name": "@acme/ui", "scripts": {"storybook": "x"}}',
    "node_modules/.bin/vitest": "",
    "docs/package.json": '{"name": "docs", "scripts": {"serve": "x"}}',
    "nx.json": "{}",
}


def test_scripts_of_a_workspace_are_looked_up_in_the_package_that_is_named(tmp_path: Path) -> None:
    plant(tmp_path, MONOREPO)
    (tmp_path / "node_modules/.bin/vitest").chmod(0o755)
    check_commands(
        tmp_path,
        {
            "pnpm test": None,
            "pnpm run gone": "no script 'gone'",
            "pnpm -s run gone": "no script 'gone'",
            "pnpm gone": "no script 'gone'",
            "pnpm vitest run": None,
            "pnpm licenses list": None,
            "pnpm --filter @acme/web run dev": None,
            "pnpm --filter web run typecheck": None,
            "pnpm --filter=@acme/web run storybook": "@acme/web has no script 'storybook'",
            "pnpm -F @acme/web -F @acme/ui run storybook": None,
            "pnpm --filter '@acme/*' run gone": None,
            "pnpm -r run storybook": None,
            "pnpm -C apps/web run dev": None,
            "pnpm --dir gone run dev": "no folder",
            "pnpm run '/^build:/'": None,
            "pnpm run --if-present gone": None,
            "pnpm exec gone": None,
            "pnpm dlx gone": None,
            "npm run gone": "no script 'gone'",
            "npm run dev -w @acme/web": None,
            "npm run gone --workspace=@acme/web": "@acme/web has no script 'gone'",
            "npm ci && npm run gone": None,
            "npm view gone": None,
            "node --run lint": None,
            "node --run gone": "no script 'gone'",
            "yarn workspace @acme/ui storybook": None,
            "yarn workspaces foreach run gone": None,
            "bun run --filter '*' build": None,
            "bun test src/gone.test.ts": None,
            "npm run serve": None,  # in a folder of the monorepo
            "npx turbo run build": None,
            "turbo run lint e2e --filter=web": None,
            "turbo run gone": "no task 'gone'",
            "nx affected -t test": None,
            "nx run web:gone": None,
            "npx nosuchprogram-7": None,
        },
    )


def test_the_lock_file_says_which_package_manager_works_here(tmp_path: Path) -> None:
    plant(tmp_path, MONOREPO)
    right = "pnpm test|pnpm run lint|pnpm install|cd apps/web && pnpm dev|CI=1 timeout 60 pnpm test"
    right += "|pnpm --filter @acme/web run dev"
    wrong = "npm test|npm run lint|yarn test|bun test|pnpm run gone|pnpm run dev|echo 1 && pnpm test|pnpm"
    assert {command: agrees(command, tmp_path) for command in f"{right}|{wrong}".split("|")} == {
        **dict.fromkeys(right.split("|"), True),
        **dict.fromkeys(wrong.split("|"), False),
    }
    (tmp_path / "package.json").write_text('{"scripts": {"lint": "x"}}')
    assert agrees("pnpm run lint", tmp_path)
    (tmp_path / "package-lock.json").write_text("{}")
    assert not agrees("pnpm run lint", tmp_path) and not agrees("npm run lint", tmp_path)


def test_without_a_lock_file_only_a_script_says_npm(tmp_path: Path) -> None:
    plant(tmp_path, {"package.json": '{"scripts": {"lint": "x"}}'})
    assert agrees("npm run lint", tmp_path) and agrees("node --run lint", tmp_path)
    assert (
        not agrees("npm test", tmp_path) and not agrees("pnpm lint", tmp_path) and not agrees("npm install", tmp_path)
    )


MAKE = """
include mk/*.mk
BIN := $(shell pwd)/bin
URL = https://example.com
.PHONY: test lint
test lint: deps ; echo
build: $(BIN)/tool
$(BIN)/tool: main.c
\tcc x: y
%.pb.go: %.proto
\tprotoc
release-%:
\techo
"""


def test_targets_of_make(tmp_path: Path) -> None:
    plant(
        tmp_path, {"Makefile": MAKE, "mk/docker.mk": "image:\n\techo\n", "docs/Makefile": "html:\n\techo\n", "a.md": ""}
    )
    check_commands(
        tmp_path,
        {
            **dict.fromkeys(("make", "make test", "make -j4 build", "make -j 8 lint", "make image", "make CI=1 test")),
            **dict.fromkeys(("make api.pb.go", "make release-1.2", "make a.md", "make -C docs html", "make html")),
            **dict.fromkeys(
                ("make -f other.mk gone", "make $TARGET", "make gone || true", "git checkout x && make gone")
            ),
            **dict.fromkeys(("make -C $HERE gone", "make --directory=docs html")),
            "make gone": "no target 'gone'",
            "make test gone": "no target 'gone'",
            "make URL": "no target 'URL'",
            "cd mk && make test": None,
            "make -C gone html": "no folder 'gone'",
            "cd gone && make test": "no folder 'gone'",
            "cd $HERE && make gone": None,
            "(cd docs && make html) && (cd mk && make gone)": None,
        },
    )
    assert agrees("make test lint", tmp_path) and not agrees("make release-1.2", tmp_path)
    (tmp_path / "Makefile").write_text("include $(ROOT)/rules.mk\ntest:\n\techo\n")
    check_commands(tmp_path, {"make gone": None})


def test_recipes_of_just(tmp_path: Path) -> None:
    text = """
import 'ci.just'
mod web
set shell := ["bash", "-c"]
version := "a: b"
alias t := test
default: test
@fmt arg='x' *rest:
    echo a:b
[private]
_hidden:
test filter="a:b": build
build:
    cargo build
"""
    plant(tmp_path, {"justfile": text, "ci.just": "ci: test\n", "web.just": "dev:\n    vite\n"})
    known = (
        "just|just t|just fmt|just test x|just _hidden|just ci|just web dev|just web::dev|just --list|cd bin && just ci"
    )
    check_commands(
        tmp_path, {**dict.fromkeys(known.split("|")), "just gone": "no task 'gone'", "just version": "no task"}
    )
    assert agrees("just ci", tmp_path) and not agrees("just web dev", tmp_path) and not agrees("just gone", tmp_path)


def test_tasks_of_a_taskfile(tmp_path: Path) -> None:
    text = """
version: '3'
includes:
  docs: ./docs
  remote:
    taskfile: https://example.com/Taskfile.yml
vars:
  GREETING: hi
tasks:
  default:
    cmds: [echo]
  test:unit:
    aliases: [tu]
    desc: "a: b"
    cmds:
      - task: lint
  lint: golangci-lint run
  'start:*':
    cmds: [echo]
"""
    plant(tmp_path, {"Taskfile.yml": text})
    known = "test:unit|tu|lint -- --fix|start:web|docs:serve|docs|remote:x|lint A=1|"
    check_commands(
        tmp_path,
        {**{f"task {name}": None for name in known.split("|")}, "task gone": "no task", "task GREETING": "no task"},
    )
    assert agrees("task test:unit lint", tmp_path) and not agrees("task docs:serve", tmp_path)


def test_tasks_of_deno(tmp_path: Path) -> None:
    plant(tmp_path, {"deno.jsonc": '{ // tasks\n "tasks": {"dev": "deno run main.ts"}}', "main.ts": ""})
    check_commands(
        tmp_path,
        {"deno task dev": None, "deno task gone": "no task 'gone'", "deno run main.ts": None, "deno test": None},
    )
    assert agrees("deno task dev", tmp_path)


def test_a_project_of_uv(tmp_path: Path) -> None:
    project = '[project]\nname = "acme"\n[project.scripts]\nacme = "acme.cli:main"\n'
    plant(
        tmp_path, {"pyproject.toml": project, "uv.lock": "version = 1\n", "scripts/build.py": "", "tests/test_a.py": ""}
    )
    check_commands(
        tmp_path,
        {
            **dict.fromkeys(
                ("uv run acme", "uv run pytest -q", "uv run sphinx-build docs", "uv sync", "uvx ruff check")
            ),
            **dict.fromkeys(("uv run scripts/build.py", "uv run python -m acme", "uv run --with rich python -c 'x'")),
            **dict.fromkeys((".venv/bin/python -m pytest", "source .venv/bin/activate && pytest", "poetry run acme")),
            **dict.fromkeys(("python3 scripts/build.py --fast", "python3 dist/made.py", "./acme-server")),
            **dict.fromkeys(("uv run --directory scripts python build.py", "python3 build.py")),
            "uv run scripts/gone.py": "no file 'scripts/gone.py'",
            "uv run python scripts/gone.py": "no file 'scripts/gone.py'",
            "python3 -X dev scripts/gone.py": "no file 'scripts/gone.py'",
            "bash scripts/gone.sh": "no file 'scripts/gone.sh'",
            "./scripts/gone": "no file 'scripts/gone'",
            "npm test": "there is no package.json",
            "go build ./...": "there is no go.mod",
            "make test": "there is no Makefile",
            "just": "there is no justfile",
            "cargo test": "there is no Cargo.toml",
            **dict.fromkeys(("go version", "go install example.com/x@latest", "cargo install x", "cargo --version")),
        },
    )
    assert agrees("uv run pytest -q", tmp_path) and agrees("uv sync", tmp_path)
    assert not agrees("poetry run pytest", tmp_path) and not agrees("pytest", tmp_path)
    assert not agrees("uv run scripts/gone.py", tmp_path)


def test_a_script_of_the_checkout_says_itself(tmp_path: Path) -> None:
    plant(tmp_path, {"gradlew": "#!/bin/sh\n", "dist/tool.sh": "#!/bin/sh\n"})
    assert agrees("./gradlew test", tmp_path) and not agrees("./dist/tool.sh", tmp_path)
    check_commands(tmp_path, {"./gradlew anything": None, "./mvnw test": "no file 'mvnw'"})


def test_a_program_is_missing_only_if_nothing_that_a_shell_knows_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    checkout = plant(tmp_path / "checkout", {".tool-versions": "terraform 1.9\n"})
    for place in (
        ".nvm/versions/node/v22.1.0/bin/corepack9",
        ".local/share/mise/installs/x/1/bin/tool9",
        ".local/bin/mine9",
    ):
        path = home / place
        path.parent.mkdir(parents=True)
        path.write_text("")
        path.chmod(0o755)
    (home / ".zshrc").write_text('alias kc9=kubectl\nexport PATH="$HOME/.nvm/versions/odd:$HOME/own:$PATH"\n')
    (home / "own").mkdir()
    (home / "own" / "own9").write_text("")
    monkeypatch.setenv("HOME", str(home))
    check_commands(
        checkout,
        {
            **dict.fromkeys(
                (
                    "corepack9 x",
                    "tool9",
                    "mine9",
                    "own9",
                    "kc9 get",
                    "terraform plan",
                    "nvm use 18",
                    "source x",
                    "export A=1",
                )
            ),
            **dict.fromkeys(("PATH=$HOME/x:$PATH gone9", ". ./env.sh && gone9", "$TOOL x", "command -v gone9")),
            "gone9 x": "'gone9' is not on the path",
            "timeout 5 gone9": "'gone9' is not on the path",
            "gone9 exec -- make": "'gone9' is not on the path",
            "/opt/gone/bin/go test": "no file '/opt/gone/bin/go'",
        },
    )


def test_what_cannot_be_read_speaks_against_nothing(tmp_path: Path) -> None:
    plant(tmp_path, {"mise.toml": "not = [valid", "package.json": "{", "Makefile": "include **x\n"})
    check_commands(
        tmp_path, dict.fromkeys(("mise run x", "npm run x", "make x", "cd ~nosuchuser9 && make x", "make a\0b"))
    )
    assert not agrees("npm run x", tmp_path) and not agrees("cd ~nosuchuser9 && make x", tmp_path)


def test_the_checkout_of_this_project_knows_its_own_commands() -> None:
    here = Path(__file__).parents[2]
    check_commands(
        here,
        {"make check": None, "make gone": "no target 'gone'", "python3 tools/make_docs.py": None, "npm test": "no pa"},
    )
    assert agrees("make test", here) and not agrees("npm test", here)


def test_a_large_monorepo_is_read_in_a_few_milliseconds(tmp_path: Path) -> None:
    parts = {f"packages/p{n}/package.json": f'{{"name": "p{n}", "scripts": {{"build": "x"}}}}' for n in range(200)}
    plant(tmp_path, {**MONOREPO, **parts, **{f"d{n}/Makefile": "x:\n" for n in range(80)}, "Makefile": "test:\n"})
    for command in ("pnpm run gone", "make gone", "mise run gone", "gone9 x"):
        contradiction(command, tmp_path)
        started = perf_counter()
        contradiction(command, tmp_path)
        assert perf_counter() - started < 0.1, command  # 5 ms at most, and much more on a machine that is busy
