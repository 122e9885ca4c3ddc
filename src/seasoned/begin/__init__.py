"""One way for a session to begin: which arm, which block or none, and what is kept of that."""
