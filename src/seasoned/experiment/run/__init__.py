"""Runs: which arm begins how, the runner, and what it keeps."""
