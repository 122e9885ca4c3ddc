"""What a command acts on: this machine or development, another machine, or production."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Literal

from seasoned.command.parse import Step, names
from seasoned.command.path import WorkingFolder
from seasoned.command.rows import Finding, group, regex
from seasoned.command.written import purpose_of
from seasoned.lazy_regex import LazyRegex

Target = Literal["here", "elsewhere", "production"]

PRODUCTION = LazyRegex(r"(?i)(?:\A|[^a-z])(?:(?:prod|production|prd)(?![a-z])|live(?=\Z|[_.]))")
_DEVELOPMENT = LazyRegex(
    r"(?i)(?:\A|[^a-z])(?:dev|develop|development|tests?|testing|staging|stage|local|localhost|sandbox|preview|qa|ci"
    r"|e2e|minikube|kind|k3d|vagrant|colima|orbstack|rootless|default|desktop-linux|127\.0\.0\.1|0\.0\.0\.0|::1)(?![a-z])"
)
# Options and variables that name a place: `--context prod`, `AWS_PROFILE=prod`, `DATABASE_URL=…`.
_NAMING = LazyRegex(
    r"--?(?:env|environment|stage|profile|context|kube-context|namespace|n|e|i|h|H|host|settings|app|a|project|cluster"
    r"|url|u|uri|x|account|subscription|config-env)\Z"
)
_BUILD_MODES = re.compile(r"NODE_ENV|BABEL_ENV|NEXT_\w+|VITE_\w+|\w*VERSION|\w*(?:TITLE|MESSAGE|NAME|BODY|TEXT)")
# A variable that holds an address: what it is cannot be seen here.
_ADDRESS_VARIABLE = LazyRegex(r"\$\{?\w*(?:URL|URI|DSN|HOST|DATABASE|CONNECTION)\w*\}?\Z")
_ADDRESS = LazyRegex(
    r"(?i)\A(?!file:|sqlite)[\w+:.-]+?://(?:[^@/]*@)?(?P<host>\[[^\]]*\]|[^:/?]*)|\A[\w.-]+@(?P<at>[\w.-]+)"
)
_FAR_HOST = LazyRegex(r"[\w-]+(?:\.[\w-]+)+|\$")
# What is built, checked or installed for production is not changed there.
_MAKING = ("build", "check", "format", "install")
_REMOTE = names("--linked --remote")
_LOCAL_FILES = ("sqlite", "duckdb")


def assignments(text: str) -> dict[str, str]:
    """The variables that a command sets, with their values."""
    return {found[1]: found[2].strip("'\"") for found in _ASSIGNED.compiled.finditer(text)} if "=" in text else {}


_ASSIGNED = LazyRegex(r"(?:^|[\s;&|(])([A-Z]\w{0,60})=('[^'\n]*'|\"[^\"\n]*\"|[^\s;&|'\"()]*)")


def target_of(step: Step, place: WorkingFolder, assigned: Mapping[str, str]) -> Target:
    """Where a step acts, by what its arguments, variables and the machine that it runs on are called."""
    is_database = step.program in group("databases") or step.program in group("migrators")
    options, others = _named_places(step, is_database=is_database)
    named = [*options, *others, place.host]
    named += [f"{name}={value}" for name, value in assigned.items() if is_database or not _BUILD_MODES.fullmatch(name)]
    if any(PRODUCTION.compiled.search(each) for each in named):
        return "production"
    if any(_DEVELOPMENT.compiled.search(each) for each in named):
        return "here"
    if place.host or not _REMOTE.isdisjoint(step.words) or any(map(_is_far, named)) or any(map(_is_host, options)):
        return "elsewhere"
    if step.program.startswith(_LOCAL_FILES) and step.sub and not place.contains(step.sub):
        return "elsewhere"
    return "here"


def _named_places(step: Step, *, is_database: bool) -> tuple[list[str], list[str]]:
    """The arguments that name a place: values of options for one; then addresses, variables and names of databases."""
    options: list[str] = []
    others: list[str] = []
    for before, word in pairwise(("", *step.words)):
        option, _, value = word.partition("=")
        if " " in word or word.startswith("NODE_ENV"):
            continue
        if word.startswith("-"):
            if _NAMING.compiled.match(option):
                options += [value] if value else []
            elif is_database and word.startswith("-h"):
                options.append(word[2:])
        elif _NAMING.compiled.match(before):
            options.append(word)
        elif is_database or "://" in word or "$" in word:
            others.append(word)
    return options, others


def _is_far(named: str) -> bool:
    """Whether an address is on another machine; a host without a dot is a neighbouring container."""
    value = named.partition("=")[2] if re.match(r"\w+=", named) else named
    found = _ADDRESS.compiled.match(value)
    if found is not None:
        return value.startswith("ssh:") or bool(_FAR_HOST.compiled.match(found["host"] or found["at"] or ""))
    # `cqlsh db.example.com`; a file has fewer dots.
    return re.fullmatch(r"[a-z0-9-]+(?:\.[a-z0-9-]+){2,}", value) is not None or bool(
        _ADDRESS_VARIABLE.compiled.match(value)
    )


def _is_host(value: str) -> bool:
    return re.fullmatch(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?", value) is not None


def in_production(step: Step, target: Target) -> Iterator[Finding]:
    """A program that is pointed at production and is not known to only look there, or to build for it."""
    # A name with quotes in it is a part of a text that was guessed to be a command.
    if target != "production" or step.program in _known_to_look() or not re.fullmatch(r"[\w.@+-]+", step.program):
        return
    plain = [word for word in step.words if not word.startswith("-")]
    looks = not group("looking").isdisjoint(each for word in plain[:6] for each in re.split(r"[-:_]", word))
    looks = looks or regex("{not_run}").search(" ".join(step.words)) is not None
    makes = step.program in group("code") and purpose_of(" ".join((step.program, *plain[:3]))) in _MAKING
    if not looks and not makes:
        yield Finding("deploy_production", "is pointed at production", "production")


def _known_to_look() -> frozenset[str]:
    # Branches, files and addresses may be called so; for requests and databases other rules read what they do.
    # What a wrapper or a shell runs is looked at by itself.
    quiet = ("readers", "reading", "downloads", "databases", "wrappers", "shells", "command_takers")
    acting = names("pytest npx npm pnpm yarn docker podman fly flyctl heroku")
    return frozenset[str]().union(*map(group, quiet), names("git gh glab ssh export claude codex gemini")) - acting
