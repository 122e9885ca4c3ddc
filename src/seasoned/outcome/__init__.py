"""Outcome: whether each tool call worked, how that is known, and how often it is not so."""
