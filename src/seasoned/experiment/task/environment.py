"""The environments of tasks, tools defined by data that give the same answers to the same calls; and their checks."""

from __future__ import annotations

import ast
import copy
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from seasoned.errors import UsageError

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


class Argument(msgspec.Struct, frozen=True):
    """One argument of a tool."""

    name: str
    kind: ArgumentType = "string"
    description: str = ""
    choices: tuple[Any, ...] = ()
    is_optional: bool = False

    def schema(self) -> dict[str, Any]:
        found: dict[str, Any] = {"type": self.kind}
        if self.description:
            found["description"] = self.description
        if self.choices:
            found["enum"] = list(self.choices)
        return found

    def takes(self, value: object) -> bool:
        if isinstance(value, bool) and self.kind != "boolean":
            return False
        return isinstance(value, _TYPES[self.kind]) and (not self.choices or value in self.choices)


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """A condition for a call to work, and the error message if it is not met."""

    error: str
    argument: str | None = None
    like: str | None = None  # a regular expression that matches the whole value
    one_of: tuple[Any, ...] | None = None
    known: tuple[str, str] | None = None  # a table and a column that contain the value
    needs: str | None = None  # a state that an earlier call has set

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
        table, column = self.known
        return any(same(row.get(column), value) for row in world.tables.get(table, ()))


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """What a call does if all expectations hold; by default it only answers."""

    finds: str | None = None
    adds: str | None = None
    changes: str | None = None
    removes: str | None = None
    by: tuple[tuple[str, str], ...] = ()  # arguments, and the columns that they must equal
    gives: tuple[str, ...] = ()  # columns of the answer; by default all
    reads: str | None = None  # the argument that names a file
    writes: tuple[str, str] | None = None  # the arguments that name a file and hold its text
    lists: bool = False
    sets: tuple[str, ...] = ()
    result: str | None = None


class EnvironmentTool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool of an environment."""

    name: str
    description: str
    arguments: tuple[Argument, ...] = ()
    expects: tuple[Expectation, ...] = ()
    action: Action = Action()
    # What a session must know to use it, in one sentence; only some arms of an experiment show it.
    rule: str = ""

    def schema(self) -> dict[str, Any]:
        """What the tool takes, for a model."""
        return {
            "type": "object",
            "properties": {one.name: one.schema() for one in self.arguments},
            "required": [one.name for one in self.arguments if not one.is_optional],
            "additionalProperties": False,
        }

    def takes(self, arguments: Mapping[str, Any]) -> bool:
        """Whether arguments fit the schema."""
        known = {one.name: one for one in self.arguments}
        if any(name not in known or not known[name].takes(value) for name, value in arguments.items()):
            return False
        return all(one.is_optional or one.name in arguments for one in self.arguments)


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

    def __init__(
        self, environment: Environment, *, tools: Sequence[str] = (), files: Mapping[str, str] | None = None
    ) -> None:
        offered = [tool for tool in environment.tools if not tools or tool.name in tools]
        self.tools = {tool.name: tool for tool in offered}
        self.files: dict[str, str] = {**environment.files, **(files or {})}
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
        answer = self._act(tool.action, arguments)
        if answer["success"]:
            self.states.update(tool.action.sets)
        return answer

    def _act(self, action: Action, arguments: dict[str, Any]) -> Answer:
        if action.reads is not None or action.writes is not None or action.lists:
            return self._act_on_files(action, arguments)
        table = action.finds or action.changes or action.removes
        row: dict[str, Any] = dict(arguments)
        if table is not None:
            found = self._row(table, action, arguments)
            if found is None:
                return _failed(NOT_FOUND)
            row = found
            if action.changes is not None:
                row.update({key: value for key, value in arguments.items() if key not in dict(action.by)})
            elif action.removes is not None:
                self.tables[table].remove(row)
        elif action.adds is not None:
            rows = self.tables.setdefault(action.adds, [])
            row = {"number": len(rows) + 1, **arguments}
            rows.append(row)
        if action.result is not None:
            return _worked(fill(action.result, {**row, **arguments}))
        return _worked({name: row[name] for name in action.gives or row if name in row})

    def _act_on_files(self, action: Action, arguments: dict[str, Any]) -> Answer:
        if action.lists:
            return _worked(sorted(self.files))
        if action.reads is not None:
            path = str(arguments.get(action.reads))
            return _worked(self.files[path]) if path in self.files else _failed(NOT_FOUND)
        assert action.writes is not None
        path, text = (str(arguments.get(name, "")) for name in action.writes)
        self.files[path] = text
        return _worked(fill(action.result or "written", arguments))

    def _row(self, table: str, action: Action, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        for row in self.tables.get(table, ()):
            if all(same(row.get(column), arguments.get(name)) for name, column in action.by):
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


Outcome = Literal["passed", "failed", "broken"]
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": len,
    "any": any,
    "all": all,
    "sum": sum,
    "min": min,
    "max": max,
    "sorted": sorted,
    "int": int,
    "float": float,
    "str": str,
    "set": set,
    "abs": abs,
}
_NAMES = ("calls", "files", "tables", "answer")
_NODES = (
    *(ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Store, ast.Subscript, ast.Slice, ast.List, ast.Tuple),
    *(ast.Dict, ast.Set, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Add, ast.Sub, ast.Div, ast.Mod),
    *(ast.IfExp, ast.Call, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.comprehension),
    *(ast.boolop, ast.cmpop, ast.unaryop),
)
_MOST_CHARS = 400


class ExpectedValue(msgspec.Struct, frozen=True, kw_only=True):
    """What a value must be: equal, fitting an expression, holding some words, or one of several."""

    is_: Any = msgspec.UNSET
    like: str | None = None
    contains: tuple[str, ...] = ()
    one_of: tuple[Any, ...] | None = None

    def fits(self, value: object) -> bool:
        if self.is_ is not msgspec.UNSET and not same(self.is_, value):
            return False
        if self.like is not None and re.search(self.like, str(value)) is None:
            return False
        if any(words.casefold() not in str(value).casefold() for words in self.contains):
            return False
        return self.one_of is None or any(same(one, value) for one in self.one_of)


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that must hold at the end of a run. Exactly one of the first six is given."""

    place: str
    called: str | None = None
    not_called: str | None = None
    file: str | None = None
    table: str | None = None
    answer: ExpectedValue | None = None
    expression: str | None = None
    # Of the call that must have been made, or of the row that must be in the table.
    arguments: tuple[tuple[str, ExpectedValue], ...] = ()
    least: int = 1  # how many such calls or rows there must be
    value: ExpectedValue | None = None  # of the file's text


