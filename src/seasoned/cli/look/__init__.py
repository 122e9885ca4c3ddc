"""Commands that look at sessions."""
