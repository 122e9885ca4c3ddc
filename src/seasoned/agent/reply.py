"""What a write answers: whether it was kept, and a sentence that a person or a model can act on."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Literal, ParamSpec

import msgspec

from seasoned.errors import NotFound, UsageError

Kept = Literal["kept", "staged", "unchanged", "refused"]
Arguments = ParamSpec("Arguments")


class Reply(msgspec.Struct, frozen=True):
    """`kept` and `staged` are writes; `unchanged` had nothing to do, `refused` did nothing."""

    state: Kept
    said: str
    change: int | None = None
    """The id of the change, by which it is undone, accepted or rejected."""

    @property
    def ok(self) -> bool:
        return self.state != "refused"

    @property
    def is_write(self) -> bool:
        return self.state in ("kept", "staged")


def replies(write: Callable[Arguments, Reply]) -> Callable[Arguments, Reply]:
    """Wrong use becomes a reply that says what to do: a model reads it as the result of its call."""

    @wraps(write)
    def answer(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Reply:
        try:
            return write(*args, **kwargs)
        except (UsageError, NotFound) as error:
            return Reply("refused", str(error))

    return answer
