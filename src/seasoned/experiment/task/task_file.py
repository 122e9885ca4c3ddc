"""Task files: what is asked, in which environment, and how the outcome is checked.

Entries of the YAML know their line, so that an error names file, line and what is expected.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.experiment.task.environment import (
    Action,
    Argument,
    ArgumentType,
    Condition,
    Environment,
    EnvironmentTool,
    Expectation,
    ExpectedValue,
    World,
    compile_expression,
)

if TYPE_CHECKING:
    import yaml

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_NUMBER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_SHOWN_CHARS = 60
# An alias may refer to its own parent, which would recurse forever.
_DEEPEST = 40


def read_document(path: Path) -> YamlEntry:
    """The only document of a file."""
    try:
        import yaml
    except ImportError:
        raise CannotDo("Task files need PyYAML: pip install 'seasoned[experiment]'.") from None
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise NotFound(f"{str(path)!r} does not exist: give a task file, a folder of them, or a set by name.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{str(path)!r} cannot be read as text ({error}): a task file is YAML in UTF-8.") from error
    try:
        # Composed, not loaded: nodes know their line, and YAML 1.1 would turn `no` into False and dates into objects.
        node = yaml.compose(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = 1 if mark is None else mark.line + 1
        problem = getattr(error, "problem", None) or str(error) or "nested too deeply"
        raise UsageError(f"{path}:{line}: this is not valid YAML ({problem}): expected keys and values.") from error
    if node is None:
        raise UsageError(f"{path}:1: the file is empty: expected a mapping.")
    return YamlEntry(str(path), node, "the file")


class YamlEntry:
    """One value of a file, with its line."""

    def __init__(self, file: str, node: yaml.Node, name: str) -> None:
        self._file = file
        self._node = node
        self.name = name

    @property
    def place(self) -> str:
        return f"{self._file}:{self._node.start_mark.line + 1}"

    def fail(self, expected: str) -> UsageError:
        """An error that says what is here and what is expected."""
        return UsageError(f"{self.place}: {self.name} is {self._shown()}: expected {expected}.")

    def fields(self, known: Collection[str], *, needed: Collection[str] = ()) -> YamlFields:
        """The fields of a mapping. An unknown one is an error: it is probably a typo."""
        found = YamlFields(self.named(f"a mapping with {_listed(needed or known)}"))
        for name, entry in found.items():
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]!r}" if near else f"known are {_listed(known)}"
                raise UsageError(f"{entry.place}: {self.name} has an unknown field {name!r}: {hint}?")
        missing = [name for name in needed if name not in found]
        if missing:
            raise UsageError(f"{self.place}: {self.name} has no field {missing[0]!r}: expected {_listed(needed)}.")
        return found

    def named(self, expected: str = "a mapping of names and values") -> dict[str, YamlEntry]:
        """The values of a mapping by name; any names are allowed."""
        if self._node.id != "mapping":
            raise self.fail(expected)
        found: dict[str, YamlEntry] = {}
        for key, value in self._node.value:
            if key.id != "scalar":
                raise YamlEntry(self._file, key, "a name").fail("a text")
            entry = YamlEntry(self._file, value, repr(key.value))
            if key.value in found:
                raise UsageError(f"{entry.place}: {self.name} has {key.value!r} twice: expected it once.")
            found[key.value] = entry
        return found

    def items(self, *, alone: bool = False) -> list[YamlEntry]:
        """The items of a list; with `alone` a single value counts as a list of one."""
        if self._node.id == "sequence":
            return [YamlEntry(self._file, node, f"an item of {self.name}") for node in self._node.value]
        if alone:
            return [self]
        raise self.fail("a list")

    def is_mapping(self) -> bool:
        return bool(self._node.id == "mapping")

    def text(self) -> str:
        """A text; an unquoted number or date stays as written."""
        if self._node.id != "scalar" or (self._node.style is None and self._node.value in ("", "~", "null")):
            raise self.fail("a text")
        return str(self._node.value)

    def texts(self) -> tuple[str, ...]:
        return tuple(entry.text() for entry in self.items(alone=True))

    def number(self, least: int = 0) -> int:
        value = self.value()
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.fail(f"a whole number of at least {least}")
        return value

    def choice(self, among: Collection[str]) -> str:
        text = self.text()
        if text not in among:
            raise self.fail(f"one of {_listed(among)}")
        return text

    def pattern(self) -> str:
        """A regular expression that compiles."""
        text = self.text()
        try:
            re.compile(text)
        except (re.error, RecursionError, OverflowError) as error:
            raise self.fail(f"a regular expression ({error})") from error
        return text

    def value(self) -> Any:
        """The value as in JSON. Dates, `yes` and `no` stay text."""
        return _yaml_value(self, self._node, _DEEPEST)

    def _shown(self) -> str:
        if self._node.id != "scalar":
            return "a mapping" if self._node.id == "mapping" else "a list"
        text = self._node.value
        return repr(text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…")


class YamlFields(dict[str, YamlEntry]):
    """The fields of a mapping by name, with defaults for those that are not there."""

    def text(self, name: str, default: str = "") -> str:
        return self[name].text() if name in self else default

    def texts(self, name: str) -> tuple[str, ...]:
        return self[name].texts() if name in self else ()

    def number(self, name: str, default: int, *, least: int = 0) -> int:
        return self[name].number(least) if name in self else default

    def choice(self, name: str, among: Collection[str], default: Any = None) -> Any:
        return self[name].choice(among) if name in self else default


def _yaml_value(entry: YamlEntry, node: yaml.Node, depth: int) -> Any:
    if depth == 0:
        raise entry.fail("less nesting")
    if node.id == "mapping":
        return {str(key.value): _yaml_value(entry, value, depth - 1) for key, value in node.value}
    if node.id == "sequence":
        return [_yaml_value(entry, item, depth - 1) for item in node.value]
    return node.value if node.style is not None else _scalar(node.value)


def _scalar(text: str) -> Any:
    """A plain scalar by the core schema of YAML 1.2, without its other spellings."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        return int(text)
    return float(text) if _NUMBER.match(text) else text


def _listed(names: Collection[str]) -> str:
    return ", ".join(repr(name) for name in _ordered(names))


def _ordered(names: Collection[str]) -> Iterator[str]:
    yield from names if isinstance(names, tuple | list) else sorted(names)


Part = Literal["train", "former", "development", "confirmation"]
# To learn from; the same under the former rules; to tune on; to run once at the end.
PARTS: tuple[Part, ...] = get_args(Part)
BUILT_IN = {"conventions": "conventions", "plain": "plain", "multi-step": "multi_step"}
_FOLDER = Path(__file__).parent / "task_sets"
_ENDINGS = (".yaml", ".yml")
STEPS = 3  # requests to the model in a run, unless the task says otherwise
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

    def rules(self) -> tuple[str, ...]:
        """The rules of the tools that the check asks for, one sentence each."""
        asked = {one.called for one in self.check if one.called is not None}
        return tuple(tool.rule for tool in self.world().tools.values() if tool.rule and tool.name in asked)


class TaskSet(msgspec.Struct, frozen=True):
    """Tasks under a name."""

    name: str
    tasks: tuple[Task, ...]
    digest: str  # of the files, so that runs of older tasks are not mixed with new ones

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
        raise next(iter(value.values())).fail("it together with 'file'; the value of an argument goes under 'with'")
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
        raise next(fields[name] for name in texts).fail("'by' as well: an argument and the column it names")
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
