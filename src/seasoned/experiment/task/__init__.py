"""Tasks: what is asked, in which environment, and how the outcome is checked."""
