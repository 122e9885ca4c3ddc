"""Ten projects, each with its own commands to test, check, format and build; formerly they were others.

In half of the projects the commands that hold now are what most projects of the kind use, so that a model may guess
them without any experience. The former commands are never those.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from tools.evidence.service import ODD, PLAIN, STEPS

from seasoned.experiment.task.task_file import (
    Condition,
    Environment,
    EnvironmentTool,
    Expectation,
    Task,
)

PURPOSES = ("test", "check", "format", "build")
TOOL, ARGUMENT = "run_command", "command"
_ASKED = {
    "test": ("Run the tests.", "Do all tests pass?", "Please test what is there."),
    "check": ("Run the linter.", "Does the code pass the lint check?", "Lint the code."),
    "format": ("Format the code.", "Run the formatter.", "Reformat the sources."),
    "build": ("Build it.", "Make a build.", "Does it build?"),
}


def _folder(name: str) -> str:
    return f"/home/mira/{name}"


def folder_of(task: Task) -> str:
    """Where a session with this task works."""
    return _folder(task.environment.name)


class CodeProject(msgspec.Struct, frozen=True, kw_only=True):
    """A project: the commands that hold now and the former ones, in the order of the purposes."""

    name: str
    about: str
    way: str
    now: tuple[str, str, str, str]
    formerly: tuple[str, str, str, str]

    @property
    def folder(self) -> str:
        return _folder(self.name)

    def environment(self) -> Environment:
        tool = EnvironmentTool(
            name=TOOL,
            description="Run a command in the folder of the project.",
            arguments={ARGUMENT: "string"},
            expects=(Expectation(error="exit code 127: not found", argument=ARGUMENT, one_of=self.now),),
            result="exit code 0",
        )
        read = EnvironmentTool(
            name="read_file",
            description="Read a file of the project.",
            arguments={"path": "string"},
            reads="path",
        )
        return Environment(name=self.name, about=f"the project {self.name}, {self.about}", tools=(tool, read))


PROJECTS = (
    CodeProject(
        name="waypost",
        about="a web service in Python",
        way=ODD,
        now=("uv run nox -s tests", "uv run nox -s lint", "uv run nox -s format", "uv run nox -s build"),
        formerly=("hatch run test:all", "hatch run lint:all", "hatch run fmt:all", "hatch build"),
    ),
    CodeProject(
        name="lantern",
        about="a web page in TypeScript",
        way=ODD,
        now=("pnpm run test:unit", "pnpm run lint:all", "pnpm run format:write", "pnpm run build:site"),
        formerly=("yarn test:ci", "yarn lint:ci", "yarn format:all", "yarn build:all"),
    ),
    CodeProject(
        name="copperpot",
        about="a command line tool in Rust",
        way=ODD,
        now=("cargo xtask test", "cargo xtask lint", "cargo xtask format", "cargo xtask build"),
        formerly=("just test", "just lint", "just fmt", "just build"),
    ),
    CodeProject(
        name="driftwood",
        about="a server in Go",
        way=ODD,
        now=("task test", "task lint", "task fmt", "task build"),
        formerly=("mage test", "mage lint", "mage fmt", "mage build"),
    ),
    CodeProject(
        name="meadow",
        about="an app in Kotlin",
        way=ODD,
        now=("./gradlew :app:test", "./gradlew :app:lint", "./gradlew :app:spotlessApply", "./gradlew :app:assemble"),
        formerly=("./run.sh test", "./run.sh lint", "./run.sh format", "./run.sh build"),
    ),
    CodeProject(
        name="pebble",
        about="a library in Python",
        way=PLAIN,
        now=("pytest", "ruff check .", "ruff format .", "python -m build"),
        formerly=("tox -e test", "tox -e lint", "tox -e format", "tox -e build"),
    ),
    CodeProject(
        name="harbour",
        about="a web page in JavaScript with npm",
        way=PLAIN,
        now=("npm test", "npm run lint", "npm run format", "npm run build"),
        formerly=("bunx vitest run", "bunx eslint src", "bunx prettier --write src", "bunx vite build"),
    ),
    CodeProject(
        name="flint",
        about="a command line tool in Rust with Cargo",
        way=PLAIN,
        now=("cargo test", "cargo clippy", "cargo fmt", "cargo build"),
        formerly=("make test-all", "make lint", "make format", "make release"),
    ),
    CodeProject(
        name="thistle",
        about="a program in C with a Makefile",
        way=PLAIN,
        now=("make test", "make lint", "make format", "make"),
        formerly=("ninja test", "ninja lint", "ninja format", "ninja all"),
    ),
    CodeProject(
        name="osprey",
        about="a server in Go",
        way=PLAIN,
        now=("go test ./...", "go vet ./...", "go fmt ./...", "go build ./..."),
        formerly=("just test", "just lint", "just fmt", "just build"),
    ),
)


def tasks(each: int) -> tuple[Task, ...]:
    """So many requests for every purpose in every project."""
    return tuple(_tasks(each))


def _tasks(each: int) -> Iterator[Task]:
    for project in PROJECTS:
        environment = project.environment()
        for purpose, command in zip(PURPOSES, project.now, strict=True):
            for number in range(each):
                wanted = {ARGUMENT: command}
                yield Task(
                    id=f"{project.name}-{purpose}-{number + 1}",
                    part="confirmation",
                    prompt=_ASKED[purpose][number % len(_ASKED[purpose])],
                    environment=environment,
                    check=(Condition(called=TOOL, with_=wanted),),
                    tags=(project.way,),
                    steps=STEPS,
                )
