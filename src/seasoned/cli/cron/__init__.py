"""The commands of the schedule."""
