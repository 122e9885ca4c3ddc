"""The plugin that Hermes loads: found by its entry point, enabled by `hermes plugins enable seasoned`."""

from __future__ import annotations

from typing import Any

from seasoned.hermes_plugin.confirmation import CallGate
from seasoned.hermes_plugin.host import HermesSettings

__all__ = ["CallGate", "HermesSettings", "register"]


def register(ctx: Any) -> None:
    """Called by Hermes once, when it loads its plugins. Where a part cannot be imported, calls are still guarded."""
    try:
        # Not at the top: after an upgrade that stopped half-way this may fail, and the gate must still be registered.
        import seasoned.hermes_plugin.plugin as parts
    except ImportError:
        gate = CallGate(wait_seconds=HermesSettings().wait_seconds)

        def before_call(tool_name: str = "", args: Any = None, session_id: str = "", **_: Any) -> Any:
            return gate.check(tool_name, args, session_id)

        ctx.register_hook("pre_tool_call", before_call)
        # Hermes keeps the hook, and tells its user what failed.
        raise
    parts.open_plugin().register(ctx)
