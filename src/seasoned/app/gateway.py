"""Builds the gateway from its settings and from what the command line overrides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from seasoned.config import Config, command_environment
from seasoned.gateway.settings import FILE, load_settings

if TYPE_CHECKING:
    from seasoned.gateway.service import GatewayService


def build_gateway(
    config: Config,
    *,
    settings_file: Path | None = None,
    upstream: str | None = None,
    keys: bool = False,
    record: bool = True,
    warm: bool = True,
) -> GatewayService:
    """The gateway of this configuration; `record` and `warm` can only switch off what the settings allow."""
    # Imported here: its libraries come with an extra.
    from seasoned.gateway.service import GatewayService

    settings = load_settings(settings_file or config.home / FILE, upstream_url=upstream)
    # Flags only restrict: `--keys` adds a check, --no-record and --no-warm take away. None can widen the settings.
    settings = msgspec.structs.replace(
        settings,
        mode="keys" if keys else settings.mode,
        record=settings.record and record,
        warm=settings.warm and warm,
    )
    return GatewayService(config, settings, environment=command_environment())
