"""The commands of confirmations."""
