"""The docs say what the code does: commands, settings, answers, packages, words, links and examples."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from tools import make_docs

from seasoned import config
from tests.cli.run import seasoned
from tests.experiment.scripted import write_tasks
from tests.scripted_model import serve_script
from tests.structure.source_tree import PACKAGE, ROOT, SAMPLES, modules

DOCS = ROOT / "docs"
PAGES = [*make_docs.pages(), ROOT / "CHANGELOG.md"]
TASKS = "{tasks} --arms cold,rule --model scripted --base-url {server} --yes"
CRON = "cron add hello 'every 1h' --script hello.sh"
ANSWERS = {
    "up": ["up {samples} --json"],
    "scan": ["scan {samples} --json"],
    "mine": ["mine {samples}/codex --engine inline --json"],
    "query": ["mine {samples}/codex --engine inline", 'query --json "SELECT 1"'],
    "sessions": ["sessions {samples} --json"],
    "search": ["search carriers --all --json"],
    "resume": ["resume 5e463e44-dd68-49d2-9412-13b73dc60395 --json"],
    "projects": ["projects --json"],
    "project": ["projects /home/mira/waypost --json"],
    "project-merge": ["projects /home/jonas/src/waypost --merge-into /home/mira/waypost --json"],
    "project-split": [
        "projects /home/jonas/src/waypost --merge-into /home/mira/waypost",
        "projects /home/mira/waypost --split /home/jonas/src/waypost --json",
    ],
    "session": ["show 40904d81 {samples} --json"],
    "judge": ["judge {samples}"],
    "agreement": ["agreement {samples} --json"],
    "profile": ["profile 40904d81 {samples} --json"],
    "report": ["report {samples} --json"],
    "compare": ["compare --set {samples}/claude_code {samples}/codex --json"],
    "compress-check": ["compress-check c73c43e8 {samples} --json"],
    "template": ["template build demo {samples} --json"],
    "templates": ["template build demo {samples}", "template list --json"],
    "template-stats": ["template build demo {samples}", "template list --stats --json"],
    "example": ["template build demo {samples} --json", "template retire --reason old --json {example}"],
    "warm": ["template build demo {samples}", "warm --all --json"],
    "recall": [
        "scan {samples}",
        "recall --all --json --tool mcp__atlas__search",
        "recall --all --json --tool mcp__atlas__search --error 'path not in workspace: depots'",
    ],
    "receipt": ["receipt --json"],
    "inbox": ["scan {samples}", "inbox --json"],
    "decision": ["scan {samples}", "inbox", "inbox --reject 1", "inbox --undo --yes --json"],
    "lessons": ["scan {samples}", "lessons --project /home/mira/waypost --json"],
    "backtest": ["backtest {samples} --fewest 2 --shown --json"],
    "memory": ["memory --json"],
    "skills": ["skill --json"],
    "skill": ["skill demo --json"],
    "change": ["memory --add 'The port is 7327.' --json"],
    "changes": ["memory --add 'The port is 7327.'", "memory --history --json"],
    "review": ["review 40904d81 {samples} --model scripted --json"],
    "review-plan": ["review 40904d81 {samples} --model scripted --dry-run --json"],
    "review-ledger": ["review 40904d81 {samples} --model scripted", "review --ledger --json"],
    "tasks": ["experiment run plain --check --json"],
    "experiment-begun": ["experiment begin autumn --json"],
    "live-experiment": ["experiment begin autumn", "experiment show autumn --json"],
    "experiment": ["experiment run {tasks} --arms cold,rule --model scripted --base-url {server} --yes --json"],
    "experiments": [
        "experiment run {tasks} --arms cold,rule --model scripted --base-url {server} --yes",
        "experiment show --json",
    ],
    "confirm-token": ["confirm token make bot --role agent --json"],
    "confirm-tokens": ["confirm token make bot --role agent", "confirm token list --json"],
    "confirm-requests": ["confirm list --json"],
    "confirm-audit": ["confirm token make bot --role agent", "confirm audit --json"],
    "confirm-verified": ["confirm verify --json"],
    "confirm-head": ["confirm verify --head --json"],
    "confirm-policy": ["confirm policy --json"],
    "confirm-allowances": ["confirm allow --json"],
    "cron-job": ["cron add hello 'every 1h' 'Say hello.' --json"],
    "cron-jobs": [CRON, "cron run hello", "cron list --json"],
    "cron-run": [CRON, "cron run hello --json"],
    "cron-history": [CRON, "cron run hello", "cron history --json"],
    "gateway-key": ["gateway key --make laptop --json"],
    "gateway-keys": ["gateway key --make laptop", "gateway key --json"],
    "usage": ["usage --json"],
    "connect": ["connect claude-code --yes --json"],
    "doctor": ["doctor --json"],
    "config": ["config --json"],
    "forget": ["forget --all --yes --json"],
    "export": ["export"],
}
# How to get each answer: commands one after the other, of which the last one prints it. A scripted model answers.
SCANNED = ("search", "resume", "forget", "export", "doctor", "projects", "project", "project-merge", "project-split")
# The answers are asked for in this many tests, so that two processes can share them.
ANSWER_PARTS = 4

# Answers of commands that download something, or need a person or a service, with their fields.
BY_HAND = {
    "model": ("path", "bytes", "is_new"),
    "share": ("project", "path", "is_changed", "is_written"),
    "watch": ("event", "title", "project", "failed_in_a_row", "verdict", "counts_as", "arguments"),
    "confirm-submitted": ("id", "action", "status", "digest", "timeout_seconds", "message", "approve_url", "deny_url"),
    "confirm-request": ("id", "details", "status", "resolved_by", "digest", "redeem_before", "votes", "is_unused"),
    "confirm-decided": ("id", "action", "status", "resolved_by"),
    "confirm-credential": ("id", "name", "role", "person", "created_at", "revoked_at"),
    "confirm-policy-used": ("file", "sha256", "by"),
    "confirm-phone": ("name", "channels", "expires_at", "expires_at_iso"),
}
# Answers that only a service gives: docs/reference/http.md has them.
HTTP = {"schedule-run", "confirm-redeemed", "confirm-hook", "confirm-event", "error", "health", "gateway-health"}
# Files that a command writes, not answers.
FILES = {"lessons-file"}
SCRIPT = ('{"notes": [], "skills": [], "rules": [], "said": "Nothing to save."}', *["Done."] * 40)
# Fields whose own fields are whatever tools there are, what a tool was given, or described elsewhere.
FREE = {"arguments", "tool_distribution", "tool_success_rates", "by_type", "content", "measures", "banks", "parts"}
FREE |= {"shares", "counts", "expected", "settings", "passed_over"}


def _read(page: str) -> str:
    return (DOCS / page).read_text("utf-8")


def _section(page: str, heading: str) -> str:
    return re.split(r"\n##+ ", page.partition(f"{heading}\n")[2], maxsplit=1)[0]


def _described(name: str) -> str:
    """The section about an answer, with those whose fields it has: "as in `seasoned/NAME/1`"."""
    page = _read("reference/json.md") + _read("reference/http.md")
    section = _section(page, f"## `seasoned/{name}/1`")
    named = re.findall(r"as in\s`seasoned/([a-z-]+)/1`", section)
    return "\n".join([section, *(_section(page, f"## `seasoned/{other}/1`") for other in named)])


def _id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_the_page_of_commands_is_what_help_says() -> None:
    text = make_docs.COMMANDS.read_text("utf-8")
    assert text == make_docs.commands_page(text), "run `python tools/make_docs.py`"


def test_every_command_and_option_is_described() -> None:
    page, wrong = _read("reference/commands.md"), []
    for command, context in make_docs.commands():
        name = context.command_path
        section = _section(page, f"## `{name}`")
        options = [option for parameter in command.params for option in parameter.opts if option.startswith("-")]
        wrong += [f"{name} {option}" for option in options if option not in section]
        if not section or ("Example: seasoned" not in section and not isinstance(command, click.Group)):
            wrong.append(f"{name} has no section with an example")
    assert not wrong, wrong


def test_every_setting_is_described() -> None:
    lines, wrong = _read("reference/configuration.md").splitlines(), []
    for name in config.Config.__struct_fields__:
        row = next((line for line in lines if line.startswith(f"| `{name}`")), "")
        variable = config._ENVIRONMENT.get(name)
        if name != "origins" and (not row or (variable is not None and f"`{variable}`" not in row)):
            wrong.append(name)
    assert not wrong, f"docs/reference/configuration.md: {wrong}"


def _schemas() -> set[str]:
    """Names of answers, as they stand in the code."""
    found = set()
    for one in modules():
        found |= set(re.findall(r'"seasoned/([a-z-]+)/1"', one.text))
        for node in ast.walk(one.tree):
            is_answer = isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("print_json", "answered"))
            if is_answer and isinstance(node.args[0], ast.Constant):
                found.add(node.args[0].value)
    return found


def test_every_answer_is_known_here() -> None:
    assert _schemas() - FILES == ANSWERS.keys() | BY_HAND.keys() | HTTP, "say in ANSWERS how to get the new one"


@pytest.fixture(scope="module")
def scanned_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose store holds the samples; each answer gets a copy of it."""
    home = tmp_path_factory.mktemp("scanned")
    done = make_docs.run(f"seasoned scan {SAMPLES}", home)
    assert done.returncode == 0, done.stderr
    return home


