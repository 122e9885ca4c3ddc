"""What the tests of the structure share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.structure.source_tree import modules


@pytest.fixture(autouse=True, scope="package")
def _let_go_of_the_trees() -> Iterator[None]:
    """The trees of all files take half a gigabyte, and every test after these would be slower by it."""
    yield
    modules.cache_clear()
