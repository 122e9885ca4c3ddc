"""Task files: what is asked, in which environment, and how the outcome is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from seasoned.errors import NotFound, UsageError
from seasoned.experiment.task.check import Condition, ExpectedValue, compile_expression
from seasoned.experiment.task.environment import (
    Action,
    Argument,
    ArgumentType,
    Environment,
    EnvironmentTool,
    Expectation,
    World,
)
from seasoned.experiment.task.yaml_document import YamlEntry, YamlFields, read_document

Part = Literal["train", "former", "development", "confirmation"]
# To learn from; the same under the former rules; to tune on; to run once at the end.
PARTS: tuple[Part, ...] = get_args(Part)
BUILT_IN = {"conventions": "conventions", "plain": "plain", "multi-step": "multi_step"}
_FOLDER = Path(__file__).parent / "task_sets"
_ENDINGS = (".yaml", ".yml")
STEPS = 3  # requests to the model in a run, where a task does not say
_VALUE = ("is", "like", "contains", "one_of")
_CONDITIONS = ("called", "not_called", "file", "table", "answer", "expression")
_ACTIONS = ("finds", "adds", "changes", "removes", "by", "gives", "reads", "writes", "lists", "sets", "result")


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to do, with the check that says whether it was done."""

    id: str
    part: Part
    prompt: str
    environment: Environment
    check: tuple[Condition, ...]
    tools: tuple[str, ...] = ()  # tools of the environment that are offered; by default all
    files: dict[str, str] = {}
    tags: tuple[str, ...] = ()
    seed: int = 0
    steps: int = STEPS
    place: str = ""

    def world(self) -> World:
        """The environment as it is when the task begins."""
        played = self.environment.as_formerly() if self.part == "former" else self.environment
        return World(played, tools=self.tools, files=self.files)

    def rules(self, *, needed_only: bool) -> tuple[str, ...]:
        """The rules of the tools, one sentence each: of those that the check asks for, or of all that are offered."""
        asked = {one.called for one in self.check if one.called is not None}
        return tuple(
            tool.rule for tool in self.world().tools.values() if tool.rule and (not needed_only or tool.name in asked)
        )


class TaskSet(msgspec.Struct, frozen=True):
    """Tasks under a name."""

    name: str
    tasks: tuple[Task, ...]
    digest: str  # of the files, so that runs of an older wording are not mixed with new ones

    def of(self, part: str) -> tuple[Task, ...]:
        return tuple(task for task in self.tasks if task.part == part)


def load_tasks(text: str) -> TaskSet:
    """The tasks of a built-in set by its name, of a file, or of a folder of files."""
    path = _FOLDER / BUILT_IN[text] if text in BUILT_IN else Path(text).expanduser()
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in _ENDINGS)
        if not files:
            raise NotFound(f"{str(path)!r} has no task files. Expected files that end in .yaml.")
    else:
        files = [path]
        if not path.exists():
            raise NotFound(f"{text!r} is neither a file nor a task set. Give a path, or one of {', '.join(BUILT_IN)}.")
    tasks: list[Task] = []
    seen: dict[str, str] = {}
    for file in files:
        for task in read_tasks(file):
            if task.id in seen:
                raise UsageError(f"{task.place}: the id {task.id!r} is already used at {seen[task.id]}.")
            seen[task.id] = task.place
            tasks.append(task)
    whole = blake2b(digest_size=8)
    for file in files:
        whole.update(file.read_bytes())
    found = TaskSet(text if text in BUILT_IN else path.stem, tuple(tasks), whole.hexdigest())
    _refuse_shared_wording(found)
    return found


def read_tasks(file: Path) -> list[Task]:
    """The tasks of one file; UsageError names file, line and what is expected."""
    fields = read_document(file).fields(
        ("environment", "about", "tools", "files", "tables", "tasks"), needed=("environment", "tools", "tasks")
    )
    tools, former = [], []
    for entry in fields["tools"].items():
        now, before = _tool(entry)
        tools.append(now)
        former += [before] if before is not None else []
    environment = Environment(
        name=fields["environment"].text(),
        about=fields.text("about"),
        tools=tuple(tools),
        former=tuple(former),
        files=_files(fields.get("files")),
        tables=_tables(fields.get("tables")),
    )
    names = [tool.name for tool in tools]
    twice = [name for at, name in enumerate(names) if name in names[:at]]
    if twice:
        raise UsageError(f"{fields['tools'].place}: the tool {twice[0]!r} is defined twice.")
    return [_task(entry, environment) for entry in fields["tasks"].items()]


