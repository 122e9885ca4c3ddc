"""Every error that Seasoned raises on purpose. The message says what to do next.

SeasonedError
├── UsageError         the command or call was wrong (exit code 2)
├── NotFound           what was asked for is not there (exit code 1)
├── Denied             the caller may not do this, or not now (exit code 1)
│   ├── Unauthorised   no valid credential
│   ├── Refused        valid credential, but not allowed to do this
│   ├── Conflict       allowed, but the current state does not fit
│   └── TooMany        allowed, but too often in too short a time
└── CannotDo           it could not be done here (exit code 3)
    ├── SourceError    a history could not be opened or is not one
    └── StoreError     the store could not be opened or written
        ├── RuleBroken  a constraint of a table forbids the row
        └── Unsure      it is unknown whether a change was saved
"""

from __future__ import annotations


class SeasonedError(Exception):
    """Something went wrong that the user can act on."""

    exit_code = 3


class UsageError(SeasonedError):
    """The command or call was wrong; the message names the right one."""

    exit_code = 2


class NotFound(SeasonedError):
    """What was asked for does not exist; the message names similar things."""

    exit_code = 1


class CannotDo(SeasonedError):
    """A valid request that could not be done here; the message says why."""


class SourceError(CannotDo):
    """A history could not be opened, or is not one that Seasoned can read."""


class StoreError(CannotDo):
    """The store could not be opened or written."""


class RuleBroken(StoreError):
    """A constraint of a table forbids this row: a duplicate key, a check, a trigger."""


class Unsure(StoreError):
    """It is unknown whether a change was saved: check before repeating it."""


class Denied(SeasonedError):
    """The caller may not do this, or not now; nothing was changed."""

    exit_code = 1


class Unauthorised(Denied):
    """The request has no valid credential."""


class Refused(Denied):
    """The credential is valid, but does not allow this."""


class Conflict(Denied):
    """The request does not fit the current state, which is in `status`."""

    def __init__(self, message: str, *, status: str) -> None:
        super().__init__(message)
        self.status = status


class TooMany(Denied):
    """The rate limit is used up; `window_seconds` is its period."""

    def __init__(self, message: str, *, remaining: int, window_seconds: float) -> None:
        super().__init__(message)
        self.remaining = remaining
        self.window_seconds = window_seconds


# Names to import, not names of packages. All others come with `pip install seasoned`.
_EXTRA_OF = {
    "pydantic_ai": "agent",
    "xllamacpp": "local",
    "psycopg": "postgres",
    "pyarrow": "mine",
    "fsspec": "mine",
    "dask": "mine",
    "distributed": "mine",
    "duckdb": "mine",
}


def missing_sentence(module: str, what: str = "This") -> str:
    """What to install for a module that cannot be imported."""
    library = module.partition(".")[0]
    extra = f"[{_EXTRA_OF[library]}]" if library in _EXTRA_OF else ""
    return f"{what} needs {library}. Run: pip install 'seasoned{extra}'"


def require(what: str, library: str) -> None:
    """Raise if a library is missing, with the command that installs it."""
    from importlib.util import find_spec

    # Looked for without importing it, which may take a second.
    if find_spec(library) is None:
        raise CannotDo(missing_sentence(library, what))
