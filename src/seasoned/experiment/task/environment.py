"""The environments of tasks: tools defined by data that give the same answers to the same calls."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

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
    like: str | None = None  # A regular expression that the whole value fits
    one_of: tuple[Any, ...] | None = None
    known: tuple[str, str] | None = None  # A table and a column in which the value stands
    needs: str | None = None  # A state that an earlier call has set

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
    # What a session must know to use it, in one sentence; only an experiment's own arms tell it.
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
    # Tools whose rules were other ones once: what was learned then is stale now.
    former: tuple[EnvironmentTool, ...] = ()
    files: dict[str, str] = {}
    tables: dict[str, list[dict[str, Any]]] = {}

    def as_formerly(self) -> Environment:
        """The environment with its former rules."""
        before = {tool.name: tool for tool in self.former}
        return msgspec.structs.replace(self, tools=tuple(before.get(tool.name, tool) for tool in self.tools))


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