def _task(entry: YamlEntry, environment: Environment) -> Task:
    known = ("id", "part", "prompt", "check", "tools", "files", "tags", "seed", "steps")
    fields = entry.fields(known, needed=("id", "prompt", "check"))
    offered = _offered(fields.get("tools"), environment)
    conditions = [_condition(one, offered) for one in fields["check"].items(alone=True)]
    if not conditions:
        raise fields["check"].fail("at least one condition")
    return Task(
        id=fields["id"].text(),
        part=fields.choice("part", PARTS, "confirmation"),
        prompt=fields["prompt"].text(),
        environment=environment,
        check=tuple(conditions),
        tools=offered if "tools" in fields else (),
        files=_files(fields.get("files")),
        tags=fields.texts("tags"),
        seed=fields.number("seed", 0),
        steps=fields.number("steps", STEPS, least=1),
        place=entry.place,
    )


def _offered(entry: YamlEntry | None, environment: Environment) -> tuple[str, ...]:
    names = tuple(tool.name for tool in environment.tools)
    if entry is None:
        return names
    return tuple(one.choice(names) for one in entry.items(alone=True))


def _condition(entry: YamlEntry, offered: Sequence[str]) -> Condition:
    fields = entry.fields((*_CONDITIONS, "with", "where", "least", *_VALUE), needed=())
    given = [name for name in _CONDITIONS if name in fields]
    if len(given) != 1:
        raise entry.fail(f"exactly one of {', '.join(_CONDITIONS)}")
    kind, subject = given[0], fields[given[0]]
    named: dict[str, Any]
    if kind in ("called", "not_called"):
        named = {kind: subject.choice(offered)}
    elif kind == "answer":
        named = {"answer": _wanted(subject)}
    elif kind == "expression":
        try:
            compile_expression(subject.text())
        except UsageError as error:
            raise UsageError(f"{subject.place}: {error}: expected an expression over calls, files, tables.") from error
        named = {"expression": subject.text()}
    else:
        named = {kind: subject.text()}
    arguments = fields.get("with") or fields.get("where")
    value = {name: one for name, one in fields.items() if name in _VALUE}
    if value and kind != "file":
        raise next(iter(value.values())).fail("it beside 'file'; a value of an argument stands under 'with'")
    return Condition(
        place=entry.place,
        arguments=tuple((name, _wanted(one)) for name, one in arguments.named().items()) if arguments else (),
        least=fields.number("least", 1, least=1),
        value=_value(value) if value else None,
        **named,
    )


def _wanted(entry: YamlEntry) -> ExpectedValue:
    """A plain value means equality; a mapping says how else."""
    if not entry.is_mapping():
        return ExpectedValue(is_=entry.value())
    return _value(entry.fields(_VALUE))


def _value(fields: Mapping[str, YamlEntry]) -> ExpectedValue:
    return ExpectedValue(
        is_=fields["is"].value() if "is" in fields else msgspec.UNSET,
        like=fields["like"].pattern() if "like" in fields else None,
        contains=fields["contains"].texts() if "contains" in fields else (),
        one_of=tuple(one.value() for one in fields["one_of"].items()) if "one_of" in fields else None,
    )


def _tool(entry: YamlEntry) -> tuple[EnvironmentTool, EnvironmentTool | None]:
    """The tool, and its former version if its rules changed."""
    known = ("name", "description", "arguments", "expects", "rule", "formerly", *_ACTIONS)
    fields = entry.fields(known, needed=("name", "description"))
    given = fields["arguments"].named() if "arguments" in fields else {}
    arguments = tuple(_argument(name, one) for name, one in given.items())
    names = tuple(one.name for one in arguments)
    now = EnvironmentTool(
        name=fields["name"].text(),
        description=fields["description"].text(),
        arguments=arguments,
        expects=_expectations(fields.get("expects"), names),
        action=_action(fields, names),
        rule=fields.text("rule"),
    )
    if "formerly" not in fields:
        return now, None
    before = fields["formerly"].fields(("expects", "rule", *_ACTIONS))
    changed = {"expects": _expectations(before.get("expects"), names)}
    if any(name in before for name in _ACTIONS):
        changed["action"] = _action(before, names)  # type: ignore[assignment]
    return now, msgspec.structs.replace(now, rule=before.text("rule"), **changed)


