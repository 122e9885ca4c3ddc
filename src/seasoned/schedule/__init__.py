"""Agents that run by themselves: jobs, a clock that several schedulers share, runs with a history."""
