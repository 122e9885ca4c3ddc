"""What a tool returns: fields as JSON knows them. `error` is None where it worked, else what to do instead."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, get_type_hints

from seasoned.agent.toolset.reach import Reach
from seasoned.errors import SeasonedError

Answer = dict[str, Any]
Arguments = ParamSpec("Arguments")
Tool = Callable[Concatenate[Reach, Arguments], Answer]
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[PX^_][^\x1b]{0,2000}\x1b\\|[@-Z\\-_])"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def tool(**empty: Any) -> Callable[[Tool[Arguments]], Tool[Arguments]]:
    """Makes a function answer with `error`, beside these fields, where it raises one that is no mistake of ours."""

    def decorate(function: Tool[Arguments]) -> Tool[Arguments]:
        @functools.wraps(function)
        def answering(reach: Reach, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
            try:
                return function(reach, *args, **kwargs)
            except SeasonedError as error:
                return {**empty, "error": str(error)}
            except OSError as error:
                return {**empty, "error": f"The system did not allow it: {error.strerror or error}; try again later."}

        return answering

    return decorate


def bind(function: Tool[Arguments], reach: Reach) -> Callable[Arguments, Answer]:
    """The tool as the model knows it: without its first argument, with its types in place and its description."""

    @functools.wraps(function)
    def bound(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        return function(reach, *args, **kwargs)

    signature = inspect.signature(function)
    hints = get_type_hints(inspect.unwrap(function))
    first, *rest = [
        each.replace(annotation=hints.get(each.name, each.annotation)) for each in signature.parameters.values()
    ]
    bound.__annotations__ = {name: hint for name, hint in hints.items() if name != first.name}
    bound.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=rest, return_annotation=hints.get("return", Any)
    )
    del bound.__wrapped__
    return bound


def plain(text: str) -> str:
    """What was printed for a terminal, without what would steer one."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text).replace("\r\n", "\n"))
