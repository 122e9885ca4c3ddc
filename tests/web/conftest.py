"""One server for all tests of a file, where they do not mind each other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from seasoned.confirm.policy import ActionRule, Policy, RateRule
from tests.web.filled import fill_sessions
from tests.web.pages import Site, Visitor, site


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The pages of the sample histories."""
    home = tmp_path_factory.mktemp("home")
    fill_sessions(home)
    with site(home) as found:
        yield found


@pytest.fixture
def reader(filled: Site) -> Iterator[Visitor]:
    """Somebody who came by the link that only reads."""
    with filled.reader() as visitor:
        yield visitor


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    policy = Policy(rate=RateRule(count=1000), action={"transfer_funds": ActionRule(approvals=2)})
    with site(tmp_path_factory.mktemp("home"), policy=policy) as found:
        yield found
