"""Values are written in shapes: what differs from call to call is masked."""

from __future__ import annotations

from seasoned.lesson.failure.call_target import value_shape
from tests.each_case import each_case


@each_case(
    ("value", "shape"),
    [
        ("4ce84f4e-af33-43fe-a749-cfe9c112f7ed", "uuid"),
        ("2026-01-31", "day"),
        ("2026-01-31T10:00:00Z", "time"),
        ("2026-W11", "0-A0"),
        ("https://example.org", "url"),
        ("ws/notes.txt", "ws/path"),
        ("/home/me/notes.txt", "/path"),
        ("open", "word"),
        ("two words", "words"),
        (7, "number"),
        (True, "switch"),
        ([1, "a"], "[number|word]"),
        ({"b": 1, "a": 2}, "{a,b}"),
    ],
)
def test_a_value_has_the_shape_in_which_it_is_written(value: object, shape: str) -> None:
    assert value_shape(value) == shape