def _argument(name: str, entry: YamlEntry) -> Argument:
    kinds = get_args(ArgumentType)
    if not entry.is_mapping():
        return Argument(name, entry.choice(kinds))  # type: ignore[arg-type]
    fields = entry.fields(("type", "description", "choices", "optional"), needed=("type",))
    return Argument(
        name,
        fields["type"].choice(kinds),  # type: ignore[arg-type]
        fields.text("description"),
        tuple(one.value() for one in fields["choices"].items()) if "choices" in fields else (),
        fields["optional"].value() is True if "optional" in fields else False,
    )


def _expectations(entry: YamlEntry | None, arguments: Sequence[str]) -> tuple[Expectation, ...]:
    if entry is None:
        return ()
    found = []
    for one in entry.items():
        fields = one.fields(("argument", "like", "one_of", "known", "needs", "error"), needed=("error",))
        if "argument" not in fields and "needs" not in fields:
            raise one.fail("'argument' or 'needs'")
        known = None
        if "known" in fields:
            table, dot, column = fields["known"].text().partition(".")
            if not dot:
                raise fields["known"].fail("a table and a column, as in 'parcels.id'")
            known = (table, column)
        found.append(
            Expectation(
                error=fields["error"].text(),
                argument=fields.choice("argument", arguments),
                like=fields["like"].pattern() if "like" in fields else None,
                one_of=tuple(item.value() for item in fields["one_of"].items(alone=True))
                if "one_of" in fields
                else None,
                known=known,
                needs=fields.text("needs") or None,
            )
        )
    return tuple(found)


def _action(fields: YamlFields, arguments: Sequence[str]) -> Action:
    texts = {name: fields[name].text() for name in ("finds", "adds", "changes", "removes", "result") if name in fields}
    writes = None
    if "writes" in fields:
        pair = [one.choice(arguments) for one in fields["writes"].items()]
        if len(pair) != 2:
            raise fields["writes"].fail("two arguments: the one with the path and the one with the text")
        writes = (pair[0], pair[1])
    by = {}
    if "by" in fields:
        for name, one in fields["by"].named().items():
            if name not in arguments:
                raise UsageError(f"{one.place}: {name!r} is not an argument: expected {', '.join(arguments)}.")
            by[name] = one.text()
    elif set(texts) & {"finds", "changes", "removes"}:
        raise next(fields[name] for name in texts).fail("'by' beside it: an argument and the column it names")
    return Action(
        by=tuple(by.items()),
        gives=fields.texts("gives"),
        reads=fields.choice("reads", arguments),
        writes=writes,
        lists=fields["lists"].value() is True if "lists" in fields else False,
        sets=fields.texts("sets"),
        **texts,
    )


def _files(entry: YamlEntry | None) -> dict[str, str]:
    return {} if entry is None else {name: one.text() for name, one in entry.named().items()}


def _tables(entry: YamlEntry | None) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for name, table in entry.named().items() if entry is not None else ():
        found[name] = []
        for row in table.items():
            row.named("a row: columns and their values")
            found[name].append(row.value())
    return found


def _refuse_shared_wording(found: TaskSet) -> None:
    """A prompt belongs to one part: what was learned from must not be asked in the test."""
    seen: dict[str, Task] = {}
    for task in found.tasks:
        words = " ".join(task.prompt.casefold().split())
        other = seen.setdefault(words, task)
        if other.part != task.part:
            raise UsageError(
                f"{task.place}: the prompt of {task.id!r} is that of {other.id!r} in the part {other.part!r}: "
                "expected another prompt, because parts must not share tasks."
            )
