"""Recall: what worked for a tool, and what repaired an error, looked up in the store."""
