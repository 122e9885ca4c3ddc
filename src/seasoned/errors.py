"""Every error that Seasoned raises on purpose. The message says what to do next.

SeasonedError
├── UsageError         the command or call was wrong (exit code 2)
├── NotFound           what was asked for is not there (exit code 1)
├── Denied             somebody who asks has no right to it, or not now (exit code 1)
│   ├── Unauthorised   nobody knows who asks
│   ├── Refused        known, but not allowed to do this
│   ├── Conflict       allowed, but the thing is no longer in the state for it
│   └── TooMany        allowed, but too often in too short a time
└── CannotDo           right question, but it could not be done here (exit code 3)
    ├── SourceError    a history could not be opened or is not one
    └── StoreError     the store could not be opened or written
        └── RuleBroken  a table has a rule that forbids the row
"""

from __future__ import annotations


class SeasonedError(Exception):
    """Something went wrong that the user can act on."""

    exit_code = 3


class UsageError(SeasonedError):
    """The command or call was wrong; the message names the right one."""

    exit_code = 2


class NotFound(SeasonedError):
    """What was asked for does not exist; the message names what is near."""

    exit_code = 1


class CannotDo(SeasonedError):
    """The question is right, but it could not be done here; the message says why."""


class SourceError(CannotDo):
    """A history could not be opened, or is none that Seasoned can read."""


class StoreError(CannotDo):
    """The store could not be opened or written."""


class RuleBroken(StoreError):
    """A table has a rule that forbids this row: a key that is taken, a check, a guard."""


class Unsure(StoreError):
    """Whether a change was kept is not known: whoever made it looks before it is repeated."""


class Denied(SeasonedError):
    """Somebody who asks has no right to it, or not now; nothing was changed."""

    exit_code = 1


class Unauthorised(Denied):
    """No valid credential came with the question."""


class Refused(Denied):
    """The credential is valid, but does not allow this."""


class Conflict(Denied):
    """What was asked for no longer fits the state that is there; `status` is that state."""

    def __init__(self, message: str, *, status: str) -> None:
        super().__init__(message)
        self.status = status


class TooMany(Denied):
    """The limit for this is used up; `window_seconds` is the time over which it counts."""

    def __init__(self, message: str, *, remaining: int, window_seconds: float) -> None:
        super().__init__(message)
        self.remaining = remaining
        self.window_seconds = window_seconds
