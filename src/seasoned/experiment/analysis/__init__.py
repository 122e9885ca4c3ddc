"""Finished runs in, effects with their intervals and what may be said of them out."""
