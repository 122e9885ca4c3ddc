"""What a project's sessions have learned, and what a new session sees of it."""
