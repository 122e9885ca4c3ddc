"""Runs the confirmation service as another user of this machine: planned as commands, shown, run as root, undone."""
