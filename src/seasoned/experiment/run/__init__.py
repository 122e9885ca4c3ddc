"""Runs: what each arm is shown, the runner, and what it stores."""
