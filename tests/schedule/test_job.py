"""A job is checked when it is made: every wrong field is refused with one clear sentence."""

from __future__ import annotations

from typing import Any

import pytest

from seasoned.errors import UsageError
from seasoned.schedule.job import Slot, check_job
from tests.each_case import each_case
from tests.schedule.made import job


def test_a_right_job_is_left_as_it_is() -> None:
    one = job(script="gate.sh", skills=("a",), delivery=("stdout", "file:/tmp/x", "telegram"))
    assert check_job(one) is one


@each_case(
    ("fields", "words"),
    [
        ({"name": ""}, "a job name has"),
        ({"name": "a\nb"}, "a job name has"),
        ({"name": "x" * 81}, "a job name has"),
        ({"id": "../up"}, "a job id may contain"),
        ({"prompt": " "}, "nothing to do"),
        ({"prompt": "a\0b"}, "cannot be stored"),
        ({"prompt": "half \ud800"}, "cannot be stored"),
        ({"delivery": ("carrier-pigeon",)}, "is not a valid delivery"),
        ({"delivery": ("stdout:x",)}, "Write 'stdout' only"),
        ({"delivery": ("file",)}, "needs an address"),
        ({"repeat": 0}, "repeat of the job 'one' must be between 1"),
        ({"timeout_seconds": 0}, "timeout_seconds of the job"),
        ({"timeout_seconds": float("nan")}, "timeout_seconds of the job"),
    ],
)
def test_a_wrong_field_is_refused_with_a_sentence_that_names_it(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_job(job(**fields))
    assert words in str(refused.value)
    assert str(refused.value).endswith(".") and "\n" not in str(refused.value)


def test_the_session_of_a_run_is_named_by_job_and_time() -> None:
    assert Slot("ab", 1_800_000_000.0).session_id == "cron_ab_1800000000"
    assert Slot("ab", 1_800_000_000.25).session_id == "cron_ab_1800000000_250"
