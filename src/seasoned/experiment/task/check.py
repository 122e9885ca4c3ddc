"""Checks of tasks: what was called, what files and tables hold, what was answered. A check that raises is broken."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from seasoned.errors import UsageError
from seasoned.experiment.task.environment import MadeCall, same

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
