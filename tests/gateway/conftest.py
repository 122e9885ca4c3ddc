"""What tests of the gateway share: a home, a scripted upstream, and a gateway between it and a client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from seasoned.config import Config
from tests.gateway.running import Running, config_in, run_gateway, settings_for
from tests.gateway.upstream_server import Upstream, chat, serve_upstream


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return config_in(tmp_path)


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with serve_upstream(chat("Hello there.")) as served:
        yield served


@pytest.fixture
def gateway(config: Config, upstream: Upstream) -> Iterator[Running]:
    with run_gateway(config, settings_for(config, upstream.url)) as running:
        yield running
