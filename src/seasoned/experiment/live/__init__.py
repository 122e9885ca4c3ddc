"""Experiments on real sessions: assignment, and results that stay valid however often they are checked."""
