"""What commands print for programs."""

from __future__ import annotations

from typing import Any

import pytest

from seasoned.cli.output import print_json, print_json_list

ITEMS = [{"a": 1, "text": "two\nlines", "in": {"x": [1, 2], "none": None}}, "ü", [], {}, [{"deep": []}]]


@pytest.mark.parametrize("items", [[], ITEMS[:1], ITEMS])
@pytest.mark.parametrize("after", [{}, {"passed_over": [], "more": [{"path": "/x"}]}])
def test_a_list_printed_item_by_item_is_printed_as_at_once(
    items: list[Any], after: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    before = {"count": len(items), "project": None}
    print_json("sessions", {**before, "sessions": items, **after})
    at_once = capsys.readouterr().out
    print_json_list("sessions", before, "sessions", iter(items), after)
    assert capsys.readouterr().out == at_once
