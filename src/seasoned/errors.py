"""Every error that Seasoned raises on purpose. The message says what to do next.

SeasonedError
├── UsageError         the command or call was wrong (exit code 2)
├── NotFound           what was asked for is not there (exit code 1)
└── CannotDo           right question, but it could not be done here (exit code 3)
    ├── SourceError    a history could not be opened or is not one
    └── StoreError     the store could not be opened or written
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
