"""The command `team`."""
