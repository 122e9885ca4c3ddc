"""The docs say what the code does: commands, settings, answers, rooms, words, links and examples."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from tools import make_docs

from seasoned import config
from seasoned.testing import call, serve_script
from tests.experiment.scripted import write_tasks
from tests.structure.source_tree import PACKAGE, ROOT, SAMPLES, modules

DOCS = ROOT / "docs"
PAGES = [*make_docs.pages(), ROOT / "CHANGELOG.md"]
TASKS = "{tasks} --arms cold,rule --model scripted --base-url {server} --yes"
ANSWERS = {
    "up": "up {samples} --json",
    "scan": "scan {samples} --json",
    "sessions": "sessions {samples} --json",
    "session": "show 40904d81 {samples} --json",
    "judge": "judge {samples}",
    "agreement": "agreement {samples} --json",
    "profile": "profile 40904d81 {samples} --json",
    "report": "report {samples} --json",
    "compare": "compare --set {samples}/claude_code {samples}/codex --json",
    "compress-check": "compress-check c73c43e8 {samples} --json",
    "template": "template build demo {samples} --json",
    "templates": 'template build demo {samples} > "$HOME/made" && seasoned template list --json',
    "template-stats": 'template build demo {samples} > "$HOME/made" && seasoned template stats --json',
    "example": 'template build demo {samples} --json > "$HOME/made" && seasoned template retire --reason old --json'
    ' $(grep -m1 \'"id"\' "$HOME/made" | cut -d\'"\' -f4)',
    "warm": 'template build demo {samples} > "$HOME/made" && seasoned warm --json',
    "recall": 'scan {samples} > "$HOME/made" && seasoned recall --any-age --json --tool Bash'
    ' --error "wp: missing --env"',
    "memory": "memory list --json",
    "import": 'memory add Port. --folder "$HOME/old" > "$HOME/made" && seasoned memory import "$HOME/old" --json',
    "skills": "skill create demo 'Do it.' --description Demo > \"$HOME/made\" && seasoned skill list --json",
    "skill": "skill create demo 'Do it.' --description Demo > \"$HOME/made\" && seasoned skill view demo --json",
    "change": "memory add 'The port is 7327.' --json",
    "changes": "memory add 'The port is 7327.' > \"$HOME/made\" && seasoned memory history --json",
    "chat": "chat --once 'What is here?' --model scripted --base-url {server} --json",
    "review": "review 40904d81 {samples} --model scripted --base-url {server} --json",
    "review-plan": "review 40904d81 {samples} --model scripted --base-url {server} --dry-run --json",
    "review-ledger": 'review 40904d81 {samples} --model scripted --base-url {server} > "$HOME/made"'
    " && seasoned review --ledger --json",
    "tasks": "experiment tasks plain --json",
    "assignment": "experiment assign autumn codex:1 --arms cold,warm --json",
    "experiment-begun": "experiment begin autumn --json",
    "live-experiment": 'experiment begin autumn > "$HOME/made" && seasoned experiment show autumn --json',
    "experiment": f"experiment run {TASKS} --json",
    "experiments": f'experiment run {TASKS} > "$HOME/made" && seasoned experiment list --json',
    "confirm-token": "confirm token make bot --role agent --json",
    "confirm-tokens": 'confirm token make bot --role agent > "$HOME/made" && seasoned confirm token list --json',
    "confirm-requests": "confirm list --json",
    "confirm-audit": 'confirm token make bot --role agent > "$HOME/made" && seasoned confirm audit --json',
    "confirm-verified": "confirm verify --json",
    "confirm-head": "confirm head --json",
    "confirm-allowed": "confirm allow list --json",
    "confirm-policy": "confirm policy check --json",
    "cron-job": "cron add hello 'every 1h' 'Say hello.' --json",
    "cron-jobs": "cron add hello 'every 1h' 'Say hello.' > \"$HOME/made\" && seasoned cron run hello --later"
    ' > "$HOME/made" && seasoned cron list --json',
    "cron-run": "cron add hello 'every 1h' 'Say hello.' --model scripted --provider {server} > \"$HOME/made\""
    " && seasoned cron run hello --json",
    "cron-history": "cron add hello 'every 1h' 'Say hello.' > \"$HOME/made\" && seasoned cron run hello --later"
    ' > "$HOME/made" && seasoned cron history --json',
    "cron-import": 'config show > "$HOME/made" && printf \'[{{"name":"a","prompt":"P.","deliver":"signal","schedule":'
    '{{"kind":"interval","minutes":5}}}},{{"name":"b"}}]\' > "$HOME/jobs.json"'
    ' && seasoned cron import "$HOME/jobs.json" --json',
    "gateway-key": "gateway key make laptop --json",
    "gateway-keys": 'gateway key make laptop > "$HOME/made" && seasoned gateway key list --json',
    "usage": "usage --json",
    "connect": "connect claude-code --yes --json",
    "doctor": "doctor --json",
    "config": "config show --json",
    "forget": "forget --all --yes --json",
    "export": "export",
}
"""How to get each answer of the command line. Those that need a store get one, and those that need a model a script."""
BY_HAND = {
    "model": ("path", "bytes", "is_new"),
    "confirm-submitted": ("id", "action", "status", "digest", "timeout_seconds", "message", "approve_url", "deny_url"),
    "confirm-request": ("id", "details", "status", "resolved_by", "digest", "redeem_before", "votes", "is_unused"),
    "confirm-decided": ("id", "action", "status", "resolved_by"),
    "confirm-credential": ("id", "name", "role", "person", "created_at", "revoked_at"),
    "confirm-allow": ("id", "action", "session_key", "expires_at", "created_at", "created_by"),
    "confirm-policy-used": ("file", "sha256", "by"),
}
"""Answers of commands that download something, or need a person or a service, with their fields."""
HTTP = {"schedule-run", "confirm-redeemed", "confirm-hook", "confirm-event", "error", "health", "gateway-health"}
"""Answers that only a service gives: docs/reference/http.md has them."""
SCRIPT = (call("terminal", command="ls"), "A README and a folder.", "Nothing to save.", *["Done."] * 40)
FREE = {"arguments", "tool_distribution", "tool_success_rates", "by_type", "content", "measures", "banks", "parts"}
FREE |= {"shares", "counts", "expected"}
"""Fields whose own fields are whatever tools there are, or whatever a tool was given."""


def _read(page: str) -> str:
    return (DOCS / page).read_text("utf-8")


def _id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_the_page_of_commands_is_what_help_says() -> None:
    text = make_docs.COMMANDS.read_text("utf-8")
    assert text == make_docs.commands_page(text), "run `python tools/make_docs.py`"


@pytest.mark.parametrize(("name", "command"), [(name, command) for name, command, _ in make_docs.helps()])
def test_every_command_and_option_is_described(name: str, command: click.Command) -> None:
    section = _read("reference/commands.md").partition(f"## `{name}`\n")[2].partition("\n## ")[0]
    options = [option for parameter in command.params for option in parameter.opts if option.startswith("-")]
    assert section
    assert [option for option in options if option not in section] == []
    assert "Example: seasoned" in section or isinstance(command, click.Group)


@pytest.mark.parametrize("name", [name for name in config.Config.__struct_fields__ if name != "origins"])
def test_every_setting_is_described(name: str) -> None:
    row = next(
        (line for line in _read("reference/configuration.md").splitlines() if line.startswith(f"| `{name}`")), ""
    )
    assert row, f"{name} is missing in docs/reference/configuration.md"
    variable = config._ENVIRONMENT.get(name)
    assert variable is None or f"`{variable}`" in row


def _schemas() -> set[str]:
    """Names of answers, as they stand in the code."""
    found = set()
    for one in modules():
        found |= set(re.findall(r'"seasoned/([a-z-]+)/1"', one.text))
        for node in ast.walk(one.tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("print_json"):
                found.add(ast.literal_eval(node.args[0]))
    return found


def test_every_answer_is_known_here() -> None:
    assert _schemas() == ANSWERS.keys() | BY_HAND.keys() | HTTP, "say in ANSWERS how to get the new one"


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_every_field_of_an_answer_is_described(name: str, tmp_path: Path) -> None:
    section = _read("reference/json.md").partition(f"## `seasoned/{name}/1`\n")[2].partition("\n## ")[0]
    assert section, f"docs/reference/json.md has no section for {name}"
    if name in ("forget", "export", "doctor"):
        assert make_docs.run(f"seasoned scan {SAMPLES}", tmp_path).returncode == 0
    with serve_script(*SCRIPT) as server:
        command = ANSWERS[name].format(samples=SAMPLES, server=server.base_url, tasks=write_tasks(tmp_path))
        done = make_docs.run(f"seasoned {command}", tmp_path)
    answers = (
        [json.loads(done.stdout)]
        if done.stdout.startswith("{\n")
        else list(map(json.loads, done.stdout.split("\n")[:-1]))
    )
    assert answers, done.stderr
    assert {answer["schema"] for answer in answers} == {f"seasoned/{name}/1"}
    fields = {field for answer in answers for field in _fields(answer)} - {"schema"}
    missing = sorted(field for field in fields if f"`{field}`" not in section)
    assert not missing, f"docs/reference/json.md, {name}: {missing}"


@pytest.mark.parametrize("name", sorted(HTTP))
def test_answers_of_services_have_a_section(name: str) -> None:
    assert f"### `seasoned/{name}/1`" in _read("reference/http.md")


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_answers_that_no_test_can_ask_for_are_described_too(name: str) -> None:
    section = _read("reference/json.md").partition(f"## `seasoned/{name}/1`\n")[2].partition("\n## ")[0]
    assert [field for field in BY_HAND[name] if f"`{field}`" not in section] == []


def _fields(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            if name not in FREE:
                yield from _fields(inner)
    elif isinstance(value, list):
        for item in value:
            yield from _fields(item)


def test_every_room_is_on_the_map() -> None:
    rows = re.findall(r"^\| `([a-z_]+?)(?:/|\.py)` \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
    rooms = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert set(rows) == rooms - {"__init__"}


def test_every_word_lives_where_the_glossary_says() -> None:
    named = re.findall(r"`(seasoned(?:\.\w+)+)`", _read("glossary.md"))
    assert len(named) > 20
    missing = [name for name in named if not _exists(name)]
    assert not missing, f"docs/glossary.md: {missing}"


def _exists(dotted: str) -> bool:
    """Whether it is a module, or a name in one."""
    for split in range(dotted.count(".") + 1, 0, -1):
        parts = dotted.split(".")
        try:
            found: Any = import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for part in parts[split:]:
            fields = getattr(found, "__struct_fields__", ())
            if not hasattr(found, part) and part not in fields:
                return False
            found = getattr(found, part, None)
        return True
    return False


def test_the_glossary_has_each_word_once_and_in_order() -> None:
    words = re.findall(r"^\| \*\*([^*]+)\*\* \|", _read("glossary.md"), re.MULTILINE)
    assert words == sorted(set(words), key=str.lower)


@cache
def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_relative_links_lead_somewhere(page: Path) -> None:
    broken = []
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        if not path.exists() or not path.is_relative_to(ROOT) or (anchor and anchor not in _anchors(path)):
            broken.append(target)
    assert not broken, f"{_id(page)}: {broken}"


@pytest.mark.parametrize("page", [page for page in PAGES if "$ seasoned" in page.read_text("utf-8")], ids=_id)
def test_examples_run_and_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    ours = [example for example in make_docs.examples(page.read_text("utf-8")) if example.is_ours]
    assert ours, "an example stands in a ```console block"
    for example in ours:
        done = make_docs.run(example.command, tmp_path)
        assert done.returncode == 0, f"{example.command}: {done.stderr}"
        assert make_docs.fits(example.output, make_docs.masked(done.stdout, tmp_path)), (
            f"{example.command} prints something else; run `python tools/make_docs.py`:\n{done.stdout}"
        )


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_every_example_can_be_run(page: Path) -> None:
    """A line that shows our command outside of a console block would never be checked."""
    text = page.read_text("utf-8")
    shown = re.findall(r"^\$ (seasoned.*)$", text, re.MULTILINE)
    assert shown == [example.command for example in make_docs.examples(text) if example.is_ours]


def _blocks(language: str, holding: str = "") -> list[Any]:
    """The code of one language in all pages, each with its page."""
    pattern = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    found = [(_id(page), block) for page in PAGES for block in pattern.findall(page.read_text("utf-8"))]
    return [pytest.param(page, block, id=page) for page, block in found if holding in block]


@pytest.mark.parametrize(("page", "code"), _blocks("python", holding="import seasoned"))
def test_examples_in_python_run(page: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(code, "utf-8")
    done = make_docs.run(f"python {tmp_path / 'example.py'}", tmp_path)
    assert done.returncode == 0, f"{page}: {done.stderr}"
    assert done.stdout


@pytest.mark.parametrize(("page", "text"), _blocks("toml"))
def test_examples_of_settings_are_taken(page: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(text, "utf-8")
    taken = config.load({"SEASONED_HOME": str(tmp_path)})
    assert str(tmp_path / "config.toml") in taken.origins.values(), page


def test_every_target_of_make_is_described() -> None:
    targets = re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    described = re.findall(r"^\| `make ([a-z]+)` \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
    assert targets is not None
    assert set(described) == set(targets[1].split()) - {"help", "clean"}
