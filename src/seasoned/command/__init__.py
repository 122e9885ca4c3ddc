"""What a shell command or tool call runs, and what it may cost."""