class EndState(msgspec.Struct, frozen=True):
    """The state at the end of a run, which a check is made on."""

    made: Sequence[MadeCall]
    files: Mapping[str, str]
    tables: Mapping[str, list[dict[str, Any]]]
    answer: str


class CheckResult(msgspec.Struct, frozen=True):
    """The outcome of a check, and the reason if it did not pass."""

    outcome: Outcome
    reason: str = ""


def check(conditions: Sequence[Condition], ended: EndState) -> CheckResult:
    """Check all conditions in order; the first that does not hold decides. One that raises makes the check broken."""
    for condition in conditions:
        try:
            reason = _missed(condition, ended)
        except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError, MemoryError) as error:
            message = f"{type(error).__name__}: {error}"[:_MOST_CHARS]
            return CheckResult("broken", f"{condition.place}: the check could not be made ({message})")
        if reason is not None:
            return CheckResult("failed", reason)
    return CheckResult("passed")


def _missed(condition: Condition, ended: EndState) -> str | None:
    """Why a condition does not hold; None if it does."""
    if condition.called is not None:
        worked = [one for one in ended.made if one.has_worked and one.tool == condition.called]
        found = sum(_fits(condition.arguments, one.arguments) for one in worked)
        return None if found >= condition.least else f"{condition.called} was not called as it should have been"
    if condition.not_called is not None:
        wrong = any(one.tool == condition.not_called for one in ended.made)
        return f"{condition.not_called} was called" if wrong else None
    if condition.file is not None:
        text = ended.files.get(condition.file)
        if text is None:
            return f"there is no file {condition.file!r}"
        fits = condition.value is None or condition.value.fits(text)
        return None if fits else f"the file {condition.file!r} has other contents"
    if condition.table is not None:
        found = sum(_fits(condition.arguments, row) for row in ended.tables.get(condition.table, ()))
        return None if found >= condition.least else f"{condition.table} has no such row"
    if condition.answer is not None:
        return None if condition.answer.fits(ended.answer) else "the answer is different"
    assert condition.expression is not None
    return None if evaluate(condition.expression, ended) else f"{condition.expression} does not hold"


def _fits(wanted: Sequence[tuple[str, ExpectedValue]], given: Mapping[str, Any]) -> bool:
    return all(name in given and value.fits(given[name]) for name, value in wanted)


def compile_expression(text: str) -> ast.Expression:
    """Parse an expression over calls, files, tables and answer; attributes, powers and other names are refused."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError) as error:
        raise UsageError(f"{text!r} is not a valid expression ({error})") from error
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        if not isinstance(node, _NODES):
            raise UsageError(f"{text!r} uses {type(node).__name__}, which is not allowed")
        if isinstance(node, ast.Name) and node.id not in (*_NAMES, *_FUNCTIONS, *bound):
            raise UsageError(f"{text!r} names {node.id!r}; known are {', '.join((*_NAMES, *_FUNCTIONS))}")
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS):
            raise UsageError(f"{text!r} calls a function that is not allowed")
    return tree


def evaluate(text: str, ended: EndState) -> bool:
    """Evaluate an expression on a run."""
    code = compile(compile_expression(text), "check", "eval")
    calls = [
        {"tool": one.tool, "arguments": one.arguments, "worked": one.has_worked, "result": one.answer.get("result")}
        for one in ended.made
    ]
    names: dict[str, Any] = {
        "calls": calls,
        "files": dict(ended.files),
        "tables": {name: list(rows) for name, rows in ended.tables.items()},
        "answer": ended.answer,
    }
    # Safe to evaluate: every node was checked, and without attributes only the names given here can be reached.
    return operator.truth(eval(code, {"__builtins__": {}, **_FUNCTIONS, **names}))
