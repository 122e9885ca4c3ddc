"""Invented histories that come with the package, for a first run on a machine that has none."""
