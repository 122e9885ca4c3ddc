"""Reads histories into the store: only what is new or changed, using all cores, redacted and judged."""
