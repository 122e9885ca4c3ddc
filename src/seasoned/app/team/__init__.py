"""The team, as commands and background processes use it."""
