"""Reads histories into the store: only what is new or changed, with both cores, redacted and judged."""
