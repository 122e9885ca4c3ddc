"""Many cases of one rule in one test, which names every case that failed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from _pytest.outcomes import Failed


def check_each(cases: Iterable[Any], check: Callable[..., None]) -> None:
    """Run the check for every case, and fail with all cases that failed; a check of several arguments gets tuples."""
    takes_one = len(inspect.signature(check).parameters) == 1
    failed, count = [], 0
    for case in cases:
        given = getattr(case, "values", None) if type(case).__name__ == "ParameterSet" else None
        count += 1
        try:
            if given is not None:
                check(*given)
            elif takes_one:
                check(case)
            else:
                check(*case)
        except (Exception, Failed) as error:  # noqa: BLE001
            failed.append(f"{case!r}: {type(error).__name__}: {error}")
    assert count, "there are no cases"
    assert not failed, "\n".join(failed)
