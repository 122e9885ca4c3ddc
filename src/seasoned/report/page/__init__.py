"""The report as one HTML page that opens offline and never runs text from a session."""

from seasoned.report.page.sections import render

__all__ = ["render"]
