"""Task files: what is asked, in which environment, and how the outcome is checked."""

from __future__ import annotations

import re
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

import msgspec

from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.experiment.task.environment import Condition, Environment, EnvironmentTool, World, Written, check_known

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
