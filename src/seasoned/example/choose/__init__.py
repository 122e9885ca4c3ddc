"""Choose: which template and which examples suit a new session."""
