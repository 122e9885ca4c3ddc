"""Experiments: whether a warm start helps, offline on tasks with checks and online on sessions assigned by chance."""
