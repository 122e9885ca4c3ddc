"""Experiments on real sessions: assignment, and results that are valid at every look."""
