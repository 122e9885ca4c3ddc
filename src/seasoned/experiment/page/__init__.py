"""Analyses of experiments as one page: opens offline, and runs no text of a task or a session."""

from seasoned.experiment.page.page import render

__all__ = ["render"]
