"""What a project's sessions have learned, and what a new session is told of it."""
