"""Task files: what is asked, in which environment, and how the outcome is checked."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args

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

# The core schema of YAML 1.2: in YAML 1.1 `no` would be False, and a date an object.
_SCALARS = (
    ("null", r"(?:~|null|)\Z", "~n\0"),
    ("bool", r"(?:true|false)\Z", "tf"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)\Z", "-+0123456789"),
    ("float", r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z", "-+0123456789"),
)
T = TypeVar("T")


@cache
def _loader() -> Any:
    try:
        import yaml
    except ImportError:
        raise CannotDo("Task files need PyYAML: pip install 'seasoned[experiment]'.") from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc] # PyYAML has no types
        yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            names = [str(key.value) for key, _ in node.value]
            twice = [name for at, name in enumerate(names) if name in names[:at]]
            if twice:
                raise yaml.constructor.ConstructorError(problem=f"{twice[0]!r} twice", problem_mark=node.start_mark)
            return dict(super().construct_mapping(node, deep))

    for name, pattern, first in _SCALARS:
        Loader.add_implicit_resolver(
            f"tag:yaml.org,2002:{name}", re.compile(pattern), ["" if c == "\0" else c for c in first]
        )
    return Loader


def read_document(path: Path, form: type[T]) -> T:
    """The only document of a file; UsageError names the file and the place in it."""
    loader = _loader()
    import yaml

    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise NotFound(f"{str(path)!r} does not exist: give a task file, a folder of them, or a set by name.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{str(path)!r} cannot be read as text ({error}): a task file is YAML in UTF-8.") from error
    try:
        return msgspec.convert(yaml.load(text, loader), form)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {error}.") from error
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = 1 if mark is None else mark.line + 1
        problem = getattr(error, "problem", None) or str(error) or "nested too deeply"
        raise UsageError(f"{path}:{line}: this is not valid YAML ({problem}): expected keys and values.") from error


Part = Literal["train", "development", "confirmation"]
# To learn from; to tune on; to run once at the end.
PARTS: tuple[Part, ...] = get_args(Part)
BUILT_IN = {"conventions": "conventions", "plain": "plain", "multi-step": "multi_step"}
_FOLDER = Path(__file__).parent / "task_sets"
_ENDINGS = (".yaml", ".yml")
STEPS = 3  # requests to the model in a run, unless the task says otherwise
_CONDITIONS = ("called", "not_called", "file", "table", "answer", "expression")
Texts = str | tuple[str, ...]
_AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]


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
        return World(self.environment, tools=self.tools, files=self.files)

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


class Written(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mapping of a file. An unknown field is an error: it is probably a typo."""


class _WrittenValue(Written, frozen=True, kw_only=True):
    is_: Any = msgspec.field(name="is", default=msgspec.UNSET)
    like: str | None = None
    contains: Texts = ()
    one_of: tuple[Any, ...] | None = None


class _WrittenCheck(_WrittenValue, frozen=True, kw_only=True):
    called: str | None = None
    not_called: str | None = None
    file: str | None = None
    table: str | None = None
    answer: Any = None
    expression: str | None = None
    with_: dict[str, Any] = msgspec.field(name="with", default_factory=dict)
    where: dict[str, Any] = {}
    least: _AtLeastOne = 1


class _WrittenExpectation(Written, frozen=True, kw_only=True):
    error: str
    argument: str | None = None
    like: str | None = None
    one_of: Any = None
    known: Annotated[str, msgspec.Meta(pattern=r"^[^.]+\..+$")] | None = None  # a table and a column
    needs: str | None = None


class _WrittenRules(Written, frozen=True, kw_only=True):
    expects: tuple[_WrittenExpectation, ...] = ()
    rule: str = ""
    finds: str | None = None
    adds: str | None = None
    changes: str | None = None
    removes: str | None = None
    by: dict[str, str] = {}
    gives: Texts = ()
    reads: str | None = None
    writes: tuple[str, str] | None = None
    lists: bool = False
    sets: Texts = ()
    result: str | None = None


class _WrittenArgument(Written, frozen=True, kw_only=True):
    type: ArgumentType
    description: str = ""
    choices: tuple[Any, ...] = ()
    optional: bool = False


class _WrittenTool(_WrittenRules, frozen=True, kw_only=True):
    name: str
    description: str
    arguments: dict[str, ArgumentType | _WrittenArgument] = {}


class _WrittenTask(Written, frozen=True, kw_only=True):
    id: str
    prompt: str
    check: _WrittenCheck | tuple[_WrittenCheck, ...]
    part: Part = "confirmation"
    tools: Texts = ()
    files: dict[str, str] = {}
    tags: Texts = ()
    seed: int = 0
    steps: _AtLeastOne = STEPS


class _WrittenFile(Written, frozen=True, kw_only=True):
    environment: str
    tools: tuple[_WrittenTool, ...]
    tasks: tuple[_WrittenTask, ...]
    about: str = ""
    files: dict[str, str] = {}
    tables: dict[str, list[dict[str, Any]]] = {}


def texts(given: Texts) -> tuple[str, ...]:
    """A text alone counts as a list of one."""
    return (given,) if isinstance(given, str) else given


def choice(name: str, known: Collection[str], place: str) -> str:
    """The name; UsageError if it is not known."""
    if name not in known:
        raise UsageError(f"{place}: {name!r} is unknown: expected one of {', '.join(map(repr, known))}.")
    return name


