"""What is kept: `review`, `memory`, `skill`, and the local model."""
