"""Agent: run a conversation, and learn from it."""
