"""Reads histories into the store: only what is new or changed, with both cores, redacted and judged."""

from seasoned.scan.scan import Report, Target, scan

__all__ = ["Report", "Target", "scan"]
