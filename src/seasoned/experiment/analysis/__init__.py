"""Turns finished runs into effects with intervals, and into sentences that the data supports."""
