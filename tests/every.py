"""One test for many cases: all of them run, and a failure names each case that failed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest


def every(
    names: str | Sequence[str], cases: Iterable[Any], *, ids: object = None
) -> Callable[..., Callable[..., None]]:
    """Used like `pytest.mark.parametrize`, for cases that share their fixtures and leave nothing behind."""
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    every_case = [case if len(wanted) > 1 else (case,) for case in cases]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @wraps(test)
        def run_all(**fixtures: Any) -> None:
            problems = []
            for case in every_case:
                try:
                    test(**fixtures, **dict(zip(wanted, case, strict=True)))
                except (AssertionError, pytest.fail.Exception) as error:
                    problems.append(f"{case!r}: {error}")
                except Exception as error:
                    error.add_note(f"in the case {case!r}")
                    raise
            assert not problems, f"{len(problems)} of {len(every_case)} cases failed:\n" + "\n".join(problems)

        # pytest asks the signature which fixtures are needed.
        left = [one for name, one in signature.parameters.items() if name not in wanted]
        del run_all.__wrapped__  # type: ignore[attr-defined]
        run_all.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run_all

    return decorate
