"""Outcome: whether each tool call worked, how that is known, and the error rate."""
