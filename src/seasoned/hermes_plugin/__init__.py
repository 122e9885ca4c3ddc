"""A door for Hermes: found by its entry point, enabled by `hermes plugins enable seasoned`."""

from seasoned.hermes_plugin.door import register

__all__ = ["register"]
