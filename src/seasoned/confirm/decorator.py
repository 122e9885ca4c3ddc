"""`@requires_confirmation(action)`: the function runs only after a person approved exactly these arguments."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Collection
from pathlib import PosixPath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any, ParamSpec, TypeVar, cast

from seasoned.confirm.client import CancellableCall, Changed, ConfirmClient, configured_client, in_thread
from seasoned.confirm.request.request import canonical
from seasoned.errors import UsageError

_P = ParamSpec("_P")
_R = TypeVar("_R")
# Exactly these types: a subclass can have other behaviour.
_PLAIN = (str, int, float, bool, type(None))
_PATHS = (PosixPath, WindowsPath, PurePosixPath, PureWindowsPath)


def requires_confirmation(
    action: str,
    *,
    description: str | None = None,
    client: ConfirmClient | None = None,
    leave_out: Collection[str] = (),
    label: str = "",
    session_key: str = "",
    timeout_seconds: float | None = None,
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Ask a person before the function runs, with its arguments as the details; without a grant it raises instead.

    The function runs on a copy of the arguments, the one that was confirmed. Parameters in `leave_out` (such as
    `self`) are neither shown nor protected, so nothing that decides what is done may be among them.
    """

    def wrap(function: Callable[_P, _R]) -> Callable[_P, _R]:
        signature = inspect.signature(function)
        if unknown := set(leave_out) - signature.parameters.keys():
            raise UsageError(f"leave_out names {sorted(unknown)[0]!r}, which is not a parameter of the function.")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise UsageError(
                f"{function.__qualname__} is a generator, which runs later: confirm the function that uses it."
            )

        def ask(details: dict[str, Any], call: CancellableCall | None = None) -> None:
            (client or configured_client()).confirm(
                action,
                description or _first_line(function),
                details,
                label=label,
                session_key=session_key,
                timeout_seconds=timeout_seconds,
                call=call,
            )

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run_async(*args: _P.args, **kwargs: _P.kwargs) -> Any:
                held = _HeldArguments(signature.bind(*args, **kwargs), leave_out)
                await in_thread(lambda call: ask(held.details, call))
                confirmed = held.confirmed()
                return await function(*confirmed.args, **confirmed.kwargs)

            return cast("Callable[_P, _R]", run_async)

        @functools.wraps(function)
        def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            held = _HeldArguments(signature.bind(*args, **kwargs), leave_out)
            ask(held.details)
            confirmed = held.confirmed()
            return function(*confirmed.args, **confirmed.kwargs)

        return run

    return wrap


class _HeldArguments:
    """The arguments of one call, the copy that the function runs on, and the details that a person is shown."""

    def __init__(self, given: inspect.BoundArguments, leave_out: Collection[str]) -> None:
        given.apply_defaults()
        self._given = given
        self._leave_out = leave_out
        # Checked before they are copied: copying an object with custom behaviour could run anything.
        self._shown(given.arguments)
        self._copy = {
            name: value if name in leave_out else copy.deepcopy(value) for name, value in given.arguments.items()
        }
        self.details = self._shown(self._copy)

    def confirmed(self) -> inspect.BoundArguments:
        """The copy that was confirmed; Changed if the caller's arguments are no longer the same."""
        # Another thread could have changed either while the person decided.
        for values in (self._given.arguments, self._copy):
            if _bytes(self._shown(values)) != _bytes(self.details):
                raise Changed("The arguments changed while a person was asked: nothing was done. Call it again.")
        return inspect.BoundArguments(self._given.signature, self._copy)

    def _shown(self, values: Any) -> dict[str, Any]:
        return {name: _plain(name, value) for name, value in values.items() if name not in self._leave_out}


def _bytes(details: dict[str, Any]) -> bytes:
    return canonical(details, field="arguments")


def _first_line(function: Callable[..., Any]) -> str:
    summary = (inspect.getdoc(function) or "").partition("\n")[0]
    return f"{function.__qualname__}: {summary}" if summary else f"call {function.__module__}.{function.__qualname__}"


def _plain(name: str, value: Any) -> Any:
    """The value as JSON has it. Only plain types: an object with behaviour could show one thing and do another."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind in _PATHS:
        return str(value)
    if kind in (list, tuple):
        return [_plain(name, each) for each in value]
    if kind is dict and all(type(key) is str for key in value):
        return {key: _plain(name, each) for key, each in value.items()}
    raise UsageError(
        f"argument {name!r} is or contains a {kind.__name__}, which cannot be shown exactly to a person: use strings,"
        " numbers, lists and dicts of them, or list the parameter in leave_out if it does not decide what is done."
    )
