"""Readers of agents that live in an editor."""
