"""Many cases of one rule as one test, which runs all of them and names every case that fails."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., None]

# What a case may raise. `pytest.fail` and `pytest.raises` raise something that is not an `Exception`.
_FAILURES = (Exception, pytest.fail.Exception)


def each_case(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Use it like `pytest.mark.parametrize`. Each case has its own `tmp_path`; other fixtures are shared."""
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = list(cases)

    def decorate(test: Test) -> Test:
        def run(**fixtures: Any) -> None:
            def check(number: int, case: Any) -> None:
                given = dict(fixtures)
                if "tmp_path" in given:
                    given["tmp_path"] = given["tmp_path"] / str(number)
                    given["tmp_path"].mkdir()
                values = _values(case) or (case if len(columns) > 1 else (case,))
                test(**dict(zip(columns, values, strict=True)), **given)

            _run_all(table, check)

        # pytest reads the fixtures from the signature. `functools.wraps` would also copy what marks a test
        # of hypothesis, and its plugin would then take this function for one.
        signature = inspect.signature(test)
        fixtures = [one for name, one in signature.parameters.items() if name not in columns]
        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        run.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        run.pytestmark = list(getattr(test, "pytestmark", ()))  # type: ignore[attr-defined]
        return run

    return decorate


def check_each(cases: Iterable[Any], check: Callable[..., None]) -> None:
    """Run a check for every case, inside a test that prepared something; several arguments come as tuples."""
    takes_one = len(inspect.signature(check).parameters) == 1
    _run_all(list(cases), lambda _, case: check(*(_values(case) or ((case,) if takes_one else case))))


def _run_all(cases: list[Any], run: Callable[[int, Any], None]) -> None:
    # A table that came out empty would pass without having tested anything.
    assert cases, "there are no cases"
    problems = []
    for number, case in enumerate(cases):
        try:
            run(number, case)
        except _FAILURES as error:
            problems.append(f"{repr(case)[:300]}: {type(error).__name__}: {error}")
    assert not problems, f"{len(problems)} of {len(cases)} cases failed:\n" + "\n".join(problems)


def _values(case: Any) -> tuple[Any, ...] | None:
    """The values of a `pytest.param`, whose id then names the case; None for any other case."""
    return tuple(case.values) if isinstance(case, type(pytest.param())) else None
