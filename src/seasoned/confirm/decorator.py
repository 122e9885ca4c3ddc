"""`@requires_confirmation(action)`: the function runs once a person has agreed to exactly these arguments."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Collection
from hashlib import sha256
from pathlib import PosixPath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any, ParamSpec, TypeVar, cast

from seasoned.confirm.client.sync import Changed, ConfirmClient, configured_client
from seasoned.confirm.request.light_canonical_json import written
from seasoned.errors import UsageError

_P = ParamSpec("_P")
_R = TypeVar("_R")
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

    It runs on a copy of the arguments, the one that was confirmed. Parameters in `leave_out` (such as `self`) are not
    shown to anybody and not protected, so nothing that decides what is done may be among them.
    """

    def wrap(function: Callable[_P, _R]) -> Callable[_P, _R]:
        call = _ConfirmedFunction(
            action=action,
            description=description or _first_line(function),
            client=client,
            leave_out=frozenset(leave_out),
            more={"label": label, "session_key": session_key, "timeout_seconds": timeout_seconds},
            signature=inspect.signature(function),
        )
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise UsageError(
                f"{function.__qualname__} is a generator, which runs later: confirm the function that uses it."
            )
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run_async(*args: _P.args, **kwargs: _P.kwargs) -> Any:
                from seasoned.confirm.client.asynchronous import in_thread

                held = call.hold(args, kwargs)
                service, details = call.service(), held.details()
                await in_thread(lambda line: service.confirm(action, call.description, details, line=line, **call.more))
                confirmed = held.confirmed(details)
                return await function(*confirmed.args, **confirmed.kwargs)

            return cast("Callable[_P, _R]", run_async)

        @functools.wraps(function)
        def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            held = call.hold(args, kwargs)
            details = held.details()
            call.service().confirm(action, call.description, details, **call.more)
            confirmed = held.confirmed(details)
            return function(*confirmed.args, **confirmed.kwargs)

        return run

    return wrap


class _ConfirmedFunction:
    """How the calls of one function are put to a person."""

    def __init__(
        self,
        *,
        action: str,
        description: str,
        client: ConfirmClient | None,
        leave_out: frozenset[str],
        more: dict[str, Any],
        signature: inspect.Signature,
    ) -> None:
        unknown = leave_out - signature.parameters.keys()
        if unknown:
            raise UsageError(f"leave_out names {sorted(unknown)[0]!r}, which is no parameter of the function.")
        self.action = action
        self.description = description
        self.more = more
        self._client = client
        self._leave_out = leave_out
        self._signature = signature

    def service(self) -> ConfirmClient:
        return self._client if self._client is not None else configured_client()

    def hold(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _HeldArguments:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return _HeldArguments(bound, self._leave_out)


class _HeldArguments:
    """The arguments of one call, and the copy that is confirmed and run."""

    def __init__(self, given: inspect.BoundArguments, leave_out: frozenset[str]) -> None:
        self._given = given
        self._leave_out = leave_out
        self._copy = {
            name: value if name in leave_out else copy.deepcopy(_checked(name, value))
            for name, value in given.arguments.items()
        }

    def details(self) -> dict[str, Any]:
        """What a person is shown."""
        return self._shown(self._copy)

    def confirmed(self, details: dict[str, Any]) -> inspect.BoundArguments:
        """The copy that was confirmed; an error where the caller's own arguments are no longer the same."""
        for values in (self._given.arguments, self._copy):
            if _digest(self._shown(values)) != _digest(details):
                raise Changed("The arguments were changed while a person was asked: nothing was done. Call it again.")
        return inspect.BoundArguments(self._given.signature, self._copy)

    def _shown(self, values: Any) -> dict[str, Any]:
        return {name: _plain(name, value) for name, value in values.items() if name not in self._leave_out}


def _digest(details: dict[str, Any]) -> str:
    return sha256(written(details)).hexdigest()


def _first_line(function: Callable[..., Any]) -> str:
    told = (inspect.getdoc(function) or "").partition("\n")[0]
    return f"{function.__qualname__}: {told}" if told else f"call {function.__module__}.{function.__qualname__}"


def _checked(name: str, value: Any) -> Any:
    _plain(name, value)
    return value


def _plain(name: str, value: Any) -> Any:
    """The value as JSON has it. Only plain types: what has behaviour of its own could show one thing and do another."""
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
        f"argument {name!r} is or holds a {kind.__name__}, which a person cannot be shown exactly: give texts, numbers,"
        " lists and dicts of texts, or leave the parameter out where it does not decide what is done."
    )
