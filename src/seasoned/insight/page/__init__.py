"""The report as one page: opens offline, prints, and runs no text of a session."""

from seasoned.insight.page.sections import render

__all__ = ["render"]
