"""Task files: what is asked, in which environment (tools defined by data), and how the outcome is checked."""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

import msgspec

from seasoned.errors import CannotDo, NotFound, UsageError

ArgumentType = Literal["string", "integer", "number", "boolean"]
Answer = dict[str, Any]
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
NOT_FOUND = "not found"
BAD_ARGUMENTS = "bad arguments"


class Written(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mapping of a task file. An unknown field is an error: it is probably a typo."""


def check_pattern(text: str | None) -> None:
    """ValueError if a text is not a regular expression; msgspec adds the place in the file."""
    try:
        re.compile(text or "")
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{text!r} is not a regular expression ({error})") from None


def check_known(name: str | None, known: Collection[str]) -> None:
    """ValueError if a name is given and not known."""
    if name is not None and name not in known:
        raise ValueError(f"{name!r} is unknown: expected one of {', '.join(map(repr, known))}")


class Argument(Written, frozen=True, kw_only=True):
    """One argument of a tool."""

    type: ArgumentType
    description: str = ""
    choices: tuple[Any, ...] = ()
    optional: bool = False

    def schema(self) -> dict[str, Any]:
        found: dict[str, Any] = {"type": self.type}
        if self.description:
            found["description"] = self.description
        if self.choices:
            found["enum"] = list(self.choices)
        return found

    def takes(self, value: object) -> bool:
        if isinstance(value, bool) and self.type != "boolean":
            return False
        return isinstance(value, _TYPES[self.type]) and (not self.choices or value in self.choices)


class Expectation(Written, frozen=True, kw_only=True):
    """A condition for a call to work, and the error message if it is not met."""

    error: str
    argument: str | None = None
    like: str | None = None  # a regular expression that matches the whole value
    one_of: tuple[Any, ...] | None = None
    known: Annotated[str, msgspec.Meta(pattern=r"^[^.]+\..+$")] | None = None  # a table and a column with the value
    needs: str | None = None  # a state that an earlier call has set

    def __post_init__(self) -> None:
        check_pattern(self.like)
        if self.argument is None and self.needs is None:
            raise ValueError("an expectation needs 'argument' or 'needs'")

    def holds(self, arguments: Mapping[str, Any], world: World) -> bool:
        if self.needs is not None and self.needs not in world.states:
            return False
        if self.argument is None or self.argument not in arguments:
            return True
        value = arguments[self.argument]
        if self.like is not None and re.fullmatch(self.like, str(value)) is None:
            return False
        if self.one_of is not None and value not in self.one_of:
            return False
        if self.known is None:
            return True
        table, _, column = self.known.partition(".")
        return any(same(row.get(column), value) for row in world.tables.get(table, ()))


class EnvironmentTool(Written, frozen=True, kw_only=True):
    """One tool of an environment, and what a call of it does if all expectations hold: by default it only answers."""

    name: str
    description: str
    arguments: dict[str, ArgumentType | Argument] = {}
    expects: tuple[Expectation, ...] = ()
    # What a session must know to use it, in one sentence; only some arms of an experiment show it.
    rule: str = ""
    # Tables
    finds: str | None = None
    adds: str | None = None
    changes: str | None = None
    removes: str | None = None
    by: dict[str, str] = {}  # arguments, and the columns that they must equal
    # Files: the argument with the path; those with the path and the text; whether all are listed
    reads: str | None = None
    writes: tuple[str, str] | None = None
    lists: bool = False
    sets: str | None = None  # a state that later calls may need
    result: str | None = None

    def __post_init__(self) -> None:
        named = (self.reads, *(self.writes or ()), *self.by, *(one.argument for one in self.expects))
        for name in named:
            check_known(name, self.arguments)
        if (self.finds or self.changes or self.removes) and not self.by:
            raise ValueError("expected 'by' as well: an argument and the column it names")

    @property
    def takes_by_name(self) -> dict[str, Argument]:
        """Its arguments; a type alone is an argument without more to say."""
        return {name: Argument(type=one) if isinstance(one, str) else one for name, one in self.arguments.items()}

    def schema(self) -> dict[str, Any]:
        """What the tool takes, for a model."""
        known = self.takes_by_name
        return {
            "type": "object",
            "properties": {name: one.schema() for name, one in known.items()},
            "required": [name for name, one in known.items() if not one.optional],
            "additionalProperties": False,
        }

    def takes(self, arguments: Mapping[str, Any]) -> bool:
        """Whether arguments fit the schema."""
        known = self.takes_by_name
        if any(name not in known or not known[name].takes(value) for name, value in arguments.items()):
            return False
        return all(one.optional or name in arguments for name, one in known.items())


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """Tools, files and tables that several tasks share."""

    name: str
    about: str
    tools: tuple[EnvironmentTool, ...]
    files: dict[str, str] = {}
    tables: dict[str, list[dict[str, Any]]] = {}


class MadeCall(msgspec.Struct, frozen=True):
    """One call that was made in a world."""

    tool: str
    arguments: dict[str, Any]
    answer: Answer
    is_valid: bool  # whether it named a tool that was offered, with arguments that it takes

    @property
    def has_worked(self) -> bool:
        return self.answer.get("success") is True


class World:
    """An environment during one run. The same calls in the same order always have the same answers."""

    def __init__(self, environment: Environment) -> None:
        self.tools = {tool.name: tool for tool in environment.tools}
        self.files: dict[str, str] = dict(environment.files)
        self.tables: dict[str, list[dict[str, Any]]] = copy.deepcopy(environment.tables)
        self.states: set[str] = set()
        self.made: list[MadeCall] = []

    def call(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """Make a call; it is kept, successful or not."""
        given = dict(arguments)
        tool = self.tools.get(name)
        is_valid = tool is not None and tool.takes(given)
        answer = self._answer(tool, given) if tool is not None and is_valid else _failed(BAD_ARGUMENTS)
        self.made.append(MadeCall(name, given, answer, is_valid))
        return answer

    def _answer(self, tool: EnvironmentTool, arguments: dict[str, Any]) -> Answer:
        for expected in tool.expects:
            if not expected.holds(arguments, self):
                return _failed(expected.error)
        is_about_files = tool.reads is not None or tool.writes is not None or tool.lists
        answer = self._act_on_files(tool, arguments) if is_about_files else self._act(tool, arguments)
        if answer["success"] and tool.sets is not None:
            self.states.add(tool.sets)
        return answer

    def _act(self, tool: EnvironmentTool, arguments: dict[str, Any]) -> Answer:
        table = tool.finds or tool.changes or tool.removes
        row: dict[str, Any] = dict(arguments)
        if table is not None:
            found = self._row(table, tool, arguments)
            if found is None:
                return _failed(NOT_FOUND)
            row = found
            if tool.changes is not None:
                row.update({key: value for key, value in arguments.items() if key not in tool.by})
            elif tool.removes is not None:
                self.tables[table].remove(row)
        elif tool.adds is not None:
            rows = self.tables.setdefault(tool.adds, [])
            row = {"number": len(rows) + 1, **arguments}
            rows.append(row)
        return _worked(dict(row) if tool.result is None else fill(tool.result, {**row, **arguments}))

    def _act_on_files(self, tool: EnvironmentTool, arguments: dict[str, Any]) -> Answer:
        if tool.lists:
            return _worked(sorted(self.files))
        if tool.reads is not None:
            path = str(arguments.get(tool.reads))
            return _worked(self.files[path]) if path in self.files else _failed(NOT_FOUND)
        assert tool.writes is not None
        path, text = (str(arguments.get(name, "")) for name in tool.writes)
        self.files[path] = text
        return _worked(fill(tool.result or "written", arguments))

    def _row(self, table: str, tool: EnvironmentTool, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        for row in self.tables.get(table, ()):
            if all(same(row.get(column), arguments.get(name)) for name, column in tool.by.items()):
                return row
        return None


def same(one: object, other: object) -> bool:
    """Equal, but True is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def fill(text: str, values: Mapping[str, Any]) -> str:
    """A text with `{name}` replaced by values; nothing but names is replaced."""
    return _PLACEHOLDER.sub(lambda gap: str(values.get(gap[1], gap[0])), text)


def _worked(result: object) -> Answer:
    return {"success": True, "result": result}


def _failed(error: str) -> Answer:
    return {"success": False, "error": error}


class ValueCheck(Written, frozen=True, kw_only=True):
    """How a value is checked where it need not be equal: by an expression, by words in it, or by a list of values."""

    like: str | None = None
    contains: str | None = None
    one_of: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        check_pattern(self.like)

    def fits(self, value: object) -> bool:
        if self.like is not None and re.search(self.like, str(value)) is None:
            return False
        if self.contains is not None and self.contains.casefold() not in str(value).casefold():
            return False
        return self.one_of is None or any(same(one, value) for one in self.one_of)


# A plain value must be equal.
Wanted = str | int | float | bool | None | ValueCheck


def _fits(wanted: Wanted, value: object) -> bool:
    return wanted.fits(value) if isinstance(wanted, ValueCheck) else same(wanted, value)


class Condition(Written, frozen=True, kw_only=True):
    """One thing that must hold at the end of a run."""

    called: str | None = None  # a call of this tool was made and worked, with these arguments
    with_: dict[str, Wanted] = msgspec.field(name="with", default_factory=dict)
    not_called: str | None = None
    file: str | None = None  # it is there, and its text is this
    text: Wanted | msgspec.UnsetType = msgspec.UNSET
    table: str | None = None  # it has a row with these columns
    where: dict[str, Wanted] = {}
    answer: Wanted = None  # the last words of the agent

    def __post_init__(self) -> None:
        given = [one for one in (self.called, self.not_called, self.file, self.table, self.answer) if one is not None]
        if len(given) != 1:
            raise ValueError("expected exactly one of 'called', 'not_called', 'file', 'table' and 'answer'")

    def missed(self, ended: EndState) -> str | None:
        """Why it does not hold; None if it does."""
        if self.called is not None:
            worked = [one.arguments for one in ended.made if one.has_worked and one.tool == self.called]
            is_met = any(_all_fit(self.with_, arguments) for arguments in worked)
            return None if is_met else f"{self.called} was not called as it should have been"
        if self.not_called is not None:
            return f"{self.not_called} was called" if any(one.tool == self.not_called for one in ended.made) else None
        if self.file is not None:
            if self.file not in ended.files:
                return f"there is no file {self.file!r}"
            is_met = self.text is msgspec.UNSET or _fits(self.text, ended.files[self.file])
            return None if is_met else f"the file {self.file!r} has other contents"
        if self.table is not None:
            is_met = any(_all_fit(self.where, row) for row in ended.tables.get(self.table, ()))
            return None if is_met else f"{self.table} has no such row"
        return None if _fits(self.answer, ended.answer) else "the answer is different"


def _all_fit(wanted: Mapping[str, Wanted], given: Mapping[str, Any]) -> bool:
    return all(name in given and _fits(value, given[name]) for name, value in wanted.items())


class EndState(msgspec.Struct, frozen=True):
    """The state at the end of a run, which a check is made on."""

    made: Sequence[MadeCall]
    files: Mapping[str, str]
    tables: Mapping[str, list[dict[str, Any]]]
    answer: str


def check(conditions: Sequence[Condition], ended: EndState) -> str | None:
    """Why a task was not done: the first condition that does not hold decides. None if it was done."""
    return next((reason for one in conditions if (reason := one.missed(ended)) is not None), None)


# The core schema of YAML 1.2: in YAML 1.1 `no` would be False, and a date an object.
_SCALARS = (
    ("null", r"(?:~|null|)\Z", "~n\0"),
    ("bool", r"(?:true|false)\Z", "tf"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)\Z", "-+0123456789"),
    ("float", r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z", "-+0123456789"),
)


@cache
def _loader() -> Any:
    try:
        import yaml
    except ImportError:
        raise CannotDo("Task files need PyYAML. Run: pip install seasoned") from None

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


Part = Literal["train", "development", "confirmation"]
# To learn from; to tune on; to run once at the end.
PARTS: tuple[Part, ...] = get_args(Part)
BUILT_IN = {"conventions": "conventions", "plain": "plain", "multi-step": "multi_step"}
_FOLDER = Path(__file__).parent / "task_sets"
_ENDINGS = (".yaml", ".yml")
STEPS = 3  # requests to the model in a run, unless the task says otherwise


class WrittenTask(Written, frozen=True, kw_only=True):
    """A task as its file has it."""

    id: str
    prompt: str
    check: Condition | Annotated[tuple[Condition, ...], msgspec.Meta(min_length=1)]
    part: Part = "confirmation"
    tags: tuple[str, ...] = ()
    steps: Annotated[int, msgspec.Meta(ge=1)] = STEPS


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to do, with the check that says whether it was done."""

    id: str
    part: Part
    prompt: str
    environment: Environment
    check: tuple[Condition, ...]
    tags: tuple[str, ...] = ()
    steps: int = STEPS
    place: str = ""

    def world(self) -> World:
        """The environment as it is when the task begins."""
        return World(self.environment)

    def rules(self) -> tuple[str, ...]:
        """The rules of the tools that the check asks for, one sentence each."""
        asked = {one.called for one in self.check if one.called is not None}
        return tuple(tool.rule for tool in self.environment.tools if tool.rule and tool.name in asked)


class TaskFile(Written, frozen=True, kw_only=True):
    """A task file: an environment, and the tasks in it."""

    environment: str
    tools: tuple[EnvironmentTool, ...]
    tasks: tuple[WrittenTask, ...]
    about: str = ""
    files: dict[str, str] = msgspec.field(default_factory=dict)
    tables: dict[str, list[dict[str, Any]]] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [tool.name for tool in self.tools]
        if len(set(names)) < len(names):
            raise ValueError(f"two tools have the same name: {names!r}")
        for task in self.tasks:
            for one in _conditions(task):
                check_known(one.called, names)
                check_known(one.not_called, names)


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
    whole = blake2b(digest_size=8)
    for file in files:
        whole.update(file.read_bytes())
        for task in read_tasks(file):
            if task.id in seen:
                raise UsageError(f"{task.place}: the id {task.id!r} is already used at {seen[task.id]}.")
            seen[task.id] = task.place
            tasks.append(task)
    found = TaskSet(text if text in BUILT_IN else path.stem, tuple(tasks), whole.hexdigest())
    _refuse_shared_wording(found)
    return found


def read_tasks(file: Path) -> list[Task]:
    """The tasks of one file; UsageError names the file and what is expected."""
    found = _read(file)
    environment = Environment(
        name=found.environment, about=found.about, tools=found.tools, files=found.files, tables=found.tables
    )
    return [
        Task(
            id=task.id,
            part=task.part,
            prompt=task.prompt,
            environment=environment,
            check=_conditions(task),
            tags=task.tags,
            steps=task.steps,
            place=f"{file}: task {task.id!r}",
        )
        for task in found.tasks
    ]


def _conditions(task: WrittenTask) -> tuple[Condition, ...]:
    return (task.check,) if isinstance(task.check, Condition) else task.check


def _read(path: Path) -> TaskFile:
    loader = _loader()
    import yaml

    try:
        return msgspec.convert(yaml.load(path.read_text("utf-8"), loader), TaskFile)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{str(path)!r} cannot be read as text ({error}): a task file is YAML in UTF-8.") from error
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {error}.") from error
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = 1 if mark is None else mark.line + 1
        problem = getattr(error, "problem", None) or str(error) or "nested too deeply"
        raise UsageError(f"{path}:{line}: this is not valid YAML ({problem}): expected keys and values.") from error


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
