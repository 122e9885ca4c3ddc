"""Starts a model for a prompt and records what it says and does."""