def read_tasks(file: Path) -> list[Task]:
    """The tasks of one file; UsageError names the file and what is expected."""
    found = read_document(file, _WrittenFile)
    names = [tool.name for tool in found.tools]
    twice = [name for at, name in enumerate(names) if name in names[:at]]
    if twice:
        raise UsageError(f"{file}: the tool {twice[0]!r} is defined twice.")
    tools = {tool.name: _tool(tool, f"{file}: tool {tool.name!r}") for tool in found.tools}
    environment = Environment(
        name=found.environment,
        about=found.about,
        tools=tuple(tools.values()),
        files=found.files,
        tables=found.tables,
    )
    return [_task(task, environment, f"{file}: task {task.id!r}") for task in found.tasks]


def _task(given: _WrittenTask, environment: Environment, place: str) -> Task:
    names = [tool.name for tool in environment.tools]
    offered = tuple(choice(name, names, place) for name in texts(given.tools))
    conditions = given.check if isinstance(given.check, tuple) else (given.check,)
    if not conditions:
        raise UsageError(f"{place}: expected at least one condition under 'check'.")
    return Task(
        id=given.id,
        part=given.part,
        prompt=given.prompt,
        environment=environment,
        check=tuple(_condition(one, offered or names, place) for one in conditions),
        tools=offered,
        files=given.files,
        tags=texts(given.tags),
        seed=given.seed,
        steps=given.steps,
        place=place,
    )


def _condition(given: _WrittenCheck, offered: Sequence[str], place: str) -> Condition:
    named = {name: value for name in _CONDITIONS if (value := getattr(given, name)) is not None}
    if len(named) != 1:
        raise UsageError(f"{place}: a check has {len(named)} conditions: expected exactly one of {_CONDITIONS}.")
    kind, subject = next(iter(named.items()))
    if kind in ("called", "not_called"):
        choice(subject, offered, place)
    elif kind == "answer":
        named = {"answer": _wanted(subject, place)}
    elif kind == "expression":
        try:
            compile_expression(subject)
        except UsageError as error:
            raise UsageError(f"{place}: {error}: expected an expression over calls, files, tables.") from error
    value = _value(given, place)
    if value != ExpectedValue() and kind != "file":
        raise UsageError(f"{place}: a value stands beside {kind!r}: the value of an argument goes under 'with'.")
    arguments = given.with_ or given.where
    return Condition(
        place=place,
        arguments=tuple((name, _wanted(one, place)) for name, one in arguments.items()),
        least=given.least,
        value=None if value == ExpectedValue() else value,
        **named,
    )


def _wanted(given: Any, place: str) -> ExpectedValue:
    """A plain value means equality; a mapping says how else."""
    if not isinstance(given, dict):
        return ExpectedValue(is_=given)
    try:
        return _value(msgspec.convert(given, _WrittenValue), place)
    except msgspec.ValidationError as error:
        raise UsageError(f"{place}: {error}.") from error


def _value(given: _WrittenValue, place: str) -> ExpectedValue:
    return ExpectedValue(
        is_=given.is_, like=_pattern(given.like, place), contains=texts(given.contains), one_of=given.one_of
    )


def _pattern(text: str | None, place: str) -> str | None:
    """A regular expression that compiles."""
    try:
        re.compile(text or "")
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"{place}: {text!r} is not a regular expression ({error}).") from error
    return text


def _tool(given: _WrittenTool, place: str) -> EnvironmentTool:
    made = EnvironmentTool(
        name=given.name,
        description=given.description,
        arguments=tuple(
            Argument(name, one)
            if isinstance(one, str)
            else Argument(name, one.type, one.description, one.choices, one.optional)
            for name, one in given.arguments.items()
        ),
    )
    return _with_rules(made, given, place)


def _with_rules(tool: EnvironmentTool, given: _WrittenRules, place: str) -> EnvironmentTool:
    """The tool with these rules; without an action of theirs, it does what it did."""
    names = [one.name for one in tool.arguments]
    for name in (given.reads, *(given.writes or ()), *given.by, *(one.argument for one in given.expects)):
        if name is not None:
            choice(name, names, place)
    action = Action(
        **{name: getattr(given, name) for name in ("finds", "adds", "changes", "removes", "reads", "writes", "lists")},
        by=tuple(given.by.items()),
        gives=texts(given.gives),
        sets=texts(given.sets),
        result=given.result,
    )
    if (action.finds or action.changes or action.removes) and not action.by:
        raise UsageError(f"{place}: expected 'by' as well: an argument and the column it names.")
    expects = tuple(_expectation(one, place) for one in given.expects)
    return msgspec.structs.replace(
        tool, expects=expects, rule=given.rule, action=tool.action if action == Action() else action
    )


def _expectation(given: _WrittenExpectation, place: str) -> Expectation:
    if given.argument is None and given.needs is None:
        raise UsageError(f"{place}: an expectation needs 'argument' or 'needs'.")
    several = given.one_of if isinstance(given.one_of, list) else [given.one_of]
    table, _, column = (given.known or "").partition(".")
    return Expectation(
        error=given.error,
        argument=given.argument,
        like=_pattern(given.like, place),
        one_of=None if given.one_of is None else tuple(several),
        known=(table, column) if given.known else None,
        needs=given.needs,
    )


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