@pytest.mark.parametrize("part", range(ANSWER_PARTS))
def test_every_field_of_an_answer_is_described(
    part: int, scanned_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = []
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(ROOT)
    for name in sorted(ANSWERS)[part::ANSWER_PARTS]:
        home = tmp_path / name
        home.mkdir()
        if name in SCANNED:
            shutil.copytree(scanned_home / ".seasoned", home / ".seasoned")
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("SEASONED_HOME", str(home / ".seasoned"))
        skill = home / ".seasoned/skills/demo/SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text("---\nname: demo\ndescription: Demo.\n---\n\nDo it.\n", "utf-8")
        section = _described(name)
        answers = _answers(name, home)
        if not answers or {answer["schema"] for answer in answers} != {f"seasoned/{name}/1"}:
            wrong.append(f"{name}: other answers than were asked for")
        fields = {field for answer in answers for field in _fields(answer)} - {"schema", "passed_over"}
        wrong += [f"{name}: {field}" for field in sorted(fields) if f"`{field}`" not in section]
    assert not wrong, "docs/reference/json.md: " + ", ".join(wrong)


def _answers(name: str, home: Path) -> list[Any]:
    """What an answer's commands print in its form; those before the last one may only prepare the store."""
    out, earlier = "", []
    (home / ".seasoned/scripts").mkdir()
    (home / ".seasoned/scripts/hello.sh").write_text("echo Hello.", "utf-8")
    with serve_script(*SCRIPT) as server:
        if name.startswith("review"):
            (home / ".seasoned/config.toml").write_text(f'base_url = "{server.base_url}"\n', "utf-8")
        for command in ANSWERS[name]:
            given = {"samples": SAMPLES, "server": server.base_url, "tasks": write_tasks(home), "home": home}
            given["example"] = next(iter(re.findall(r'"id": "(\w+)"', out)), "")
            earlier += [one for one in _parsed(out) if one["schema"] == f"seasoned/{name}/1"]
            out = seasoned(*shlex.split(command.format(**given))).stdout
    return [*earlier, *_parsed(out)]


def _parsed(out: str) -> list[Any]:
    """The answers in an output: one, or one on each line; none if people read it."""
    if out.startswith("{\n"):
        return [json.loads(out)]
    return [json.loads(line) for line in out.splitlines()] if out.startswith("{") else []


def test_answers_that_no_test_asks_for_are_described_too() -> None:
    http = _read("reference/http.md")
    wrong = [name for name in sorted(HTTP) if f"### `seasoned/{name}/1`" not in http]
    for name, fields in BY_HAND.items():
        section = _described(name)
        wrong += [f"{name}: {field}" for field in fields if f"`{field}`" not in section]
    assert not wrong, wrong


def _fields(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            if name not in FREE:
                yield from _fields(inner)
    elif isinstance(value, list):
        for item in value:
            yield from _fields(item)


def test_every_package_is_on_the_map() -> None:
    cells = re.findall(r"^\| (`[^|]+`) \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
    rows = [name for cell in cells for name in re.findall(r"`([a-z_]+?)(?:/|\.py)`", cell)]
    packages = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert set(rows) == packages - {"__init__"}


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


def test_files_that_pages_name_are_there() -> None:
    named = {
        (page, path) for page in PAGES for path in re.findall(r"\bsrc/seasoned/[\w/]+\.\w+", page.read_text("utf-8"))
    }
    assert named and not [one for one in named if not (ROOT / one[1]).exists()]


def test_relative_links_lead_somewhere() -> None:
    broken = [f"{_id(page)}: {target}" for page in PAGES for target in _broken_links(page)]
    assert not broken, "\n".join(broken)


def _broken_links(page: Path) -> list[str]:
    broken = []
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        if not path.exists() or not path.is_relative_to(ROOT) or (anchor and anchor not in _anchors(path)):
            broken.append(target)
    return broken


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


def test_every_example_can_be_run() -> None:
    """A line that shows our command outside of a console block would never be checked."""
    wrong = []
    for page in PAGES:
        text = page.read_text("utf-8")
        shown = re.findall(r"^\$ (seasoned.*)$", text, re.MULTILINE)
        if shown != [example.command for example in make_docs.examples(text) if example.is_ours]:
            wrong.append(_id(page))
    assert not wrong, wrong


def _blocks(language: str, holding: str = "") -> list[tuple[str, str]]:
    """The code of one language in all pages, each with its page."""
    pattern = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    found = [(_id(page), block) for page in PAGES for block in pattern.findall(page.read_text("utf-8"))]
    return [(page, block) for page, block in found if holding in block]


def test_examples_in_python_run(tmp_path: Path) -> None:
    wrong = []
    for page, code in _blocks("python", holding="import seasoned"):
        (tmp_path / "example.py").write_text(code, "utf-8")
        done = make_docs.run(f"python {tmp_path / 'example.py'}", tmp_path)
        if done.returncode != 0 or not done.stdout:
            wrong.append(f"{page}: {done.stderr}")
    assert not wrong, "\n".join(wrong)


def test_examples_of_settings_are_taken(tmp_path: Path) -> None:
    wrong = []
    for page, text in _blocks("toml"):
        if "[[row]]" in text:
            continue  # a row of the table of commands
        (tmp_path / "config.toml").write_text(text, "utf-8")
        taken = config.load({"SEASONED_HOME": str(tmp_path)})
        if str(tmp_path / "config.toml") not in taken.origins.values():
            wrong.append(page)
    assert not wrong, wrong


def test_every_target_of_make_is_described() -> None:
    targets = re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    described = re.findall(r"^\| `make ([a-z]+)` \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
    assert targets is not None
    assert set(described) == set(targets[1].split()) - {"help", "clean"}
