"""A test over a table of cases as one test that names every case that fails."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]


def each_case(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Use it like `pytest.mark.parametrize`. All cases run in one test; each has its own `tmp_path`."""
    columns = (names,) if isinstance(names, str) else names
    table = list(cases)

    def decorate(test: Test) -> Test:
        def run(**fixtures: Any) -> None:
            problems = []
            for number, case in enumerate(table):
                values = dict(zip(columns, (case,) if len(columns) == 1 else case, strict=True))
                given = dict(fixtures)
                if "tmp_path" in given:
                    given["tmp_path"] = given["tmp_path"] / str(number)
                    given["tmp_path"].mkdir()
                try:
                    test(**values, **given)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 (every case is to be named)
                    problems.append(f"{repr(values)[:300]}: {type(error).__name__}: {error}")
            assert not problems, f"{len(problems)} of {len(table)} cases:\n" + "\n".join(problems)

        signature = inspect.signature(test)
        kept = [one for name, one in signature.parameters.items() if name not in columns]
        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        run.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return run

    return decorate
